package results

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestHistoryIsReplacedWholeOrNotAtAll(t *testing.T) {
	f := &Folder{Path: t.TempDir()}
	h, err := f.CreateHistory()
	if err != nil {
		t.Fatal(err)
	}
	holds := func(want string) {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(f.Path, HistoryFile)); err != nil || string(text) != want {
			t.Errorf("the file holds %q, %v; want %q", text, err, want)
		}
		if entries, _ := os.ReadDir(f.Path); len(entries) != 1 {
			t.Errorf("the folder holds %v, want the history alone", entries)
		}
	}
	write := func(w io.Writer, text string) error { _, err := io.WriteString(w, text); return err }
	if err := write(h, "as heard\n"); err != nil {
		t.Fatal(err)
	}
	holds("as heard\n")
	full := errors.New("no space left")
	err = h.Redo(func(w io.Writer) error { return errors.Join(write(w, "in or"), full) })
	if !errors.Is(err, full) {
		t.Error(err)
	}
	holds("as heard\n")
	if err := h.Redo(func(w io.Writer) error { return write(w, "in order\n") }); err != nil {
		t.Fatal(err)
	}
	if err := write(h, "the end\n"); err != nil {
		t.Fatal(err)
	}
	holds("in order\nthe end\n")
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		t.Fatal(err)
	}
	if write(h, "too late\n") == nil || h.Redo(func(w io.Writer) error { return write(w, "too late\n") }) == nil {
		t.Error("written after the end")
	}
	holds("in order\nthe end\n")
}
