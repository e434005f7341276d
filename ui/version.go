package ui

import (
	"encoding/json"
	"net/http"
	"time"
)

// version is what a page asks for, to see whether it must be read again.
type version struct {
	Version string `json:"version"`
	Live    bool   `json:"live"`
	Now     string `json:"now"`
	Since   string `json:"since,omitempty"`
}

func (s *Server) showVersion(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "", "")
	v := version{Version: q.page.Version, Live: q.NotLive == "", Now: q.now.Format(time.TimeOnly), Since: q.NotLive}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}
