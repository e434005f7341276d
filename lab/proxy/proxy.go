package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Moment is when a hook is called.
type Moment string

// A request has arrived; its answer has.
const (
	Arrived  Moment = "arrived"
	Answered Moment = "answered"
)

// Options say what a proxy is.
type Options struct {
	// Target is the API server, CA its certificate authority (PEM).
	Target string
	CA     []byte
	Seed   uint64
	Faults Faults
	HTTP2  bool
	// Copies are filled and used for stale lists; nil: none are stale.
	Copies *Copies
	// Hook is told of every request, before it is forwarded, and again before its
	// answer goes back. n counts the requests of the class, from 1.
	Hook func(c Class, n int, m Moment)
}

// Proxy is a TLS server of its own in front of the API server.
type Proxy struct {
	o       Options
	srv     *httptest.Server
	forward *httputil.ReverseProxy
	conns   *conns

	mu     sync.Mutex
	rnd    *rand.Rand
	counts map[Class]int
	dealt  map[string]int
	gate   chan struct{} // open while it is closed
	refuse bool
}

// Start serves until Close.
func Start(o Options) (*Proxy, error) {
	target, err := url.Parse(o.Target)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	pool := x509.NewCertPool()
	if len(o.CA) > 0 && !pool.AppendCertsFromPEM(o.CA) {
		return nil, errors.New("reading the API server's certificate authority: no certificate in it")
	}
	open := make(chan struct{})
	close(open)
	p := &Proxy{o: o, rnd: rand.New(rand.NewPCG(o.Seed, 5)), counts: map[Class]int{}, dealt: map[string]int{}, gate: open}
	quiet := stdlog.New(io.Discard, "", 0)
	p.forward = &httputil.ReverseProxy{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 64},
		FlushInterval: -1, ErrorLog: quiet,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.srv = httptest.NewUnstartedServer(p)
	p.conns = &conns{Listener: p.srv.Listener, open: map[net.Conn]bool{}}
	p.srv.Listener, p.srv.EnableHTTP2, p.srv.Config.ErrorLog = p.conns, o.HTTP2, quiet
	p.srv.StartTLS()
	return p, nil
}

// URL is where it listens, CA the authority to trust (PEM).
func (p *Proxy) URL() string { return p.srv.URL }

// CA is the certificate authority to trust.
func (p *Proxy) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.srv.Certificate().Raw})
}

// Close ends it and every connection.
func (p *Proxy) Close() {
	p.Cut(true) // so that nothing waits for the gate
	p.Restore()
	p.conns.closeAll()
	p.srv.Close()
	if t, ok := p.forward.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Cut lets nothing through any more, in either direction. With refuse,
// connections end and new requests too; without, everybody waits.
func (p *Proxy) Cut(refuse bool) {
	p.mu.Lock()
	p.refuse = refuse
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default:
	}
	p.mu.Unlock()
	if refuse {
		p.conns.closeAll()
	}
}

// Restore lets everything through again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = false
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// Dealt counts what befell requests: "class fault".
func (p *Proxy) Dealt() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int{}
	for k, n := range p.dealt {
		out[k] = n
	}
	return out
}

// passes waits while the proxy is cut; false: the request must end.
func (p *Proxy) passes(ctx context.Context) bool {
	p.mu.Lock()
	gate, refuse := p.gate, p.refuse
	p.mu.Unlock()
	select {
	case <-gate:
		return true
	default:
	}
	if refuse {
		return false
	}
	select {
	case <-gate:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (p *Proxy) hook(c Class, n int, m Moment) {
	if p.o.Hook != nil {
		p.o.Hook(c, n, m)
	}
}

// ServeHTTP deals with one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := classify(r)
	p.mu.Lock()
	p.counts[c]++
	n := p.counts[c]
	f, d := p.o.Faults.draw(p.rnd, c, r)
	if f != none {
		p.dealt[string(c)+" "+string(f)]++
	}
	p.mu.Unlock()
	if !p.passes(r.Context()) {
		panic(http.ErrAbortHandler)
	}
	p.hook(c, n, Arrived)
	if !p.passes(r.Context()) { // the hook may have cut it
		panic(http.ErrAbortHandler)
	}
	g := &gated{ResponseWriter: w, p: p, ctx: r.Context(), answered: sync.OnceFunc(func() { p.hook(c, n, Answered) })}
	p.deal(g, r, c, f, d)
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
