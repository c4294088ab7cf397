package docker

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	moby "github.com/moby/moby/client"
)

// engineThat pretends to be an engine that answers requests to remove a network with these statuses, one after another.
func engineThat(t *testing.T, answers ...int) *moby.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		if r.Method != http.MethodDelete || len(answers) == 0 {
			return
		}
		w.WriteHeader(answers[0])
		if answers[0] >= 400 {
			fmt.Fprint(w, `{"message":"no"}`)
		}
		answers = answers[1:]
	}))
	t.Cleanup(server.Close)
	engine, err := moby.New(moby.WithHost(strings.Replace(server.URL, "http", "tcp", 1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// TestNetworkIsRemovedOnceItIsFree: the engine takes containers off their network some time after they are gone.
func TestNetworkIsRemovedOnceItIsFree(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []int
		fails   bool
	}{
		{"in use at first", []int{http.StatusForbidden, http.StatusForbidden, http.StatusNoContent}, false},
		{"gone already", []int{http.StatusNotFound}, false},
		{"a failure", []int{http.StatusInternalServerError, http.StatusNoContent}, true},
	} {
		if err := removeNetwork(context.Background(), engineThat(t, c.answers...), "id"); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
