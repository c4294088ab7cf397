package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPicturesAreWhatTheCommandDraws holds the README's pictures to `make pictures`; -update writes them.
func TestPicturesAreWhatTheCommandDraws(t *testing.T) {
	binary := ordinaryBinary(t)
	folder := filepath.Join(t.TempDir(), "run")
	output(t, binary, "run --lock redlock --scenario A1 --quiet --out "+folder)
	for file, fencing := range map[string]string{"a1-redlock-unfenced.svg": "off", "a1-redlock-fenced.svg": "on"} {
		path := filepath.Join("../../results/pictures", file)
		got := output(t, binary, "report "+folder+" --svg --fencing "+fencing)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not what the command draws: make pictures", path)
		}
	}
}
