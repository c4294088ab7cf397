package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultRoot is where runs are stored unless told otherwise.
const DefaultRoot = "results/runs"

// latest is the entry of the root that points at the run created last: a symbolic link, or where there are none a file
// that holds the folder's name.
const latest = "latest"

// Store keeps runs, one folder each, under a root directory. Safe for concurrent use, also by several processes.
type Store struct {
	Root string // empty stands for DefaultRoot
}

func (s Store) root() string {
	if s.Root == "" {
		return DefaultRoot
	}
	return s.Root
}

// Create makes the folder <time>-<name> for a run that starts at a time and points latest at it. Folders of one second
// are told apart by a number.
func (s Store) Create(name string, at time.Time) (*Folder, error) {
	if err := os.MkdirAll(s.root(), 0o755); err != nil {
		return nil, fmt.Errorf("store for results: %w", err)
	}
	path, err := makeUnique(filepath.Join(s.root(), at.UTC().Format("20060102T150405Z")+"-"+fileName(name)))
	if err != nil {
		return nil, fmt.Errorf("folder for results: %w", err)
	}
	if err := s.point(filepath.Base(path)); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &Folder{Path: path}, nil
}

// makeUnique makes a directory of this name or, if there is one, with a number after it.
func makeUnique(base string) (string, error) {
	path := base
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		path = fmt.Sprintf("%s-%d", base, n)
	}
}

// point lets latest name the folder. The pointer is made beside and renamed, so that latest always leads somewhere.
func (s Store) point(folder string) error {
	beside := filepath.Join(s.root(), ".latest-"+folder)
	err := os.Symlink(folder, beside)
	if err != nil { // a file system without symbolic links, or an account that may not make them
		err = os.WriteFile(beside, []byte(folder+"\n"), 0o644)
	}
	if err == nil {
		err = os.Rename(beside, filepath.Join(s.root(), latest))
	}
	if err != nil {
		os.Remove(beside)
		return fmt.Errorf("point %s at the new run: %w", filepath.Join(s.root(), latest), err)
	}
	return nil
}

// Resolve finds a stored run and returns its folder: "latest", the name of a folder in the store, what lies below either,
// such as "latest/redlock/pause-after-acquire/fenced", a path, or the beginning of one folder's name and no other's.
func (s Store) Resolve(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("no run named: give a folder, the beginning of its name, or latest")
	case name == latest:
		return s.resolveLatest()
	}
	if below, ok := strings.CutPrefix(name, latest+"/"); ok {
		newest, err := s.resolveLatest()
		if err != nil {
			return "", err
		}
		name = filepath.Join(filepath.Base(newest), below)
	}
	if path := filepath.Join(s.root(), name); filepath.IsLocal(name) && isDirectory(path) {
		return path, nil
	}
	if isDirectory(name) {
		return filepath.Clean(name), nil
	}
	return s.resolvePrefix(name)
}

func (s Store) resolveLatest() (string, error) {
	pointer := filepath.Join(s.root(), latest)
	folder, err := os.Readlink(pointer)
	if err != nil {
		var text []byte
		text, err = os.ReadFile(pointer)
		folder = strings.TrimSpace(string(text))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no run is stored in %s yet: lockfault compare makes one", s.root())
	}
	if err != nil {
		return "", fmt.Errorf("find the latest run: %w", err)
	}
	path := filepath.Join(s.root(), folder)
	if filepath.Base(folder) != folder || !isDirectory(path) {
		return "", fmt.Errorf("%s points at %q, which is not there: name a run of %s", pointer, folder, s.root())
	}
	return path, nil
}

func (s Store) resolvePrefix(prefix string) (string, error) {
	var found []string
	names, err := s.Names()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no run %q: neither a folder nor the beginning of a name in %s", prefix, s.root())
	case 1:
		return filepath.Join(s.root(), found[0]), nil
	}
	const shown = 5
	list := strings.Join(found[:min(len(found), shown)], ", ")
	if len(found) > shown {
		list += ", ..."
	}
	return "", fmt.Errorf("%q may be any of %d runs in %s: %s", prefix, len(found), s.root(), list)
}

// Names lists the folders of the store, oldest first; none if there is no store yet.
func (s Store) Names() ([]string, error) {
	entries, err := os.ReadDir(s.root())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list stored runs: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
