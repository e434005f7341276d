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

// forceStaleList continues the fault of an expired watch. The client must list next, so a streaming list is refused,
// and the list it gets is stale.
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

// inject applies the fault to the request.
func (p *Proxy) deal(w *gated, r *http.Request, c Class, f fault, d time.Duration) {
	switch f {
	case late:
		if !rest(r.Context(), d) {
			panic(http.ErrAbortHandler)
		}
	case broken:
		status(w, http.StatusInternalServerError, "InternalError", "injected by the proxy")
		return
	case throttled, throttledR:
		if f == throttledR {
			w.Header().Set("Retry-After", "1")
		}
		status(w, http.StatusTooManyRequests, "TooManyRequests", "injected by the proxy: too many requests")
		return
	case lapsed:
		status(w, http.StatusGone, "Expired", "injected by the proxy: the resource version is too old")
		return
	case noWatches:
		status(w, http.StatusBadRequest, "BadRequest", "injected by the proxy: streaming lists are not supported")
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

// forwardRequest forwards a request and caches list responses.
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

// forwardThenFail lets the server complete the request, even if the client has gone, and then damages the response.
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
		status(w, http.StatusInternalServerError, "InternalError", "injected by the proxy after the server completed the request")
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
