package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results/internal/svg"
	"github.com/lockfault/lockfault/results/lanes"
)

// Measures of a chart, in pixels.
const (
	chartWidth  = 640.0
	chartHeight = 190.0
	chartLeft   = 58.0
	chartRight  = 10.0
	chartTop    = 12.0
	chartBottom = 26.0
	buckets     = 60
)

// chart is a picture over the time of a history, with the faults as bands.
type chart struct {
	svg.Writer
	end     time.Duration
	top     float64 // greatest value
	log     bool
	bottom  float64 // least value, of a logarithmic scale
	caption string
}

// series is a line or a set of points. Its mark tells it from others without colour.
type series struct {
	name   string
	class  string
	points []point
	dots   bool
}

type point struct {
	at    time.Duration
	value float64
}

// figure is a chart with its caption.
type figure struct {
	Caption string
	Chart   template.HTML
}

// charts are latency and rate over time; none if there is nothing to draw.
func charts(d *lanes.Drawing) []figure {
	var all []figure
	if d.End <= 0 {
		return nil
	}
	for _, c := range []struct {
		caption string
		log     bool
		of      []series
	}{
		{"latency in milliseconds, logarithmic", true, latencies(d)},
		{"operations per second", false, rates(d)},
	} {
		if slices.ContainsFunc(c.of, func(s series) bool { return len(s.points) > 1 }) {
			all = append(all, figure{c.caption, draw(d, c.caption, c.of, c.log)})
		}
	}
	return all
}

// latencies of what clients did, by operation: each one if they are few, else the greatest of each stretch of time.
func latencies(d *lanes.Drawing) []series {
	const few = 400
	var all []series
	for i, op := range []history.Op{history.Acquire, history.Write, history.Release} {
		s := series{name: string(op), class: fmt.Sprintf("s%d", i), dots: true}
		var longest [buckets]point
		n := 0
		for _, t := range d.Ticks {
			if t.Op != op || t.Invoke < 0 || t.Outcome == 0 || t.To <= t.From {
				continue
			}
			n++
			p := point{t.To, float64(t.To-t.From) / 1e6}
			if n <= few {
				s.points = append(s.points, p)
			}
			if b := bucket(t.To, d.End); p.value > longest[b].value {
				longest[b] = p
			}
		}
		if n > few {
			s.name, s.points, s.dots = "longest "+s.name, nil, false
			for _, p := range longest {
				if p.value > 0 {
					s.points = append(s.points, p)
				}
			}
		}
		if len(s.points) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func bucket(t, end time.Duration) int { return min(int(float64(t)/float64(end)*buckets), buckets-1) }

// rates count in each stretch of time, as steps.
func rates(d *lanes.Drawing) []series {
	count := func(name, class string, counts func(*lanes.Tick) bool) series {
		var n [buckets]int
		any := false
		for i := range d.Ticks {
			if t := &d.Ticks[i]; counts(t) {
				n[bucket(t.To, d.End)]++
				any = true
			}
		}
		s := series{name: name, class: class}
		if !any {
			return s
		}
		width := d.End / buckets
		for i, k := range n {
			rate := float64(k) / width.Seconds()
			from, to := point{time.Duration(i) * width, rate}, point{time.Duration(i+1) * width, rate}
			if last := len(s.points) - 1; last > 0 && s.points[last].value == rate {
				s.points[last] = to
				continue
			}
			s.points = append(s.points, from, to)
		}
		return s
	}
	all := []series{
		count("grants", "s0", func(t *lanes.Tick) bool { return t.Op == history.Acquire && t.Outcome == history.Ok && t.Invoke >= 0 }),
		count("writes applied", "s1", func(t *lanes.Tick) bool {
			return t.Op == history.Write && t.Invoke < 0 && t.Outcome == history.Ok && t.Mark == lanes.Plain
		}),
		count("stale or rejected", "s2", func(t *lanes.Tick) bool { return t.Invoke < 0 && t.Mark != lanes.Plain }),
	}
	return slices.DeleteFunc(all, func(s series) bool { return len(s.points) == 0 })
}

func draw(d *lanes.Drawing, caption string, all []series, log bool) template.HTML {
	c := &chart{end: d.End, log: log, caption: caption, bottom: math.Inf(1)}
	for _, s := range all {
		for _, p := range s.points {
			c.top, c.bottom = max(c.top, p.value), min(c.bottom, p.value)
		}
	}
	c.top = roundUp(c.top)
	if log {
		c.bottom, c.top = math.Pow(10, math.Floor(math.Log10(c.bottom))), math.Pow(10, math.Ceil(math.Log10(c.top)+1e-9))
	}
	if c.top <= c.bottom && log {
		c.top = c.bottom * 10
	}
	c.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %v %v", chartWidth, chartHeight),
		"class", "chart", "role", "img", "aria-label", c.words(all))
	for _, b := range d.Bands {
		x := c.x(b.From)
		c.Titled("rect", b.Kind+" of "+b.Subject, "class", "fault", "x", x, "y", chartTop, "width", max(c.x(b.To)-x, 1), "height",
			chartHeight-chartTop-chartBottom)
	}
	c.axes()
	for _, s := range all {
		c.series(s)
	}
	c.names(all)
	c.Close()
	return template.HTML(c.Bytes()) // package svg escapes
}

// words are for those who do not see the chart.
func (c *chart) words(all []series) string {
	text := c.caption + " over " + seconds(c.end) + ", faults as bands"
	for _, s := range all {
		greatest := 0.0
		for _, p := range s.points {
			greatest = max(greatest, p.value)
		}
		text += fmt.Sprintf("; %s at most %.3g", s.name, greatest)
	}
	return text
}

func (c *chart) x(t time.Duration) float64 {
	return chartLeft + (chartWidth-chartLeft-chartRight)*float64(t)/float64(c.end)
}

func (c *chart) y(value float64) float64 {
	share := value / c.top
	if c.log {
		share = math.Log(value/c.bottom) / math.Log(c.top/c.bottom)
	}
	return chartHeight - chartBottom - (chartHeight-chartTop-chartBottom)*share
}

func (c *chart) axes() {
	for _, value := range c.levels() {
		y := c.y(value)
		c.Leaf("line", "class", "grid", "x1", chartLeft, "x2", chartWidth-chartRight, "y1", y, "y2", y)
		c.Text("text", fmt.Sprintf("%.4g", value), "x", chartLeft-6, "y", y+4, "class", "end")
	}
	step := roundStep(c.end)
	for t := time.Duration(0); t <= c.end; t += step {
		if x := c.x(t); x < chartWidth-24 {
			c.Text("text", fmt.Sprintf("%.4g s", t.Seconds()), "x", x, "y", chartHeight-8, "class", "middle")
		}
	}
}

// roundUp is the next of 1, 2, 4, 5 or 10 times a power of ten.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 5} {
		if v <= m*power {
			return m * power
		}
	}
	return 10 * power
}

// roundStep divides a stretch of time into four to ten steps of 1, 2 or 5 units.
func roundStep(d time.Duration) time.Duration {
	power := math.Pow(10, math.Floor(math.Log10(float64(d)/4)))
	for _, m := range []float64{5, 2} {
		if float64(d) >= 4*m*power {
			return time.Duration(m * power)
		}
	}
	return max(time.Duration(power), 1)
}

// levels are the values with a line.
func (c *chart) levels() []float64 {
	var all []float64
	if !c.log {
		return []float64{0, c.top / 2, c.top}
	}
	step := 10.0
	for math.Log10(c.top/c.bottom) > 5*math.Log10(step)+1e-9 {
		step *= 10
	}
	for v := c.bottom; v <= c.top*1.0001; v *= step {
		all = append(all, v)
	}
	return all
}

func (c *chart) series(s series) {
	if s.dots {
		for _, p := range s.points {
			c.dot(s.class, c.x(p.at), c.y(p.value))
		}
		return
	}
	path := ""
	for i, p := range s.points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		path += command + svg.Length(c.x(p.at)) + " " + svg.Length(c.y(p.value))
	}
	c.Leaf("path", "class", "line "+s.class, "d", path)
}

// dot is a circle, a square or a triangle.
func (c *chart) dot(class string, x, y float64) {
	switch class {
	case "s0":
		c.Leaf("circle", "class", class, "cx", x, "cy", y, "r", 3)
	case "s1":
		c.Leaf("rect", "class", class, "x", x-3, "y", y-3, "width", 6, "height", 6)
	default:
		c.Leaf("path", "class", class, "d", fmt.Sprintf("M%.1f %.1fl4 7h-8z", x, y-4))
	}
}

// names are the legend.
func (c *chart) names(all []series) {
	x := chartLeft + 6
	for _, s := range all {
		if s.dots {
			c.dot(s.class, x, chartTop+8)
		} else {
			c.Leaf("path", "class", "line "+s.class, "d", fmt.Sprintf("M%.1f %.1fh12", x-4, chartTop+8))
		}
		c.Text("text", s.name, "x", x+12, "y", chartTop+12, "class", "legend")
		x += 32 + 7*float64(len(s.name))
	}
}
