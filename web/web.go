// Package web serves health, metrics, usage and hints over HTTP. The package makes no decisions
// about the cluster and accepts no request that changes anything.
package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Route is an additional handler and its pattern for http.ServeMux, such as GET /nodes. Patterns have no wildcards.
type Route struct {
	Pattern string
	Handler http.Handler
}

// maxInFlight is the maximum number of concurrent requests for metrics, and for the watcher routes.
const maxInFlight = 4

// maxHeaderBytes bounds the header of a request. Bearer tokens may have several kilobytes.
const maxHeaderBytes = 1 << 14

const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = time.Minute
	// metricsTimeout bounds the collection of the metrics.
	metricsTimeout = 20 * time.Second
	// shutdownTimeout is how long Serve waits for requests in progress.
	shutdownTimeout = 5 * time.Second
)

// Authorizer decides which clients may read a path.
type Authorizer interface {
	// Authorize returns the handler of a path that answers only clients that may get the path.
	Authorize(path string, h http.Handler) http.Handler
}

// Server serves /livez, /readyz, /metrics and additional routes.
type Server struct {
	Health  Health
	Metrics prometheus.Gatherer
	Routes  []Route
	// Certificate makes the server use TLS; nil means plain HTTP.
	Certificate *Certificate
	// Authorizer protects all paths but /livez and /readyz; nil means that every client may read them.
	Authorizer Authorizer
	Log        *slog.Logger
}

// Serve answers requests on the listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Certificate != nil {
		l = tls.NewListener(l, s.Certificate.config())
	}
	srv := newHTTPServer(s.Handler(), s.Log)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving health and metrics: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		return fmt.Errorf("closing the health server: %w", err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving health and metrics: %w", err)
	}
	return nil
}

// newHTTPServer returns a server that bounds the size and the time of requests. What clients do wrong, such as
// scanning a port, is logged at level debug.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), Protocols: new(http.Protocols),
	}
	srv.Protocols.SetHTTP1(true)
	return srv
}

// Handler serves the health, metrics and additional routes. GET /readyz answers 200 if its checks succeed, whether or
// not this process leads.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.Health.add(mux)
	metrics := promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: maxInFlight, Timeout: metricsTimeout})
	for _, r := range append([]Route{{"GET /metrics", metrics}}, s.Routes...) {
		if s.Authorizer != nil {
			r.Handler = s.Authorizer.Authorize(r.path(), r.Handler)
		}
		mux.Handle(r.Pattern, r.Handler)
	}
	return mux
}

// path returns the path of the pattern.
func (r Route) path() string { return r.Pattern[strings.Index(r.Pattern, "/"):] }
