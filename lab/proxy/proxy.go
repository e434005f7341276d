// Package proxy is a fault-injecting proxy between a client and the API server. The proxy acts like a bad network or an
// overloaded server: it delays, refuses, drops or truncates responses, serves outdated lists, and stops the events of
// watches.
//
// A seed determines which request gets which fault. The proxy adds no credentials, but forwards the client's
// credentials.
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
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
)

// Moment tells when the proxy calls a hook.
type Moment string

// A hook is called on Arrived before the proxy forwards the request, and on Answered before it returns the response.
const (
	Arrived  Moment = "arrived"
	Answered Moment = "answered"
)

// Options configure a proxy.
type Options struct {
	// Target is the address of the API server. CA is the certificate authority of the API server in PEM.
	Target string
	CA     []byte
	Seed   uint64
	Faults Faults
	HTTP2  bool
	// ListCache stores the list responses from which the proxy serves stale lists; nil disables stale lists.
	ListCache *ListCache
	// Hook is called for every request before it is forwarded, and again before its response is returned. n counts the
	// requests of the class, starting at 1.
	Hook func(c Class, n int, m Moment)
}

// Proxy is a TLS server in front of the API server.
type Proxy struct {
	options      Options
	server       *httptest.Server
	reverseProxy *httputil.ReverseProxy
	conns        *connTracker

	mu          sync.Mutex
	random      *rand.Rand
	counts      map[Class]int
	faultCounts map[string]int
	staleNext   map[string]bool // paths whose next list is stale
	gate        chan struct{}   // closed while requests may pass
	refuse      bool
}

// Start starts a proxy that serves until Close.
func Start(o Options) (*Proxy, error) {
	target, err := url.Parse(o.Target)
	if err != nil {
		return nil, fmt.Errorf("parsing the API server's address: %w", err)
	}
	pool := x509.NewCertPool()
	if len(o.CA) > 0 && !pool.AppendCertsFromPEM(o.CA) {
		return nil, errors.New("parsing the API server's certificate authority: the PEM data contains no certificate")
	}
	open := make(chan struct{})
	close(open)
	p := &Proxy{options: o, random: rand.New(rand.NewPCG(o.Seed, 5)), gate: open,
		counts: map[Class]int{}, faultCounts: map[string]int{}, staleNext: map[string]bool{}}
	quiet := stdlog.New(io.Discard, "", 0)
	p.reverseProxy = &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true,
			DisableCompression: true, MaxIdleConnsPerHost: 64},
		FlushInterval: -1, ErrorLog: quiet,
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = httptest.NewUnstartedServer(p)
	p.conns = &connTracker{Listener: p.server.Listener, open: map[net.Conn]bool{}}
	p.server.Listener, p.server.EnableHTTP2, p.server.Config.ErrorLog = p.conns, o.HTTP2, quiet
	p.server.StartTLS()
	return p, nil
}

// URL returns the address of the proxy.
func (p *Proxy) URL() string { return p.server.URL }

// CA returns the certificate authority of the proxy in PEM.
func (p *Proxy) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
}

// Close stops the proxy and closes every connection.
func (p *Proxy) Close() {
	p.Cut(true) // releases requests that wait at the gate
	p.Restore()
	p.conns.closeAll()
	p.server.Close()
	if t, ok := p.reverseProxy.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Cut stops all traffic in both directions. With refuse, it closes connections and rejects new requests; otherwise
// requests wait until Restore.
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

// Restore lets traffic pass again.
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

// FaultCounts returns the number of injected faults, keyed by "class fault".
func (p *Proxy) FaultCounts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.faultCounts)
}

// waitWhileCut waits while traffic through the proxy is cut. waitWhileCut returns false if the request must be aborted.
func (p *Proxy) waitWhileCut(ctx context.Context) bool {
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

func (p *Proxy) callHook(c Class, n int, m Moment) {
	if p.options.Hook != nil {
		p.options.Hook(c, n, m)
	}
}
