package checker

import (
	"iter"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker/history"
)

// order is what must come before what if each section was one atomic step of all the data, given that each piece of data by
// itself keeps the rules of judgeEffects. Its nodes are the sections and, after them, the points of lines, on which each
// comes before the next: so a few edges for each access tell what would else take one for each pair of accesses.
//
//   - The line of time: one point for each section, when that has ended. The section comes before its point, and the latest
//     point before a section begins comes before that.
//   - The line of writes of each piece of data: a point before each write. A section that met or left a version comes before
//     the point of the next write, and that before the section that wrote.
//   - The line of versions of each piece of data: a point for each write. The section that wrote it comes before the point,
//     and that before the sections that read the version.
type order struct {
	*spans
	stretch
	lines map[int32]*lines // of each piece of data that is written
	edges []edge           // by from
	out   []int32          // where those of each node start
}

// lines are those of a piece of data, and the versions of which they have points.
type lines struct{ start, first, last int32 }

// write is the point before the write of a version, on the line of writes.
func (l *lines) write(version int32) int32 { return l.start + 2*(version-l.first) }

// left is the point after the write of a version, on the line of versions.
func (l *lines) left(version int32) int32 { return l.write(version) + 1 }

// edge says that one node comes before another. If one of them is a section, an event of it shows that. What a section
// comes before, by way of points, happened after that event.
type edge struct{ from, to, event int32 }

// firstCycle is that of the first stretch that has one. What comes before what happened before it, so no cycle leads from
// one stretch into another.
func (s *spans) firstCycle() (*order, []edge) {
	for in := range s.stretches() {
		if in.next-in.first < 2 {
			continue
		}
		o := newOrder(s, in)
		if cycle := o.cycle(); cycle != nil {
			return o, cycle
		}
	}
	return nil, nil
}

// newOrder takes the sections of a stretch.
func newOrder(s *spans, in stretch) *order {
	o := &order{spans: s, stretch: in, lines: map[int32]*lines{}}
	nodes := 2 * o.size()
	for _, a := range s.steps(in) {
		if a.kind != writeOk {
			continue
		}
		l, version := o.lines[a.data], o.version(a)
		if l == nil {
			l = &lines{first: version}
			o.lines[a.data] = l
		}
		l.last = version
	}
	for data := range s.logs { // in order, so that witnesses are the same each time
		if l := o.lines[int32(data)]; l != nil {
			l.start = nodes
			nodes += 2 * (l.last - l.first + 1)
		}
	}
	o.addTime()
	for section, a := range s.steps(in) {
		o.addAccess(section-in.first, a)
	}
	o.sort(nodes)
	return o
}

// sort sorts the edges by where they come from.
func (o *order) sort(nodes int32) {
	o.out = make([]int32, nodes+1)
	for _, e := range o.edges {
		o.out[e.from+1]++
	}
	for node := range nodes {
		o.out[node+1] += o.out[node]
	}
	next, sorted := slices.Clone(o.out), make([]edge, len(o.edges))
	for _, e := range o.edges {
		sorted[next[e.from]] = e
		next[e.from]++
	}
	o.edges = sorted
}

// size is how many sections there are.
func (o *order) size() int32 { return o.next - o.first }

// section is what a node stands for.
func (o *order) section(node int32) span { return o.sections[o.first+node] }

// version counts from the first of the data.
func (o *order) version(a *access) int32 { return int32(a.version - o.logs[a.data].initial) }

func (o *order) add(from, to, event int32) { o.edges = append(o.edges, edge{from, to, event}) }

// chain says that one point comes before the next on its line.
func (o *order) chain(from, to int32) { o.add(from, to, 0) }

// addTime says which sections ended before others began, by the clock: what falls on one instant has no order.
func (o *order) addTime() {
	n := o.size()
	begun, ended := make([]int32, n), make([]int32, n)
	for i := range n {
		begun[i], ended[i] = i, i
	}
	slices.SortFunc(begun, func(a, b int32) int { return int(o.section(a).from) - int(o.section(b).from) })
	slices.SortFunc(ended, func(a, b int32) int { return int(o.section(a).to) - int(o.section(b).to) })
	for i, section := range ended {
		point := n + int32(i)
		o.add(section, point, o.section(section).to)
		if i > 0 {
			o.chain(point-1, point)
		}
	}
	past := int32(0) // points before the section begins
	for _, section := range begun {
		from := o.section(section).from
		for past < n && o.Events[o.section(ended[past]).to].Time < o.Events[from].Time {
			past++
		}
		if past > 0 {
			o.add(n+past-1, section, from)
		}
	}
}

// addAccess says what an access shows. What a section does to one piece of data no write of others interrupts.
func (o *order) addAccess(section int32, a *access) {
	l, version := o.lines[a.data], o.version(a)
	if l == nil {
		return
	}
	log := o.logs[a.data]
	byItself := func(version int32) bool {
		by, _ := o.of(&o.Accesses[log.writes[version-1]])
		return by == section+o.first
	}
	if a.kind == writeOk {
		if version == l.first || !byItself(version-1) {
			o.add(l.write(version), section, a.event)
		}
		if version > l.first {
			o.chain(l.write(version-1), l.write(version))
			o.chain(l.left(version-1), l.left(version))
		}
		o.add(section, l.left(version), a.event)
	} else if version >= l.first && !byItself(version) {
		o.add(l.left(version), section, a.event)
	}
	if version < l.last && !byItself(version+1) {
		o.add(section, l.write(version+1), a.event)
	}
}

func (o *order) isSection(node int32) bool { return node < o.size() }

// isTime tells whether a node is a point of the line of time.
func (o *order) isTime(node int32) bool { return !o.isSection(node) && node < 2*o.size() }

// shown tells whether the events up to one show an edge. Only what comes to a section waits for its event.
func (o *order) shown(e edge, upTo int32) bool { return !o.isSection(e.to) || e.event <= upTo }

// following yields the edges from a node that the events up to one show.
func (o *order) following(node, upTo int32) iter.Seq[edge] {
	return func(yield func(edge) bool) {
		for _, e := range o.edges[o.out[node]:o.out[node+1]] {
			if o.shown(e, upTo) && !yield(e) {
				return
			}
		}
	}
}

// cyclic tells whether the events up to one leave the nodes without an order (Kahn 1962, "Topological sorting of large
// networks").
func (o *order) cyclic(upTo int32) bool {
	nodes := len(o.out) - 1
	before := make([]int32, nodes)
	for _, e := range o.edges {
		if o.shown(e, upTo) {
			before[e.to]++
		}
	}
	sorted := make([]int32, 0, nodes)
	for node, n := range before {
		if n == 0 {
			sorted = append(sorted, int32(node))
		}
	}
	for i := 0; i < len(sorted); i++ {
		for e := range o.following(sorted[i], upTo) {
			if before[e.to]--; before[e.to] == 0 {
				sorted = append(sorted, e.to)
			}
		}
	}
	return len(sorted) < nodes
}

// cycle is the shortest of those that the stretch closes first; nil if its sections have an order. An event shows what comes
// before one section, so the cycles that it closes lead through that one.
func (o *order) cycle() []edge {
	if !o.cyclic(int32(len(o.Events))) {
		return nil
	}
	closing := int32(sort.Search(len(o.Events), func(i int) bool { return o.cyclic(int32(i)) }))
	at := slices.IndexFunc(o.edges, func(e edge) bool { return o.isSection(e.to) && e.event == closing })
	return o.around(o.edges[at].to, closing)
}

// around is the shortest cycle through a section that the events up to one show, counted in sections.
func (o *order) around(section, upTo int32) []edge {
	by := map[int32]edge{} // how a node was reached
	for near := []int32{section}; len(near) > 0; {
		var far []int32 // one section further
		for len(near) > 0 {
			node := near[len(near)-1]
			near = near[:len(near)-1]
			for e := range o.following(node, upTo) {
				if _, seen := by[e.to]; seen {
					continue
				}
				by[e.to] = e
				if e.to == section {
					return back(by, section)
				}
				if o.isSection(e.to) {
					far = append(far, e.to)
				} else {
					near = append(near, e.to)
				}
			}
		}
		near = far
	}
	return nil
}

// back follows a cycle from its end to its start.
func back(by map[int32]edge, section int32) []edge {
	cycle := []edge{by[section]}
	for cycle[len(cycle)-1].from != section {
		cycle = append(cycle, by[cycle[len(cycle)-1].from])
	}
	slices.Reverse(cycle)
	return cycle
}

// verdict tells of a cycle.
func (o *order) verdict(cycle []edge) Verdict {
	var sections, steps []saying
	var events []int
	var before *history.Event // of the section that comes first
	for _, e := range cycle {
		now := &o.Events[e.event]
		switch {
		case o.isSection(e.from):
			before = now
			sections = append(sections, say("%s", actor(&o.Events[o.section(e.from).from])))
		case !o.isSection(e.to):
			continue
		case o.isTime(e.from):
			steps = append(steps, say("%s was through at %s before %s began at %s",
				author(before), at(before.Time), actor(now), at(now.Time)))
		default:
			steps = append(steps, say("%s's %s of %s at %s came before %s's %s at %s",
				author(before), before.Op, dataOf(before), at(before.Time), author(now), now.Op, at(now.Time)))
		}
		events = append(events, now.Index)
	}
	return violated(say("the sections of %s cannot each be one atomic step: %s", allOf(sections), allOf(steps)), events...)
}

// allOf lists as a sentence does: "A, B and C".
func allOf(all []saying) saying {
	last := len(all) - 1
	return say("%s and %s", listed(all[:last]), all[last])
}

// dataOf names what an access is of.
func dataOf(e *history.Event) string {
	if e.Resource != "" {
		return e.Resource
	}
	return e.Process
}
