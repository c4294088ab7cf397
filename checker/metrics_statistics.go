package checker

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Proportion is how many of how many, with the 95 % interval of Wilson's score for the rate behind it (Wilson 1927,
// "Probable inference, the law of succession, and statistical inference"). Unlike the usual interval it is good for few
// trials, and for a rate of 0 or 1.
type Proportion struct {
	Count  int     `json:"count"`
	Of     int     `json:"of"` // more than 0
	Rate   float64 `json:"rate"`
	Low95  float64 `json:"rate_low_95"`
	High95 float64 `json:"rate_high_95"`
}

// z95 is the 97.5 % quantile of the normal distribution.
const z95 = 1.959963984540054

// proportion is nil of nothing.
func proportion(count, of int) *Proportion {
	if of == 0 {
		return nil
	}
	n, rate := float64(of), float64(count)/float64(of)
	shrink := 1 + z95*z95/n
	middle := (rate + z95*z95/(2*n)) / shrink
	half := z95 / shrink * math.Sqrt(rate*(1-rate)/n+z95*z95/(4*n*n))
	p := &Proportion{Count: count, Of: of, Rate: rate, Low95: sixDigits(middle - half), High95: sixDigits(middle + half)}
	if count == 0 {
		p.Low95 = 0
	}
	if count == of {
		p.High95 = 1
	}
	return p
}

// sixDigits makes bounds the same on every machine.
func sixDigits(bound float64) float64 { return math.Round(bound*1e6) / 1e6 }

// jain is the square of the sum over n times the sum of the squares; nil for fewer than two, or without a grant.
func jain(grants map[name]int) *float64 {
	var sum, squares float64
	for _, n := range grants {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if len(grants) < 2 || sum == 0 {
		return nil
	}
	index := sum * sum / (float64(len(grants)) * squares)
	return &index
}

// Quantiles of durations: each is the least of them that so many percent do not exceed. All but the greatest come from an
// HdrHistogram, so they are exact to 0.1 % (three significant digits) from 1 ns to longestSample; what is longer counts as
// that.
type Quantiles struct {
	Count int           `json:"count"` // of durations, more than 0
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P99   time.Duration `json:"p99_ns"`
	Max   time.Duration `json:"max_ns"` // exact
}

// longestSample is a week.
const longestSample = 7 * 24 * time.Hour

// samples collects durations in a memory that does not grow.
type samples struct {
	histogram *hdrhistogram.Histogram
	count     int
	longest   time.Duration
}

// newSamples takes its memory with the first duration: most histories are of one run, and short.
func newSamples() *samples { return &samples{} }

// add takes a duration of 0 or more.
func (s *samples) add(d time.Duration) {
	if s.histogram == nil {
		s.histogram = hdrhistogram.New(1, int64(longestSample), 3)
	}
	if err := s.histogram.RecordValue(int64(min(d, longestSample))); err != nil {
		panic(err) // it is in the range
	}
	s.count++
	s.longest = max(s.longest, d)
}

// quantiles are nil without samples.
func (s *samples) quantiles() *Quantiles {
	if s.count == 0 {
		return nil
	}
	at := func(percent int) time.Duration {
		// The histogram rounds the rank to the nearest, so it is asked for one; it answers with the upper end of a bucket, which
		// may lie above all that was seen.
		rank := (percent*s.count + 99) / 100
		return min(time.Duration(s.histogram.ValueAtPercentile(100*float64(rank)/float64(s.count))), s.longest)
	}
	return &Quantiles{Count: s.count, P50: at(50), P90: at(90), P99: at(99), Max: s.longest}
}
