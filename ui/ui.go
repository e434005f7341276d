// Package ui serves the live pages of `evenkeel ui` on 127.0.0.1, to one person and with the credentials of this
// person.
//
// The package decides who may open the pages, and what a page shows. The API server decides what the person may see and
// do. The package never evicts a pod, never makes a plan, and never passes a request on to the API server.
package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Timeouts of the server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 2 * time.Second
	// planTimeout bounds a request that makes a plan.
	planTimeout = 5 * time.Minute
)

// maxHeaderBytes bounds the header of a request. The numbers of 2,000 chosen steps have about 20 KiB.
const maxHeaderBytes = 1 << 16

// Options are what the pages are about, and how to reach it.
type Options struct {
	// Client has the credentials of the person.
	Client kubernetes.Interface
	// Release returns the client for the objects of the release, or nil if the cluster has no release.
	Release func(ctx context.Context) (*objects.Client, error)
	// User returns the name with which the API server authenticates the person. If the API server returns none, known
	// is false, and the name says so.
	User func(ctx context.Context) (name string, known bool)
	// Plan makes a plan of the cluster now, for some strategies or for all. It evicts nothing.
	Plan func(ctx context.Context, strategies []string) (*view.View, error)
	// Configured returns what the configuration of the release says, or nil if it is unknown.
	Configured func(ctx context.Context) *view.Context
	// NodeUsage returns the measured use of the nodes from metrics.k8s.io.
	NodeUsage func(ctx context.Context) ([]NodeUsage, error)
	// Cluster names the cluster for the person, and Namespace is the namespace of the kubeconfig.
	Cluster, Namespace string
	// Announce receives each address with a new one-time secret.
	Announce func(address string)
	Clock    clock.PassiveClock
	Log      *slog.Logger
}

// NodeUsage is the measured use of a node.
type NodeUsage struct {
	Name        string
	MilliCPU    int64
	MemoryBytes int64
	At          time.Time
}

// Server serves the pages.
type Server struct {
	Options
	guard  *guard
	source *source
	rights *rights
	mux    *http.ServeMux
	made   lastPlan
}

// New returns a server for the address of a listener on a loopback address.
func New(o Options, address net.Addr) (*Server, error) {
	at, ok := address.(*net.TCPAddr)
	if !ok || !at.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address", address)
	}
	s := &Server{Options: o, guard: newGuard(at.Port), rights: newRights(o.Client, o.Clock)}
	s.source = &source{options: &s.Options, rights: s.rights}
	s.mux = s.routes()
	return s, nil
}

// Address returns the address of the first page, with a secret that can be used once.
func (s *Server) Address() string { return s.guard.address() }

// Serve announces the address, and answers requests on the listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug), Protocols: new(http.Protocols)}
	srv.Protocols.SetHTTP1(true)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.source.watch(ctx)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	s.Announce(s.Address())
	select {
	case err := <-ended:
		return fmt.Errorf("serving the pages: %w", err)
	case <-ctx.Done():
	}
	stop, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancelStop()
	if err := srv.Shutdown(stop); err != nil { // such as a request that makes a plan
		_ = srv.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the pages: %w", err)
	}
	return nil
}

// routes returns the fixed paths of the pages. No path and no parameter becomes a path of the API server.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                 s.showOverview,
		"GET /plans":               s.showPlans,
		"GET /plans/{name}":        s.showPlan,
		"GET /plans/{name}/report": s.showStored,
		"POST /plans/{name}":       s.decide,
		"GET /cluster":             s.showCluster,
		"GET /cluster/report":      s.showWholePlan,
		"POST /cluster/plan":       s.makePlan,
		"GET /history":             s.showHistory,
		"GET /history/{ns}/{pod}":  s.showPod,
		"GET /pause":               s.showPause,
		"POST /pause":              s.pause,
		"POST /resume":             s.resume,
		"GET /run":                 s.showRun,
		"POST /run":                s.run,
		"GET /version":             s.showVersion,
	} {
		mux.Handle(pattern, s.answer(h))
	}
	mux.HandleFunc("GET /static/{name}", showAsset)
	return mux
}
