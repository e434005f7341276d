package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"
)

// doom sees to it that a watch that lapsed is followed by a list, not by a stream,
// and that the list is stale.
func (p *Proxy) doom(f fault, c Class, r *http.Request) fault {
	path := r.URL.Path
	switch {
	case f == lapsed:
		p.doomed[path] = true
	case c == Watch && p.doomed[path] && r.URL.Query().Get("sendInitialEvents") == "true":
		return noWatches
	case c == List && p.doomed[path] && r.URL.Query().Get("resourceVersion") != "":
		delete(p.doomed, path)
		return stale
	}
	return f
}

// deal lets the fault happen.
func (p *Proxy) deal(w *gated, r *http.Request, c Class, f fault, d time.Duration) {
	switch f {
	case late:
		if !rest(r.Context(), d) {
			panic(http.ErrAbortHandler)
		}
	case broken:
		status(w, http.StatusInternalServerError, "InternalError", "the proxy's error")
		return
	case throttled, throttledR:
		if f == throttledR {
			w.Header().Set("Retry-After", "1")
		}
		status(w, http.StatusTooManyRequests, "TooManyRequests", "the proxy asks to slow down")
		return
	case lapsed:
		status(w, http.StatusGone, "Expired", "the proxy says that the version is too old")
		return
	case noWatches:
		status(w, http.StatusBadRequest, "BadRequest", "the proxy has no streaming lists")
		return
	case reset:
		panic(http.ErrAbortHandler)
	case brokenDone, resetDone, half:
		p.done(w, r, f)
		return
	case cut, stalled:
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		if f == stalled {
			w.silentFrom = time.Now().Add(d / 4)
		}
		p.forward.ServeHTTP(w, r.WithContext(ctx))
		panic(http.ErrAbortHandler)
	case stale:
		if p.o.Copies != nil {
			if a, ok := p.o.Copies.old(r, p.o.Faults.StaleFor); ok {
				send(w, http.StatusOK, a.header, a.body)
				return
			}
		}
	}
	p.pass(w, r, c)
}

// pass forwards; lists are copied on their way back.
func (p *Proxy) pass(w *gated, r *http.Request, c Class) {
	if c != List || p.o.Copies == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	p.forward.ServeHTTP(rec, r)
	if rec.Code == http.StatusOK {
		p.o.Copies.put(r, rec.Header(), rec.Body.Bytes())
	}
	send(w, rec.Code, rec.Header(), rec.Body.Bytes())
}

// done has the server carry the request out, also when the client has gone, and
// then spoils the answer.
func (p *Proxy) done(w *gated, r *http.Request, f fault) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	sent := r.Clone(ctx)
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	rec := httptest.NewRecorder()
	p.forward.ServeHTTP(rec, sent)
	switch f {
	case brokenDone:
		status(w, http.StatusInternalServerError, "InternalError", "the proxy's error, after the request was carried out")
	case half:
		h := rec.Header().Clone()
		h.Set("Content-Length", fmt.Sprint(rec.Body.Len()))
		send(w, rec.Code, h, rec.Body.Bytes()[:rec.Body.Len()/2])
		panic(http.ErrAbortHandler)
	default:
		w.answered()
		panic(http.ErrAbortHandler)
	}
}

func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
