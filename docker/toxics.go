package docker

import (
	"slices"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"
)

// toxic is what a disturbance puts on one direction of a link.
type toxic struct {
	name, kind string
	toxicity   float32
	attributes toxiproxy.Attributes
}

// cutState is what a cut does to one direction of a link. Toxiproxy gives on what a toxic holds whenever the toxic behind it in
// the chain comes or goes. So, while a link is cut, nothing is put behind the cut: what strikes it meanwhile has nothing to
// strike, and waits. Cuts of one direction are one toxic, which stays until the last of them heals.
type cutState struct {
	cuts    int
	waiting []toxic
}

// cutName is the name of the toxic that stands for all cuts of a direction.
const cutName = "cut-"

func (p *proxy) state(stream string) *cutState {
	if p.streams == nil {
		p.streams = map[string]*cutState{}
	}
	if p.streams[stream] == nil {
		p.streams[stream] = &cutState{}
	}
	return p.streams[stream]
}

// cut holds what is sent from now on.
func (p *proxy) cut(stream string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state(stream)
	if s.cuts++; s.cuts > 1 {
		return nil
	}
	err := p.add(stream, toxic{cutName, "latency", 1, toxiproxy.Attributes{"latency": cutFor.Milliseconds(), "jitter": 0}})
	if err != nil {
		s.cuts = 0
	}
	return err
}

// join takes one cut back. With the last one, what was held goes on, and what waited strikes.
func (p *proxy) join(stream string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state(stream)
	if s.cuts == 0 {
		return nil // it could not be cut
	}
	if s.cuts--; s.cuts > 0 {
		return nil
	}
	if err := p.RemoveToxic(cutName + stream); err != nil {
		return err
	}
	waiting := s.waiting
	s.waiting = nil
	for _, t := range waiting {
		if err := p.add(stream, t); err != nil {
			return err
		}
	}
	return nil
}

// strike puts a toxic on a direction, at once or when it is no longer cut.
func (p *proxy) strike(stream string, t toxic) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.state(stream); s.cuts > 0 {
		s.waiting = append(s.waiting, t)
		return nil
	}
	return p.add(stream, t)
}

// lift takes a toxic away. It says whether it ever struck.
func (p *proxy) lift(stream, name string) (struck bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state(stream)
	if i := slices.IndexFunc(s.waiting, func(t toxic) bool { return t.name == name }); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return false, nil
	}
	return true, p.RemoveToxic(name + stream)
}

func (p *proxy) add(stream string, t toxic) error {
	_, err := p.AddToxic(t.name+stream, t.kind, stream, t.toxicity, t.attributes)
	return err
}
