package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLibrariesRunTheCatalogueTheSameWayTwice, byte for byte, in under a minute each time: redsync draws from math/rand's
// global source, which each child of the command seeds. rueidislock cannot be seeded; see results/libraries.md.
func TestLibrariesRunTheCatalogueTheSameWayTwice(t *testing.T) {
	binary := ordinaryBinary(t)
	var folders []string
	for _, name := range []string{"one", "two"} {
		folder := filepath.Join(t.TempDir(), name)
		began := time.Now()
		output(t, binary, "compare --locks redsync,redsync-5,redislock --seed 7 --quiet --out "+folder)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("took %v", took)
		}
		folders = append(folders, folder)
	}
	histories := 0
	err := filepath.WalkDir(folders[0], func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "history.jsonl" {
			return err
		}
		histories++
		name, err := filepath.Rel(folders[0], path)
		if err != nil {
			return err
		}
		one, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		two, err := os.ReadFile(filepath.Join(folders[1], name))
		if err == nil && !bytes.Equal(one, two) {
			t.Errorf("%s differs", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if histories < 60 {
		t.Errorf("only %d histories", histories)
	}
}
