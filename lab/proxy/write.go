package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
)

// gatedWriter is a response writer that blocks while the proxy is cut.
type gated struct {
	http.ResponseWriter
	p        *Proxy
	ctx      context.Context
	answered func()
	// silentFrom is the time from which the writer drops data; zero means never.
	silentFrom time.Time
}

var errCut = errors.New("the proxy is cut")

func (g *gated) WriteHeader(code int) {
	g.answered()
	if !g.p.passes(g.ctx) {
		panic(http.ErrAbortHandler)
	}
	g.ResponseWriter.WriteHeader(code)
}

func (g *gated) Write(b []byte) (int, error) {
	g.answered()
	if !g.p.passes(g.ctx) {
		return 0, errCut
	}
	if !g.silentFrom.IsZero() && time.Now().After(g.silentFrom) {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// Flush sends buffered data.
func (g *gated) Flush() {
	if f, ok := g.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// writeStatus writes a Status object like an API server.
func status(w http.ResponseWriter, code int, reason, message string) {
	b, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure",
		"code": code, "reason": reason, "message": message})
	h := w.Header().Clone()
	h.Set("Content-Type", "application/json")
	send(w, code, h, b)
}

func send(w http.ResponseWriter, code int, header http.Header, body []byte) {
	maps.Copy(w.Header(), header)
	w.WriteHeader(code)
	_, _ = w.Write(body)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// connTracker is a listener that can close all its connections at once.
type conns struct {
	net.Listener
	mu   sync.Mutex
	open map[net.Conn]bool
}

// Accept waits for the next connection.
func (l *conns) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := &conn{c, l}
	l.open[k] = true
	return k, nil
}

func (l *conns) closeAll() {
	l.mu.Lock()
	var all []net.Conn
	for c := range l.open {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

type conn struct {
	net.Conn
	l *conns
}

// Close closes the connection.
func (c *conn) Close() error {
	c.l.mu.Lock()
	delete(c.l.open, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}
