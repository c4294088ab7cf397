package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// History is the history file of a run while it is being written. Safe for concurrent use.
type History struct {
	path string

	mu   sync.Mutex
	file *os.File
}

// CreateHistory makes the history file, empty.
func (f *Folder) CreateHistory() (*History, error) {
	path := filepath.Join(f.Path, HistoryFile)
	file, err := os.Create(path)
	return &History{path: path, file: file}, err
}

// Write appends. What is written is on its way to the disk at once: a process that is killed has lost nothing of it.
func (h *History) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.file.Write(b)
}

// Redo replaces all that was written by what write writes: a reader sees the old content or the new. After an error the
// old content is there still.
func (h *History) Redo(write func(io.Writer) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.file.Stat(); err != nil { // closed: the run was given up
		return err
	}
	beside, err := os.CreateTemp(filepath.Dir(h.path), "."+HistoryFile+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", h.path, err)
	}
	buffer := bufio.NewWriterSize(beside, 1<<16)
	err = write(buffer)
	err = errors.Join(err, buffer.Flush(), beside.Chmod(0o644))
	if err == nil {
		err = os.Rename(beside.Name(), h.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", h.path, err), beside.Close(), os.Remove(beside.Name()))
	}
	err, h.file = h.file.Close(), beside
	return err
}

// Close ends the writing; what is written later is refused.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
