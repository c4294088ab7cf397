package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/goccy/go-yaml"
)

// PlanFile is a plan as it is stored beside its history: all that is needed to run it again.
type PlanFile struct {
	Lock     string            `yaml:"lock"`
	Command  string            `yaml:"command,omitempty"` // of a lock that is a program
	Scenario string            `yaml:"scenario"`          // its name
	Fencing  bool              `yaml:"fencing"`
	Seed     uint64            `yaml:"seed"`
	Speed    float64           `yaml:"speed,omitempty"` // divides every duration; 0 stands for 1
	Testbed  string            `yaml:"testbed"`
	Versions map[string]string `yaml:"versions,omitempty"`
	// Text is the scenario file as it was, to the byte, since a catalogue grows.
	Text string `yaml:"text"`
}

// Marshal writes the file. It fails on text that is not UTF-8, which no scenario has.
func (p PlanFile) Marshal() ([]byte, error) {
	// Block style is for people, but cannot hold every text: not carriage returns, nor a first line that is indented.
	for _, style := range []yaml.EncodeOption{yaml.UseLiteralStyleIfMultiline(true), yaml.JSON()} {
		data, err := yaml.MarshalWithOptions(p, style)
		if err != nil {
			return nil, err
		}
		var again PlanFile
		if yaml.UnmarshalWithOptions(data, &again, yaml.Strict()) == nil && p.same(again) {
			return data, nil
		}
	}
	return nil, errors.New("the plan cannot be written as YAML: is its text UTF-8?")
}

func (p PlanFile) same(q PlanFile) bool {
	return p.Lock == q.Lock && p.Command == q.Command && p.Scenario == q.Scenario && p.Fencing == q.Fencing && p.Seed == q.Seed &&
		p.Speed == q.Speed && p.Testbed == q.Testbed && maps.Equal(p.Versions, q.Versions) && p.Text == q.Text
}

// ParsePlan reads a stored plan with its scenario; file names it in errors. Mistakes in the YAML, and in the scenario within,
// are a *FileError, the latter with lines counted from the scenario's first.
func ParsePlan(file string, data []byte) (PlanFile, *Scenario, error) {
	var p PlanFile
	if err := yaml.UnmarshalWithOptions(data, &p, yaml.Strict()); err != nil {
		return p, nil, syntaxError(file, err)
	}
	if p.Lock == "" || p.Scenario == "" || p.Text == "" {
		return p, nil, fmt.Errorf("%s: not the plan of one run: lock, scenario or text is missing", file)
	}
	if !(p.Speed >= 0 && p.Speed <= math.MaxFloat64) {
		return p, nil, fmt.Errorf("%s: speed: want a positive number, not %v", file, p.Speed)
	}
	s, err := Parse(p.Scenario+".yaml", []byte(p.Text))
	return p, s, err
}
