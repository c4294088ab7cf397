package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/lockfault/lockfault/results"
)

// every is how often a run that is under way is looked at. Only tests change it.
var every = 500 * time.Millisecond

// tailBytes is how much of a growing history is looked at for its last events.
const tailBytes = 8 << 10

// state is what is known of a run that is under way.
type state struct {
	Judged  int      `json:"judged"`  // runs whose files are whole
	Begun   int      `json:"begun"`   // histories
	Bytes   int64    `json:"bytes"`   // of all histories
	Current string   `json:"current"` // the one that grew last
	Tail    []string `json:"tail"`    // its last events
	Done    bool     `json:"done"`    // there are verdicts
}

func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	root := s.folder(w, r.PathValue("name"))
	if root == nil {
		return
	}
	defer root.Close()
	script, err := files.ReadFile("live.js")
	if err != nil {
		panic(err) // it is part of the program
	}
	sum := sha256.Sum256(script)
	render(w, "live.html", "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", struct {
		Style  template.CSS
		Script template.JS
		Name   string
		State  state
	}{style(), template.JS(script), r.PathValue("name"), look(root)})
}

// events sends the state whenever it changes, as server-sent events, until the run has its verdicts or the reader leaves.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	root := s.folder(w, r.PathValue("name"))
	if root == nil {
		return
	}
	defer root.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := ""
	for {
		now := look(root)
		text, err := json.Marshal(now)
		if err != nil {
			return
		}
		if string(text) != last {
			last = string(text)
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || out.Flush() != nil {
				return
			}
		}
		if now.Done {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// look counts what is there. Files that vanish meanwhile do not count.
func look(root *os.Root) state {
	s := state{Tail: []string{}}
	var latest time.Time
	_ = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error { // which follows no link
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		switch path.Base(name) {
		case results.VerdictsFile:
			if path.Dir(name) == "." {
				s.Done = true
			}
		case results.PlanFile:
			s.Judged++
		case results.HistoryFile:
			info, err := e.Info()
			if err != nil {
				return nil
			}
			s.Begun++
			s.Bytes += info.Size()
			if info.ModTime().After(latest) && info.Size() > 0 {
				latest, s.Current = info.ModTime(), name
			}
		}
		return nil
	})
	if s.Current != "" {
		s.Tail = tail(root, s.Current)
		s.Current = path.Dir(s.Current)
	}
	return s
}

// tail is the last events of a history, of which the last may be half written.
func tail(root *os.Root, name string) []string {
	f, err := root.Open(name)
	if err != nil {
		return []string{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return []string{}
	}
	from := max(0, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return []string{}
	}
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	const most = 15
	lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
	lines = lines[:len(lines)-1] // what follows the last line break is not whole
	return lines[max(0, len(lines)-most):]
}
