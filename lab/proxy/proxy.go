package proxy

import (
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
	doomed map[string]bool // paths whose next list is stale
	gate   chan struct{}   // open while it is closed
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
	p := &Proxy{o: o, rnd: rand.New(rand.NewPCG(o.Seed, 5)), counts: map[Class]int{}, dealt: map[string]int{}, doomed: map[string]bool{}, gate: open}
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
	f = p.doom(f, c, r)
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
