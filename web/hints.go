package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// HintSource tells which nodes carry the pressure hint.
type HintSource interface {
	// Hinted are the names of the nodes that carry it, and the value of its label;
	// on is false where there are no hints.
	HintedNodes() (nodes []string, value string, on bool)
}

// nodesAnswer is the answer of dynamicScheduler's GET /nodes, word for word.
type nodesAnswer struct {
	Type      string   `json:"type"`
	Num       int      `json:"num"`
	NodeNames []string `json:"node_names"`
}

// HintRoutes answers as dynamicScheduler does: GET /status with ok, and GET /nodes with
// the nodes that carry the label, in order. Both are not found while there are no
// hints.
func HintRoutes(h HintSource) []Route {
	answer := func(f func(w http.ResponseWriter, nodes []string, value string)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			nodes, value, on := h.HintedNodes()
			if !on {
				http.NotFound(w, r)
				return
			}
			f(w, nodes, value)
		})
	}
	return []Route{
		{"GET /status", answer(func(w http.ResponseWriter, _ []string, _ string) { fmt.Fprint(w, "ok") })},
		{"GET /nodes", answer(func(w http.ResponseWriter, nodes []string, value string) {
			names := append([]string{}, nodes...) // never null
			slices.Sort(names)
			w.Header().Set("Content-Type", "application/json")
			// A client that has gone away cannot be told.
			_ = json.NewEncoder(w).Encode(nodesAnswer{"Label type=" + value + " Nodes", len(names), names})
		})},
	}
}
