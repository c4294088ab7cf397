// Package serve shows a store of runs in a browser: by lock, scenario and date, two side by side, and one that is under way
// as it grows.
//
// It trusts nobody. It answers GET and HEAD only. Whatever name a request has, it opens files beneath the store's folder
// through an os.Root, so that neither ".." nor a symbolic link leads out. What it shows of a history goes through
// html/template, or through package page, which is asked anew for every page: a stored index.html is never sent. A
// Content-Security-Policy lets nothing run but the script of that answer. And it answers to "localhost", to addresses and
// to the name that it was told to listen on, so that no foreign site can reach it by a name that it makes resolve here
// (DNS rebinding).
package serve

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/page"
)

//go:embed *.html *.css live.js
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"cell": cellAnchor}).ParseFS(files, "*.html"))

// Server shows one store. Safe for concurrent use.
type Server struct {
	root     *os.Root
	host     string // that it was told to listen on
	scenario func(plan []byte) ([]byte, error)
	cache    cache
}

// New makes a server of the store in a folder, which must be there. Host is the name or address that it is to listen on.
// Scenario finds the scenario's text in a plan. Close frees the folder.
func New(folder, host string, scenario func(plan []byte) ([]byte, error)) (*Server, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run is stored in %s yet: lockfault compare makes one", folder)
	}
	if err != nil {
		return nil, err
	}
	return &Server{root: root, host: host, scenario: scenario}, nil
}

// Close frees the folder.
func (s *Server) Close() error { return s.root.Close() }

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /run/{name}", s.run)
	mux.HandleFunc("GET /live/{name}", s.live)
	mux.HandleFunc("GET /live/{name}/events", s.events)
	mux.HandleFunc("GET /side", s.side)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.known(r.Host) {
			http.Error(w, "this server is known by another name", http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy(""))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// known tells whether a request was meant for this server. An address cannot be made to resolve to another.
func (s *Server) known(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || s.host != "" && strings.EqualFold(host, s.host)
}

// policy lets run what the hash of a script allows; pages of ours may frame each other.
func policy(script string) string {
	if script == "" {
		script = "'none'"
	}
	return "default-src 'none'; script-src " + script + "; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; frame-src 'self'; " +
		"frame-ancestors 'self'; base-uri 'none'; form-action 'self'"
}

// names lists the folders of the store, newest first. A symbolic link is none.
func (s *Server) names() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// folder opens one of them for a request, or answers that there is none.
func (s *Server) folder(w http.ResponseWriter, name string) *os.Root {
	names, err := s.names()
	if err != nil || !slices.Contains(names, name) {
		http.Error(w, "there is no such run in the store", http.StatusNotFound)
		return nil
	}
	root, err := s.root.OpenRoot(name)
	if err != nil {
		http.Error(w, "the run cannot be opened", http.StatusInternalServerError)
		return nil
	}
	return root
}

// run shows a stored run as its page, or a run that is under way.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	if names, err := s.names(); r.PathValue("name") == "latest" && err == nil && len(names) > 0 {
		http.Redirect(w, r, "/run/"+url.PathEscape(names[0]), http.StatusSeeOther)
		return
	}
	root := s.folder(w, r.PathValue("name"))
	if root == nil {
		return
	}
	defer root.Close()
	report, err := s.cache.report(root, r.PathValue("name"))
	if errors.Is(err, fs.ErrNotExist) {
		http.Redirect(w, r, "/live/"+url.PathEscape(r.PathValue("name")), http.StatusSeeOther)
		return
	}
	var out bytes.Buffer
	if err == nil {
		err = page.Write(&out, report, s.source(root))
	}
	if err != nil {
		http.Error(w, "the run cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", page.Policy()+"; frame-ancestors 'self'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the reader went away
}

// source opens the files of runs beneath a folder.
func (s *Server) source(root *os.Root) page.Source {
	return func(r results.Run) (page.Files, error) {
		files, err := results.OpenRun(root, r)
		if err != nil {
			return page.Files{}, err
		}
		out := page.Files{History: files.History, Plan: files.Plan}
		if files.Plan != nil && s.scenario != nil {
			out.Scenario, err = s.scenario(files.Plan)
		}
		return out, err
	}
}

// render answers with a page of ours. Script is the hash of the script in it, if any.
func render(w http.ResponseWriter, name, script string, data any) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", policy(script))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the reader went away
}

// style is the page's own, and what these lists need beyond it.
func style() template.CSS {
	own, err := files.ReadFile("serve.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return template.CSS(page.Style() + string(own))
}

func cellAnchor(name string, r results.Run) string {
	return "/run/" + url.PathEscape(name) + page.Anchor(r)
}
