package lanes

import (
	"encoding/json"
	"slices"
	"time"
)

// packed is a drawing for the page: columns of numbers, which compress well and which a browser reads fast. Texts are
// places in Strings, beginnings are the difference to the one before, ends are lengths. A column of zeros is left out.
type packed struct {
	End     time.Duration    `json:"end"`
	Events  int              `json:"events"`
	Several bool             `json:"several,omitempty"` // locks
	Lanes   [][2]any         `json:"lanes"`             // name, kind
	Strings []string         `json:"strings"`
	Bars    map[string]any   `json:"bars"`
	Ticks   map[string]any   `json:"ticks"`
	Bands   []map[string]any `json:"bands"`
	Stories []map[string]any `json:"stories"`
}

// Flags of bars, ticks and bands.
const (
	flagWitness = 1 << iota
	flagOpen
	flagDoubtful
)

// MarshalJSON writes the drawing as the page reads it; see page.js.
func (d *Drawing) MarshalJSON() ([]byte, error) {
	p := packed{End: d.End, Events: d.Events, Several: d.Locks, Bands: []map[string]any{}, Stories: []map[string]any{}}
	for _, lane := range d.Lanes {
		p.Lanes = append(p.Lanes, [2]any{lane.Name, int(lane.Kind)})
	}
	texts := table{places: map[string]int64{}}
	texts.place("")
	bars, ticks := columns{n: len(d.Bars)}, columns{n: len(d.Ticks)}
	for i := range d.Bars {
		bars.bar(&d.Bars[i], &texts)
	}
	for i := range d.Ticks {
		ticks.tick(&d.Ticks[i], &texts)
	}
	p.Bars, p.Ticks, p.Strings = bars.packed(), ticks.packed(), texts.all
	for _, b := range d.Bands {
		p.Bands = append(p.Bands, map[string]any{"lanes": b.Lanes, "from": b.From, "to": b.To, "name": b.Name, "kind": b.Kind,
			"subject": b.Subject, "outcome": b.Outcome, "evidence": b.Evidence, "flags": flags(b.Witness, b.Open, false)})
	}
	for _, s := range d.Stories {
		story := map[string]any{"property": s.Property, "sentence": s.Sentence, "events": s.Events, "from": s.From, "to": s.To}
		if from, to, ok := d.Overlap(s); ok {
			story["overlap"] = []time.Duration{from, to}
		}
		p.Stories = append(p.Stories, story)
	}
	return json.Marshal(p)
}

// table numbers texts.
type table struct {
	all    []string
	places map[string]int64
}

func (t *table) place(text string) int64 {
	at, known := t.places[text]
	if !known {
		at = int64(len(t.all))
		t.places[text] = at
		t.all = append(t.all, text)
	}
	return at
}

// columns are lists of numbers by name, all of one length.
type columns struct {
	n    int
	of   map[string][]int64
	last time.Duration
}

func (c *columns) add(name string, value int64) {
	if c.of == nil {
		c.of = map[string][]int64{}
	}
	list, known := c.of[name]
	if !known {
		list = make([]int64, 0, c.n)
	}
	c.of[name] = append(list, value)
}

func (c *columns) span(from, to time.Duration) {
	c.add("from", int64(from-c.last))
	c.add("to", int64(to-from))
	c.last = from
}

func (c *columns) bar(b *Bar, texts *table) {
	c.span(b.From, b.To)
	c.add("lane", int64(b.Lane))
	c.add("sort", int64(b.Sort))
	c.add("client", texts.place(b.Client))
	c.add("lock", texts.place(b.Lock))
	c.add("lease", texts.place(b.Lease))
	c.add("why", texts.place(b.Why))
	c.add("fence", b.Fence)
	c.add("flags", flags(b.Witness, b.Open, b.Doubtful))
}

func (c *columns) tick(t *Tick, texts *table) {
	c.span(t.From, t.To)
	c.add("lane", int64(t.Lane))
	c.add("op", texts.place(string(t.Op)))
	c.add("outcome", int64(t.Outcome))
	c.add("lease", texts.place(t.Lease))
	c.add("by", texts.place(t.By))
	c.add("error", texts.place(t.Error))
	c.add("fence", t.Fence)
	c.add("value", t.Value)
	c.add("version", t.Version)
	c.add("event", int64(t.Event))
	c.add("cause", int64(t.Cause+1))
	c.add("mark", int64(t.Mark))
	c.add("flags", flags(t.Witness, false, false))
}

func (c *columns) packed() map[string]any {
	all := map[string]any{"n": c.n}
	for name, list := range c.of {
		if slices.ContainsFunc(list, func(v int64) bool { return v != 0 }) {
			all[name] = list
		}
	}
	return all
}

func flags(witness, open, doubtful bool) int64 {
	return int64(b2i(witness)*flagWitness + b2i(open)*flagOpen + b2i(doubtful)*flagDoubtful)
}

// Near is the part of a drawing around its first story, or the beginning if there is none, of about as many operations;
// the drawing itself if it has not more.
func (d *Drawing) Near(most int) *Drawing {
	if len(d.Ticks) <= most {
		return d
	}
	times := make([]time.Duration, len(d.Ticks))
	for i := range d.Ticks {
		times[i] = d.Ticks[i].From
	}
	slices.Sort(times)
	from, to := 0, most-1
	if len(d.Stories) > 0 {
		s := d.Stories[0]
		first, _ := slices.BinarySearch(times, s.From)
		last, _ := slices.BinarySearch(times, s.To)
		room := max(0, most-(last-first))
		from, to = max(0, first-room/2), min(len(times)-1, last+room/2)
	}
	return d.part(times[from], times[to])
}

// part keeps what touches a stretch of time, and all lanes.
func (d *Drawing) part(from, to time.Duration) *Drawing {
	part := *d
	part.Bars, part.Ticks = nil, nil
	for _, b := range d.Bars {
		if b.From <= to && from <= b.To {
			part.Bars = append(part.Bars, b)
		}
	}
	places := map[int]int{}
	for i, t := range d.Ticks {
		if t.From <= to && from <= t.To {
			places[i] = len(part.Ticks)
			part.Ticks = append(part.Ticks, t)
		}
	}
	for i := range part.Ticks {
		t := &part.Ticks[i]
		place, kept := places[t.Cause]
		if !kept {
			place = -1
		}
		t.Cause = place
	}
	return &part
}
