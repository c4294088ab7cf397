package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Stored are the files of one run. What is not there is nil.
type Stored struct {
	History []byte
	Plan    []byte
}

// OpenRun reads the files of a run of a report whose folder is root, and nothing outside it: whatever the run's Dir says,
// and wherever a symbolic link leads.
func OpenRun(root *os.Root, r Run) (Stored, error) {
	var s Stored
	var problems [2]error
	for i, file := range []struct {
		name string
		text *[]byte
	}{{HistoryFile, &s.History}, {PlanFile, &s.Plan}} {
		text, err := ReadRegular(root, filepath.Join(filepath.FromSlash(r.Dir), file.name))
		if !errors.Is(err, fs.ErrNotExist) {
			problems[i] = err
		}
		*file.text = text
	}
	return s, errors.Join(problems[:]...)
}

// ReadRegular reads a file beneath root. Anything but a regular file is refused: a pipe would never end.
func ReadRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
