package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"
)

// gatedWriter is a response writer that blocks while traffic through the proxy is cut.
type gatedWriter struct {
	http.ResponseWriter
	proxy    *Proxy
	ctx      context.Context
	answered func()
	// silentFrom is the time after which the writer drops data; zero means that it drops nothing.
	silentFrom time.Time
}

var errCut = errors.New("the proxy is cut")

func (g *gatedWriter) WriteHeader(code int) {
	g.answered()
	if !g.proxy.waitWhileCut(g.ctx) {
		panic(http.ErrAbortHandler)
	}
	g.ResponseWriter.WriteHeader(code)
}

func (g *gatedWriter) Write(b []byte) (int, error) {
	g.answered()
	if !g.proxy.waitWhileCut(g.ctx) {
		return 0, errCut
	}
	if !g.silentFrom.IsZero() && time.Now().After(g.silentFrom) {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// Flush sends buffered data.
func (g *gatedWriter) Flush() {
	if f, ok := g.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// writeStatus writes a Status object like an API server.
func writeStatus(w http.ResponseWriter, code int, reason, message string) {
	b, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure",
		"code": code, "reason": reason, "message": message})
	h := w.Header().Clone()
	h.Set("Content-Type", "application/json")
	writeResponse(w, code, h, b)
}

func writeResponse(w http.ResponseWriter, code int, header http.Header, body []byte) {
	maps.Copy(w.Header(), header)
	w.WriteHeader(code)
	_, _ = w.Write(body)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
