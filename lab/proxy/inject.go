package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// forceStaleList replaces the fault of the requests that follow an expired watch. The client must list next: a
// streaming list is refused, and the list that follows is stale.
func (p *Proxy) forceStaleList(f fault, c Class, r *http.Request) fault {
	path := r.URL.Path
	switch {
	case f == watchExpired:
		p.staleNext[path] = true
	case c == Watch && p.staleNext[path] && r.URL.Query().Get("sendInitialEvents") == "true":
		return noStreamingList
	case c == List && p.staleNext[path] && r.URL.Query().Get("resourceVersion") != "":
		delete(p.staleNext, path)
		return staleList
	}
	return f
}

// injectFault applies the fault to the request.
func (p *Proxy) injectFault(w *gatedWriter, r *http.Request, c Class, f fault, d time.Duration) {
	switch f {
	case delayed:
		if !sleep(r.Context(), d) {
			panic(http.ErrAbortHandler)
		}
	case serverError:
		writeStatus(w, http.StatusInternalServerError, "InternalError", "injected by the proxy")
		return
	case throttled, throttledRetryAfter:
		if f == throttledRetryAfter {
			w.Header().Set("Retry-After", "1")
		}
		writeStatus(w, http.StatusTooManyRequests, "TooManyRequests", "injected by the proxy: too many requests")
		return
	case watchExpired:
		writeStatus(w, http.StatusGone, "Expired", "injected by the proxy: the resource version is too old")
		return
	case noStreamingList:
		writeStatus(w, http.StatusBadRequest, "BadRequest", "injected by the proxy: streaming lists are not supported")
		return
	case reset:
		panic(http.ErrAbortHandler)
	case serverErrorAfter, resetAfter, truncated:
		p.forwardThenFail(w, r, f)
		return
	case watchEnded, watchSilent:
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		if f == watchSilent {
			w.silentFrom = time.Now().Add(d / 4)
		}
		p.reverseProxy.ServeHTTP(w, r.WithContext(ctx))
		panic(http.ErrAbortHandler)
	case staleList:
		if p.options.ListCache != nil {
			if a, ok := p.options.ListCache.oldestResponse(r, p.options.Faults.StaleFor); ok {
				writeResponse(w, http.StatusOK, a.header, a.body)
				return
			}
		}
	}
	p.forwardRequest(w, r, c)
}

// forwardRequest forwards a request and caches list responses.
func (p *Proxy) forwardRequest(w *gatedWriter, r *http.Request, c Class) {
	if c != List || p.options.ListCache == nil {
		p.reverseProxy.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	p.reverseProxy.ServeHTTP(rec, r)
	if rec.Code == http.StatusOK {
		p.options.ListCache.addResponse(r, rec.Header(), rec.Body.Bytes())
	}
	writeResponse(w, rec.Code, rec.Header(), rec.Body.Bytes())
}

// forwardThenFail lets the server complete the request, even if the client disconnects, and then damages the response.
func (p *Proxy) forwardThenFail(w *gatedWriter, r *http.Request, f fault) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	sent := r.Clone(ctx)
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	rec := httptest.NewRecorder()
	p.reverseProxy.ServeHTTP(rec, sent)
	switch f {
	case serverErrorAfter:
		writeStatus(w, http.StatusInternalServerError, "InternalError", "injected by the proxy after the server completed the request")
	case truncated:
		h := rec.Header().Clone()
		h.Set("Content-Length", fmt.Sprint(rec.Body.Len()))
		writeResponse(w, rec.Code, h, rec.Body.Bytes()[:rec.Body.Len()/2])
		panic(http.ErrAbortHandler)
	default:
		w.answered()
		panic(http.ErrAbortHandler)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ServeHTTP handles one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := classify(r)
	p.mu.Lock()
	p.counts[c]++
	n := p.counts[c]
	f, d := p.options.Faults.pickFault(p.random, c, r)
	f = p.forceStaleList(f, c, r)
	if f != none {
		p.faultCounts[string(c)+" "+string(f)]++
	}
	p.mu.Unlock()
	if !p.waitWhileCut(r.Context()) {
		panic(http.ErrAbortHandler)
	}
	p.callHook(c, n, Arrived)
	if !p.waitWhileCut(r.Context()) { // the hook may have cut the proxy
		panic(http.ErrAbortHandler)
	}
	g := &gatedWriter{ResponseWriter: w, proxy: p, ctx: r.Context(), answered: sync.OnceFunc(func() { p.callHook(c, n, Answered) })}
	p.injectFault(g, r, c, f, d)
}

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
