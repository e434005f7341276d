package web_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/web"
)

type fakeHints struct {
	nodes []string
	on    bool
}

func (h *fakeHints) HintedNodes() ([]string, string, bool) { return h.nodes, "presure", h.on }

// Evenkeel returns the same bytes as dynamicScheduler, with sorted names and [] for an empty
// list. If hints are disabled, it answers 404.
func TestDynamicSchedulersAnswers(t *testing.T) {
	h := &fakeHints{}
	mux := (&web.Server{Metrics: metrics.New("v1", "abc").Registry, Routes: web.HintRoutes(h)}).Handler()
	for _, path := range []string{"/status", "/nodes"} {
		if code, _ := getPage(t, mux, "GET", path); code != 404 {
			t.Errorf("got status %[2]d for %[1]s with hints disabled", path, code)
		}
	}
	h.on = true
	if code, body := getPage(t, mux, "GET", "/status"); code != 200 || body != "ok" {
		t.Errorf("/status: %d %q", code, body)
	}
	for want, nodes := range map[string][]string{
		`{"type":"Label type=presure Nodes","num":0,"node_names":[]}`:        nil,
		`{"type":"Label type=presure Nodes","num":2,"node_names":["a","b"]}`: {"b", "a"},
	} {
		h.nodes = nodes
		if code, body := getPage(t, mux, "GET", "/nodes"); code != 200 || body != want+"\n" {
			t.Errorf("got status %d and body %s for /nodes, want %s", code, body, want)
		}
	}
	if code, _ := getPage(t, mux, "POST", "/nodes"); code != 405 {
		t.Errorf("POST: %d", code)
	}
}
