package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/web"
	"github.com/evenkeel-project/evenkeel/web/access"
)

// servingFlags say what is served, to whom, and where.
type servingFlags struct {
	certFile, keyFile string // both empty: plain HTTP
	bind, debug       string
	authorize         bool
	audiences         []string
}

// add adds the flags to fl.
func (f *servingFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.bind, "bind-address", ":8080",
		"address that serves /livez, /readyz, /metrics and, if enabled, /watcher, /status and /nodes; ignored with --once")
	fl.StringVar(&f.certFile, "tls-cert-file", "",
		"PEM file with the certificate with which --bind-address serves HTTPS; Evenkeel reads the file again when it changes (default: plain HTTP)")
	fl.StringVar(&f.keyFile, "tls-private-key-file", "", "PEM file with the private key for --tls-cert-file")
	fl.BoolVar(&f.authorize, "authorize-metrics", false,
		"require a bearer token for all paths except /livez and /readyz; the token's owner must have permission to get the path (TokenReview, SubjectAccessReview)")
	fl.StringSliceVar(&f.audiences, "metrics-audiences", nil,
		"with --authorize-metrics: accepted token audiences (default: the API server's audiences)")
	fl.StringVar(&f.debug, "debug-address", "",
		"loopback address that serves /debug/pprof/ and /configz, such as 127.0.0.1:6060; ignored with --once (default: not served)")
}

// check validates the flags without reading files. The error names the flag and says what to set.
func (f *servingFlags) check() error {
	host, err := checkAddress("--bind-address", f.bind)
	if err != nil {
		return err
	}
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file belong together (want both, or none of them for plain HTTP)")
	case f.authorize && f.certFile == "" && !web.IsLoopback(host):
		return fmt.Errorf("--authorize-metrics: bearer tokens would cross the network without encryption on --bind-address %s "+
			"(want --tls-cert-file and --tls-private-key-file, or a loopback address such as localhost:8080)", f.bind)
	case len(f.audiences) > 0 && !f.authorize:
		return errors.New("--metrics-audiences: no tokens are checked without --authorize-metrics")
	case f.debug == "":
		return nil
	}
	host, err = checkAddress("--debug-address", f.debug)
	if err == nil && !web.IsLoopback(host) {
		err = fmt.Errorf("--debug-address: %s is not a loopback address, and profiles and the configuration need no authentication "+
			"(want 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; use kubectl port-forward)", f.debug)
	}
	return err
}

// checkAddress checks a flag and returns the host of the address.
func checkAddress(flag, address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%s: %q is not an address (want HOST:PORT, or :PORT for every address)", flag, address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("%s: %q is not a port (want 1 to 65535, or 0 for any free port)", flag, port)
	}
	return host, nil
}

// statusPages are what the servers serve.
type statusPages struct {
	Health      web.Health
	Metrics     prometheus.Gatherer
	Routes      []web.Route
	Certificate *web.Certificate // nil: plain HTTP
	// Config returns the document at /configz, which must contain no secrets.
	Config func() any
	// Client asks the API server about bearer tokens.
	Client kubernetes.Interface
	Log    *slog.Logger
}

// servers are open listeners with their servers.
type servers struct {
	runs []func(context.Context) error
}

// listen opens the addresses.
func (f *servingFlags) listen(p statusPages) (*servers, error) {
	s := &servers{}
	l, err := net.Listen("tcp", f.bind)
	if err != nil {
		return nil, fmt.Errorf("listening for health checks: %w; set --bind-address", err)
	}
	server := &web.Server{Health: p.Health, Metrics: p.Metrics, Routes: p.Routes, Certificate: p.Certificate, Log: p.Log}
	if f.authorize {
		server.Authorizer = access.New(p.Client, f.audiences, clock.RealClock{}, p.Log)
	}
	p.Log.Info("serving /livez, /readyz and /metrics", "address", l.Addr().String(), "tls", p.Certificate != nil, "authorize", f.authorize)
	s.runs = append(s.runs, func(ctx context.Context) error { return server.Serve(ctx, l) })
	if f.debug == "" {
		return s, nil
	}
	dl, err := listenLocally(f.debug)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for profiles: %w; set --debug-address", err), l.Close())
	}
	p.Log.Info("serving /debug/pprof/ and /configz", "address", dl.Addr().String())
	debug := &web.Debug{Config: p.Config, Log: p.Log}
	s.runs = append(s.runs, func(ctx context.Context) error { return debug.Serve(ctx, dl) })
	return s, nil
}

// listenLocally listens on a loopback address. The name localhost may have another address.
func listenLocally(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err == nil && !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s is not a loopback address", l.Addr()), l.Close())
	}
	return l, err
}

// runBeside runs the servers and work in parallel. If one of them fails, runBeside stops the others.
func (s *servers) runBeside(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan error, len(s.runs))
	for _, run := range s.runs {
		go func() {
			err := run(ctx)
			cancel(err)
			served <- err
		}()
	}
	err := work(ctx)
	cancel(err)
	for range s.runs {
		err = errors.Join(err, <-served)
	}
	return err
}
