// Package web serves health, metrics, usage and hints over HTTP. The package makes no decisions
// about the cluster and accepts no request that changes anything.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Route is an additional handler and its pattern for http.ServeMux.
type Route struct {
	Pattern string
	Handler http.Handler
}

// maxInFlight is the maximum number of concurrent requests for metrics, and for the watcher routes.
const maxInFlight = 4

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

// Health says whether this process works.
type Health struct {
	// Live returns an error if only a restart helps; nil means that there is no such check.
	Live func() error
	// Ready reports whether the initial list of cluster objects is complete.
	Ready func() bool
}

// Serve answers /livez, /readyz, /metrics and the additional routes on the listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, health Health, registry *prometheus.Registry, more ...Route) error {
	srv := &http.Server{
		Handler:           Handler(health, registry, more...),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 1 << 14,
	}
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

// Handler serves the health, metrics and additional routes. GET /livez answers 200 unless Live returns an error. GET
// /readyz answers 200 if Ready returns true, whether or not this process leads.
func Handler(health Health, registry *prometheus.Registry, more ...Route) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		if health.Live != nil {
			if err := health.Live(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !health.Ready() {
			http.Error(w, "the initial list of cluster objects is not complete yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle(
		"GET /metrics",
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxInFlight, Timeout: metricsTimeout}),
	)
	for _, r := range more {
		mux.Handle(r.Pattern, r.Handler)
	}
	return mux
}
