package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockfault/lockfault/checker/history"
)

// convert writes the history in another format.
func (c *call) convert(f *checkFlags) (err error) {
	out := c.stdout
	if f.out != "" {
		if sameFile(f.out, c.args[0]) {
			return usagef("-o %s: that is the history itself", f.out)
		}
		file, failed := os.Create(f.out)
		if failed != nil {
			return fmt.Errorf("-o: %w", failed)
		}
		defer func() {
			if err = errors.Join(err, file.Close()); err != nil {
				err = errors.Join(err, os.Remove(f.out)) // half a history would be taken for a whole one
			}
		}()
		out = file
	}
	if f.to == "jsonl" && f.resource == "" {
		return c.stream(out)
	}
	h, err := c.readHistory(c.args[0], f.resource)
	if err != nil {
		return err
	}
	if f.to == "edn" {
		return history.WriteEDN(out, h.events)
	}
	lines := bufio.NewWriter(out)
	w := history.NewWriter(lines)
	for i := range h.events {
		if err := w.Write(h.events[i]); err != nil {
			return err
		}
	}
	return lines.Flush()
}

// stream writes JSON lines while it reads: a history of any size goes through.
func (c *call) stream(out io.Writer) error {
	in, err := c.files.open(c.args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewWriter(out)
	w := history.NewWriter(lines)
	reader := history.NewReader(in.Reader, shown(c.args[0]))
	for event, err := range reader.Events() {
		if err == nil {
			err = w.Write(event)
		}
		if err != nil {
			return errors.Join(err, lines.Flush())
		}
	}
	c.warn(reader)
	return lines.Flush()
}
