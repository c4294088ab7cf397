package scenarios

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
)

//go:embed README.md
var readme string

func TestTheExamplesOfTheReadmeAreSound(t *testing.T) {
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(examples) == 0 {
		t.Fatal("there are none")
	}
	var kinds, ops []string
	keys := ""
	for i, e := range examples {
		if strings.HasPrefix(e[1], "known:") {
			if b, err := baseline(t, e[1]); err != nil || len(b.Known) == 0 {
				t.Error(b, err)
			}
			continue
		}
		s, err := Parse(fmt.Sprintf("example-%d.yaml", i+1), []byte(e[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		keys += e[1]
		for _, step := range s.Faults {
			kinds = append(kinds, step.Fault.Kind())
		}
		for _, c := range s.Clients {
			for _, step := range c.Steps {
				ops = append(ops, string(step.Op))
			}
		}
	}
	for _, k := range FaultKinds {
		if !slices.Contains(kinds, k.Name) {
			t.Errorf("no example has the fault %s", k.Name)
		}
		for _, key := range k.keys {
			if !strings.Contains(keys, key+":") {
				t.Errorf("no example has the key %s of %s", key, k.Name)
			}
		}
	}
	for _, op := range stepOps {
		if !slices.Contains(ops, op) {
			t.Errorf("no example has the step %s", op)
		}
	}
}

func TestTheReadmeKnowsEveryKeyAndItsDefault(t *testing.T) {
	for _, key := range topKeys {
		if !strings.Contains(readme, "\n| `"+key+"` |") {
			t.Errorf("the key %s is not in the table", key)
		}
	}
	s := parse(t, "title: x\nclients: {A: [acquire, write]}\n")
	for _, want := range []string{
		fmt.Sprintf("| `%v` |\n| `horizon`", s.TTL), fmt.Sprintf("| %d `ttl`", s.Horizon/s.TTL), fmt.Sprintf("| `%s` |\n| `stock`", s.Data),
		fmt.Sprintf("| `%d` |\n| `clients`", s.Stock), fmt.Sprintf("default %d ttl", s.Clients[0].Steps[0].For/s.TTL),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if write := s.Clients[0].Steps[1]; write.Op != history.Write || write.For != s.TTL/2 {
		t.Errorf("a write takes at most %v, and not half a time to live", write.For)
	}
}
