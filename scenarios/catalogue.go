package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed catalogue/*.yaml
var catalogueFiles embed.FS

// Catalogue reads the embedded scenarios, sorted by code (A1, A2, ..., A10, B1, ...), those without a code last by name. The
// scenarios are the caller's own. An error is a mistake in the catalogue.
func Catalogue() ([]*Scenario, error) {
	files, err := fs.Glob(catalogueFiles, "catalogue/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*Scenario
	for _, file := range files {
		data, err := catalogueFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := Parse(path.Base(file), data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Scenario) int { return strings.Compare(a.order(), b.order()) })
	return all, nil
}

// order sorts A2 before A10, and what has no code last.
func (s *Scenario) order() string {
	if s.Code == "" {
		return "~" + s.Name
	}
	letters := strings.TrimRight(s.Code, "0123456789")
	return fmt.Sprintf("%s%5s", letters, s.Code[len(letters):])
}

// Find returns the scenario of a name or code, from the catalogue or, if the name ends in .yaml or .yml, from a file; errors of
// a file are those of Load.
func Find(name string) (*Scenario, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return Load(name)
	}
	all, err := Catalogue()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name == name || strings.EqualFold(s.Code, name) {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no scenario %q: `lockfault list scenarios` names them, and a file's name ends in .yaml", name)
}
