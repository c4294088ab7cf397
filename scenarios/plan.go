package scenarios

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// PlanFile is a plan as it is stored beside its history: all that is needed to run it again.
type PlanFile struct {
	Lock     string            `yaml:"lock"`
	Scenario string            `yaml:"scenario"`
	Fencing  bool              `yaml:"fencing"`
	Seed     uint64            `yaml:"seed"`
	Speed    float64           `yaml:"speed,omitempty"`
	Testbed  string            `yaml:"testbed"`
	Versions map[string]string `yaml:"versions,omitempty"`
	// Text is the scenario file as it was, since a catalogue grows.
	Text string `yaml:"text"`
}

// Marshal writes the file.
func (p PlanFile) Marshal() ([]byte, error) {
	return yaml.MarshalWithOptions(p, yaml.UseLiteralStyleIfMultiline(true))
}

// ParsePlan reads a stored plan with its scenario; file names it in errors.
func ParsePlan(file string, data []byte) (PlanFile, *Scenario, error) {
	var p PlanFile
	if err := yaml.UnmarshalWithOptions(data, &p, yaml.Strict()); err != nil {
		return p, nil, syntaxError(file, err)
	}
	if p.Lock == "" || p.Text == "" {
		return p, nil, fmt.Errorf("%s: not the plan of one run: lock or text is missing", file)
	}
	s, err := Parse(p.Scenario+".yaml", []byte(p.Text))
	return p, s, err
}
