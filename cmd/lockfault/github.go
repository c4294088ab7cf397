package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockfault/lockfault/results"
)

// summaryLimit is what GitHub takes of a step's summary, in bytes.
const summaryLimit = 1 << 20

// tellGitHub annotates what somebody should look at and writes the step's summary, when GitHub Actions runs this. Annotations
// go to standard error: standard output may be a document.
func (c *call) tellGitHub(report results.Report) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	err := results.WriteAnnotations(c.stderr, report)
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "## lockfault %s\n\n", c.verb.name)
	err = errors.Join(err, results.WriteMarkdown(&text, report))
	if text.Len() > summaryLimit/2 { // other steps' is in the same file, perhaps
		report = report.Odd()
		text.Reset()
		fmt.Fprintf(&text, "## lockfault %s: what is not as expected\n\n", c.verb.name)
		err = errors.Join(err, results.WriteMarkdown(&text, report))
	}
	file, openErr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if openErr != nil {
		return errors.Join(err, fmt.Errorf("GITHUB_STEP_SUMMARY: %w", openErr))
	}
	_, writeErr := file.Write(text.Bytes()[:min(text.Len(), summaryLimit/2)])
	return errors.Join(err, writeErr, file.Close())
}

// programFile is the file in a command that somebody would look at: the first below the working directory; empty if there is
// none.
func programFile(command string) string {
	for _, word := range strings.Fields(command) {
		if !filepath.IsLocal(word) {
			continue
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			return word
		}
	}
	return ""
}
