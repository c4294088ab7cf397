package page_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/page"
)

// BenchmarkPage writes the page of a comparison of the whole catalogue.
func BenchmarkPage(b *testing.B) {
	folder := comparisonFolder(b)
	report, err := results.Load(folder)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := page.Write(io.Discard, report, func(r results.Run) (page.Files, error) {
			text, err := os.ReadFile(filepath.Join(folder, r.Dir, results.HistoryFile))
			return page.Files{History: text}, err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
