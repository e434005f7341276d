package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// HintSource knows which nodes have the pressure hint.
type HintSource interface {
	// HintedNodes returns the names of the nodes with the hint, and the value of the hint label.
	// The result enabled is false if hints are disabled.
	HintedNodes() (nodes []string, value string, enabled bool)
}

// nodesAnswer has the same JSON fields as the answer to GET /nodes of dynamicScheduler.
type nodesAnswer struct {
	Type      string   `json:"type"`
	Num       int      `json:"num"`
	NodeNames []string `json:"node_names"`
}

// HintRoutes returns the two routes of dynamicScheduler. GET /status answers "ok", and GET /nodes
// returns the sorted names of the hinted nodes. Both routes answer 404 if hints are disabled.
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
			names := append([]string{}, nodes...) // an empty list is encoded as [], not null
			slices.Sort(names)
			w.Header().Set("Content-Type", "application/json")
			// An error means that the client closed the connection.
			_ = json.NewEncoder(w).Encode(nodesAnswer{"Label type=" + value + " Nodes", len(names), names})
		})},
	}
}
