package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files of a run.
const (
	HistoryFile  = "history.jsonl" // the events, see checker/history
	PlanFile     = "plan.yaml"     // what was run, with seed and versions
	VerdictsFile = "verdicts.json" // the report, see WriteJSON
	PageFile     = "index.html"    // the report as a page
	ServersFile  = "servers.log"   // what the lock servers said, where they are real and one may take another's place
)

// filesOfARun are those that a folder may hold, the verdicts last.
var filesOfARun = []string{HistoryFile, PlanFile, PageFile, ServersFile, VerdictsFile}

// Folder is where one command puts its files, or one run of a comparison its own.
type Folder struct {
	Path string
}

// CreateAt makes a folder for results outside the store. The directory may be new, empty, or hold an earlier run, whose
// files are then removed; a directory with anything else in it is refused and left alone.
func CreateAt(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder for results: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder for results: %w", err)
	}
	if len(entries) > 0 {
		if err := clear(dir); err != nil {
			return nil, fmt.Errorf("folder for results: %w", err)
		}
	}
	return &Folder{Path: dir}, nil
}

// clear removes the files of an earlier run, by name. That it was one is known from its verdicts; whatever else the
// directory holds stays, and nothing outside it is touched, whatever the verdicts or a symbolic link say.
func clear(dir string) error {
	report, err := Load(dir)
	if err != nil {
		return fmt.Errorf("%s holds files but no run of lockfault, and stays as it is: choose an empty directory (%w)", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, dir := range append(begun(root, report), runDirs(report)...) {
		if err := removeFiles(root, dir); err != nil {
			return err
		}
		for empty := filepath.Clean(dir); empty != "."; empty = filepath.Dir(empty) {
			if root.Remove(empty) != nil {
				break // not empty, or gone with an earlier run
			}
		}
	}
	return removeFiles(root, ".")
}

func runDirs(report Report) []string {
	var dirs []string
	for _, run := range report.Runs {
		if run.Dir != "" && filepath.IsLocal(run.Dir) {
			dirs = append(dirs, run.Dir)
		}
	}
	return dirs
}

// begun finds the folders that Folder.Run made for runs of which the report does not tell: it was interrupted.
func begun(root *os.Root, report Report) []string {
	if report.NotRun == 0 {
		return nil
	}
	dirs, _ := fs.Glob(root.FS(), "*/*/*fenced*") // the pattern is right
	return dirs
}

// removeFiles removes the files that lockfault writes, also half written. The verdicts go last: they tell that the others
// may go.
func removeFiles(root *os.Root, dir string) error {
	for _, name := range filesOfARun {
		half, _ := fs.Glob(root.FS(), filepath.ToSlash(filepath.Join(dir, "."+name+"-*")))
		for _, file := range half {
			if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, name := range filesOfARun {
		if err := root.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Run makes the folder of one run of a comparison, <lock>/<scenario>/fenced or unfenced; a second run of the same with
// another seed gets fenced#43. Its Path relative to f's is what Run.Dir wants, see Rel.
func (f *Folder) Run(r Run) (*Folder, error) {
	parent := filepath.Join(f.Path, fileName(r.Lock), fileName(r.Scenario))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("folder of %s: %w", r.Key(), err)
	}
	path := filepath.Join(parent, fencing(r.Fencing))
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		path = fmt.Sprintf("%s#%d", path, r.Seed)
		err = os.Mkdir(path, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("folder of %s: %w", r.Key(), err)
	}
	return &Folder{Path: path}, nil
}

// Rel returns the path of a run's folder inside f, with slashes.
func (f *Folder) Rel(run *Folder) (string, error) {
	rel, err := filepath.Rel(f.Path, run.Path)
	return filepath.ToSlash(rel), err
}

// WritePlan stores what was run.
func (f *Folder) WritePlan(text []byte) error { return f.write(PlanFile, text) }

// WriteVerdicts stores the report.
func (f *Folder) WriteVerdicts(r Report) error {
	var text bytes.Buffer
	if err := WriteJSON(&text, r); err != nil {
		return err
	}
	return f.write(VerdictsFile, text.Bytes())
}

// WritePage stores the report as a page, which write makes.
func (f *Folder) WritePage(write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	return f.write(PageFile, page.Bytes())
}

// write replaces a file as a whole: a reader sees the old content or the new.
func (f *Folder) write(name string, text []byte) error {
	beside, err := os.CreateTemp(f.Path, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.Path, name), err)
	}
	_, err = beside.Write(text)
	err = errors.Join(err, beside.Chmod(0o644), beside.Close())
	if err == nil {
		err = os.Rename(beside.Name(), filepath.Join(f.Path, name))
	}
	if err != nil {
		os.Remove(beside.Name())
		return fmt.Errorf("write %s: %w", filepath.Join(f.Path, name), err)
	}
	return nil
}

// Load reads the report of a stored run.
func Load(dir string) (Report, error) {
	path := filepath.Join(dir, VerdictsFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("no verdicts in %s: no stored run, or one that did not finish: %w", dir, err)
	}
	if err != nil {
		return Report{}, err
	}
	defer file.Close()
	report, err := ReadJSON(file)
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}
