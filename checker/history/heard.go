package history

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// A run on real servers hears of some events only after others that happened later. While it runs, its file has events in
// the order in which they were heard, and says so in its Begin event; if the run is cut off, the file stays like that.
const (
	orderKey  = "order" // in the Begin event's Detail
	asHeard   = "heard"
	heardLate = 100 * time.Millisecond
)

// MarkHeard marks a Begin event: what follows stands in the order in which it was heard.
func MarkHeard(begin Event) Event {
	begin.Detail = maps.Clone(begin.Detail)
	if begin.Detail == nil {
		begin.Detail = map[string]string{}
	}
	begin.Detail[orderKey] = asHeard
	return begin
}

// sorted puts events that stand as they were heard in the order of their times. It leaves out the last heardLate: of what
// happened then something may not have been heard any more, such as the end of a lease before the next grant. The places
// are those where the events stood.
func sorted(heard []Event) (events []Event, places []int) {
	places = make([]int, len(heard))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(heard[a].Time, heard[b].Time) })
	last := heard[places[len(places)-1]].Time - heardLate
	for i, place := range places {
		e := heard[place]
		if e.Time > last && i > 0 {
			return events, places[:i]
		}
		if place == 0 {
			e.Detail = maps.Clone(e.Detail)
			delete(e.Detail, orderKey)
		}
		e.Index = i
		events = append(events, e)
	}
	return events, places
}

// sort puts events that stand as they were heard in order.
func (r *Reader) sort(heard []Event) []Event {
	events, places := sorted(heard)
	r.lines = make([]int32, len(places))
	for i, place := range places {
		r.lines[i] = int32(min(place+1, math.MaxInt32))
	}
	r.warn(len(heard), "the run was cut off here; of its last %v something may be missing, and %d events were left out",
		heardLate, len(heard)-len(events))
	return events
}

func (r *Reader) yieldSorted(first Event, yield func(Event, error) bool) {
	rest, err := r.readRest()
	for i, event := range r.sort(append([]Event{first}, rest...)) {
		r.line = r.LineOf(i)
		if !yield(event, nil) {
			return
		}
	}
	if err != nil {
		yield(Event{}, err)
	}
}
