package linear

import "slices"

// crowded judges a gap in which touches can be.
func (e *excuses) crowded(g int) {
	bound := e.rightStart(g)
	for _, t := range e.active {
		bound = max(bound, e.touches[t].earliest)
	}
	calm := e.between(e.gapStart(g), bound).first == none
	var next []plan
	tries := triesMax
	for _, p := range e.plans {
		var free []int32
		for _, t := range e.active {
			if !slices.Contains(p.placed, t) {
				free = append(free, t)
			}
		}
		if calm {
			next = e.unordered(next, p, free, g)
		} else {
			o := ordering{excuses: e, gap: g, plan: p, free: free, next: next, tries: tries}
			o.extend(e.gapStart(g))
			next, tries = o.next, o.tries
		}
		if next = undominated(next); len(next) > plansMax || tries == 0 {
			e.reaching = true
			return
		}
	}
	e.plans = next
}

// unordered adds the plans for a gap without refusals: whatever is in it fits in some order, since touches are instants.
// Those that can wait may be in it or not.
func (e *excuses) unordered(next []plan, p plan, free []int32, g int) []plan {
	kept := e.carry(nil, p.placed, g)
	waiting := e.carry(nil, free, g)
	if 1<<len(waiting) > plansMax {
		e.reaching = true
		return next
	}
	for mask := range 1 << len(waiting) {
		placed := slices.Clone(kept)
		for i, t := range waiting {
			if mask>>i&1 == 1 {
				placed = append(placed, t)
			}
		}
		slices.Sort(placed)
		next = append(next, plan{placed, p.used})
	}
	return next
}

// carry appends those of the touches that could be in a later gap.
func (e *excuses) carry(to, touches []int32, g int) []int32 {
	for _, t := range touches {
		if int(e.touches[t].last) > g {
			to = append(to, t)
		}
	}
	return to
}

// undominated keeps of the plans that placed the same touches the one that used the fewest phantoms.
func undominated(plans []plan) []plan {
	slices.SortFunc(plans, func(a, b plan) int {
		if c := slices.Compare(a.placed, b.placed); c != 0 {
			return c
		}
		return a.used - b.used
	})
	return slices.CompactFunc(plans, func(a, b plan) bool { return slices.Equal(a.placed, b.placed) })
}

// ordering tries all orders of those touches of a gap that must be in it, with any of those that can be.
type ordering struct {
	*excuses
	gap   int
	plan  plan
	free  []int32 // touches not placed yet
	chain []int32 // those placed in the gap, in order
	next  []plan  // found to be possible
	tries int     // left
}

// extend judges the chain, whose last touch can be at some instant, and all that begin with it.
func (o *ordering) extend(instant int64) {
	if o.tries == 0 {
		return
	}
	o.tries--
	missed := never // the end of a touch that must be in the gap and is not
	for _, t := range o.free {
		if int(o.touches[t].last) == o.gap && !slices.Contains(o.chain, t) {
			missed = min(missed, o.touches[t].to)
		}
	}
	if missed == never {
		o.judge()
	}
	for _, t := range o.free {
		at := max(instant, o.touches[t].from)
		if at > min(missed, o.touches[t].to, o.gapEnd(o.gap)) || slices.Contains(o.chain, t) {
			continue
		}
		o.chain = append(o.chain, t)
		o.extend(at)
		o.chain = o.chain[:len(o.chain)-1]
	}
}

// judge adds a plan if all refusals of the gap can be excused.
func (o *ordering) judge() {
	ends := o.latestEnds()
	used := o.plan.used
	for k, end := range ends {
		start, until := o.rightStart(o.gap), o.untilNext(o.gap)
		if k < len(o.chain) {
			start, until = o.touches[o.chain[k]].earliest, ends[k+1]
		}
		s := o.between(end, start)
		if s.first == none {
			continue
		}
		o.counted = true
		if o.usable(s, until) <= used {
			o.lacking = append(o.lacking, s.first)
			return
		}
		used++
	}
	placed := o.carry(nil, o.plan.placed, o.gap)
	placed = o.carry(placed, o.chain, o.gap)
	slices.Sort(placed)
	o.next = append(o.next, plan{placed, used})
}

// latestEnds tells for each link, the hold before the gap first, by when it must have ended: when the next must be there.
func (o *ordering) latestEnds() []int64 {
	ends := make([]int64, len(o.chain)+1)
	end := o.gapEnd(o.gap)
	for k := len(o.chain); k > 0; k-- {
		end = min(end, o.touches[o.chain[k-1]].to)
		ends[k] = end
	}
	ends[0] = min(end, o.leftEnd(o.gap))
	return ends
}
