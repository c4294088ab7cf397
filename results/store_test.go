package results

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var start = time.Date(2025, 11, 30, 19, 15, 0, 123, time.FixedZone("", 3600))

// mustCreate makes a folder with a report in it.
func mustCreate(t *testing.T, s Store, name string) *Folder {
	t.Helper()
	f, err := s.Create(name, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteVerdicts(typical()); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStoredRunIsFoundAgain(t *testing.T) {
	s := Store{Root: filepath.Join(t.TempDir(), "results", "runs")}
	first, second := mustCreate(t, s, "compare"), mustCreate(t, s, "compare")
	other := mustCreate(t, s, "exec:python3 /opt/x")
	for name, want := range map[string]string{
		"20251130T181500Z-compare":   first.Path, // also the beginning of another
		"20251130T181500Z-compare-2": second.Path,
		"20251130T181500Z-e":         other.Path,
		"latest":                     other.Path,
		first.Path:                   first.Path,
		s.Root + "/latest/":          filepath.Join(s.Root, "latest"),
	} {
		got, err := s.Resolve(name)
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, want)
			continue
		}
		if r, err := Load(got); err != nil || len(r.Runs) != len(typical().Runs) {
			t.Errorf("%s: %d runs, %v", name, len(r.Runs), err)
		}
	}
	if target, err := os.Readlink(filepath.Join(s.Root, "latest")); err != nil || target != filepath.Base(other.Path) {
		t.Errorf("latest points at %q, %v", target, err)
	}
}

func TestRunOfAComparisonIsFoundBelowItsName(t *testing.T) {
	s := Store{Root: filepath.Join(t.TempDir(), "runs")}
	f := mustCreate(t, s, "compare")
	run, err := f.Run(pause("redlock", true, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"latest", filepath.Base(f.Path)} {
		name += "/redlock/pause-after-acquire/fenced"
		if got, err := s.Resolve(name); err != nil || got != run.Path {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, run.Path)
		}
		if got, err := s.Resolve(name + "d"); err == nil {
			t.Errorf("%sd: found %s", name, got)
		}
	}
}

func TestNameThatFindsNoRunIsAClearError(t *testing.T) {
	s := Store{Root: filepath.Join(t.TempDir(), "runs")}
	check := func(name string, want ...string) {
		t.Helper()
		_, err := s.Resolve(name)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: error %v, want %q in it", name, err, part)
			}
		}
	}
	check("latest", "no run is stored in "+s.Root)
	check("2025", `no run "2025"`, s.Root)
	check("", "no run named")
	for range 7 {
		mustCreate(t, s, "compare")
	}
	check("2025", "any of 7 runs", "20251130T181500Z-compare-2", ", ...")
	latest, err := s.Resolve("latest")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(latest); err != nil {
		t.Fatal(err)
	}
	check("latest", "latest points at", "not there")
}

func TestLatestMayBeAFile(t *testing.T) {
	s := Store{Root: t.TempDir()}
	f := mustCreate(t, s, "compare")
	pointer := filepath.Join(s.Root, "latest")
	if err := os.Remove(pointer); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pointer, []byte(filepath.Base(f.Path)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Resolve("latest"); err != nil || got != f.Path {
		t.Errorf("got %s, %v", got, err)
	}
	if err := os.WriteFile(pointer, []byte("../../etc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Resolve("latest"); err == nil {
		t.Errorf("a pointer out of the store led to %s", got)
	}
	next := mustCreate(t, s, "run") // a link again
	if got, err := s.Resolve("latest"); err != nil || got != next.Path {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRunsStartedTogetherDoNotShareAFolder(t *testing.T) {
	s := Store{Root: t.TempDir()}
	const runs = 20
	var paths [runs]string
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			f, err := s.Create("compare", start)
			if err != nil {
				t.Error(err)
				return
			}
			paths[i] = f.Path
		})
	}
	all.Wait()
	slices.Sort(paths[:])
	if len(slices.Compact(slices.Clone(paths[:]))) != runs {
		t.Errorf("shared: %q", paths)
	}
	if latest, err := s.Resolve("latest"); err != nil || !slices.Contains(paths[:], latest) {
		t.Errorf("latest is %s, %v", latest, err)
	}
	entries, err := os.ReadDir(s.Root)
	if err != nil || len(entries) != runs+1 {
		t.Errorf("%d entries, want the runs and latest; %v", len(entries), err)
	}
}

func TestUnwritableStoreIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (Store{Root: file}).Create("compare", start); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name %s", err, file)
	}
	if _, err := CreateAt(filepath.Join(file, "out")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name %s", err, file)
	}
	s := Store{Root: t.TempDir()}
	inTheWay := filepath.Join(s.Root, "latest")
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create("compare", start); err == nil || !strings.Contains(err.Error(), inTheWay) {
		t.Errorf("error %v does not name %s", err, inTheWay)
	}
	if names, _ := s.Names(); !reflect.DeepEqual(names, []string{"latest"}) {
		t.Errorf("left behind: %q", names)
	}
}

// fill puts the files of a comparison into a folder.
func fill(t *testing.T, f *Folder) {
	t.Helper()
	report := Report{}
	for seed := range uint64(2) {
		run := pause("redlock", true, verdicts{"exclusion": two})
		run.Seed = seed
		place, err := f.Run(run)
		if err != nil {
			t.Fatal(err)
		}
		if run.Dir, err = f.Rel(place); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{HistoryFile, ServersFile} {
			if err := place.write(name, nil); err != nil {
				t.Fatal(err)
			}
		}
		report.Runs = append(report.Runs, run)
	}
	if err := f.WritePlan([]byte("seed: 42\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteVerdicts(report); err != nil {
		t.Fatal(err)
	}
}

// files lists what is in a directory, below it too.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if rel, _ := filepath.Rel(dir, path); err == nil && !info.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var comparison = []string{
	"plan.yaml", "redlock/pause-after-acquire/fenced/history.jsonl", "redlock/pause-after-acquire/fenced/servers.log",
	"redlock/pause-after-acquire/fenced#1/history.jsonl", "redlock/pause-after-acquire/fenced#1/servers.log", "verdicts.json",
}

func TestFolderHoldsWhatTheDesignNames(t *testing.T) {
	f, err := CreateAt(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f)
	if got := files(t, f.Path); !slices.Equal(got, comparison) {
		t.Errorf("got %q", got)
	}
	if _, err := f.Run(Run{Lock: "redlock", Scenario: "pause-after-acquire", Fencing: true, Seed: 1}); err == nil {
		t.Error("one run has two folders")
	}
}

func TestEarlierRunIsReplacedAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "history.jsonl")
	keep := filepath.Join(dir, "redlock", "notes.txt")
	f := &Folder{Path: dir}
	fill(t, f)
	for _, path := range []string{keep, outside} {
		if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hostile, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	away, err := filepath.Rel(dir, filepath.Dir(outside))
	if err != nil {
		t.Fatal(err)
	}
	hostile.Runs = append(hostile.Runs, Run{Dir: away})
	if err := f.WriteVerdicts(hostile); err != nil {
		t.Fatal(err)
	}
	if f, err = CreateAt(dir); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"redlock/notes.txt"}) {
		t.Errorf("after clearing: %q", got)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	fill(t, f)
}

func TestForeignDirectoryIsRefusedAndLeftAlone(t *testing.T) {
	for name, content := range map[string]string{"notes.txt": "mine", "plan.yaml": "mine", "verdicts.json": `{"mine":1}`} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := CreateAt(dir)
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v does not name %s", name, err, dir)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != content {
			t.Errorf("%s: %q, %v", name, left, err)
		}
	}
}

func TestVerdictsAreReplacedWhole(t *testing.T) {
	f := mustCreate(t, Store{Root: t.TempDir()}, "compare")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if err := f.WriteVerdicts(typical()); err != nil {
					t.Error(err)
				}
				if _, err := Load(f.Path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := files(t, f.Path); !slices.Equal(got, []string{"verdicts.json"}) {
		t.Errorf("left behind: %q", got)
	}
}

func TestDifferentNamesHaveDifferentFolders(t *testing.T) {
	names := []string{"a", "a/b", "a-b", "a b", "", ".", "..", "-", "../..", "ä", "ö", "<script>", "\x00", strings.Repeat("x", 300), strings.Repeat("x", 301)}
	seen := make(map[string]string)
	for _, name := range names {
		got := fileName(name)
		if before, taken := seen[got]; taken {
			t.Errorf("%q and %q share %q", before, name, got)
		}
		seen[got] = name
		if got == "" || len(got) > 80 || !filepath.IsLocal(got) || filepath.Base(got) != got || strings.HasPrefix(got, ".") {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	if got := fileName("single-getdel"); got != "single-getdel" {
		t.Errorf("a plain name becomes %q", got)
	}
}

func ExampleWriteRun() {
	var out bytes.Buffer
	run := pause("single", true, verdicts{"exclusion": two, "effects": held})
	if err := WriteRun(&out, run, Layout{}); err != nil {
		fmt.Println(err)
	}
	fmt.Print(out.String())
	// Output:
	// single/pause-after-acquire/fenced#42 on sim
	// A1  the holder stops for longer than its lease
	//
	//   exclusion          violated    A believed from 0 s to 15.1 s that it held
	//                                  stock (fence 33), and so did B from 10.1 s to
	//                                  10.3 s (fence 34).
	//   effects            held        12 sections, none overlapped
	//
	// as expected; 31 events
	//   history: single/pause-after-acquire/fenced/history.jsonl
}
