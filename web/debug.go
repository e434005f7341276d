package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// Debug serves profiles and the configuration, without authentication. Its listener must be on a loopback address.
type Debug struct {
	// Config returns the document for /configz, which must contain no secrets.
	Config func() any
	Log    *slog.Logger
}

// Serve answers requests on the listener until ctx ends. Profiles in progress then end.
func (d *Debug) Serve(ctx context.Context, l net.Listener) error {
	srv := newHTTPServer(d.Handler(), d.Log)
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving profiles: %w", err)
	}
	return nil
}

// Handler serves /configz and, below /debug/pprof/, the profiles of net/http/pprof without the command line, which
// may contain secrets.
func (d *Debug) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /configz", func(w http.ResponseWriter, _ *http.Request) {
		doc, err := json.MarshalIndent(d.Config(), "", "  ")
		if err != nil {
			http.Error(w, "the configuration cannot be encoded", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(terminal.EscapeJSON(doc), '\n')) // an error means that the client closed the connection
	})
	return onlyLocalHosts(mux)
}

// onlyLocalHosts answers only requests whose host is a name of this machine. A page in a browser on this machine could
// otherwise read the answers under a name of its own that leads to 127.0.0.1.
func onlyLocalHosts(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !IsLoopback(host) {
			http.Error(w, "want localhost, 127.0.0.1 or [::1] as the host of the URL", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether a host is a loopback address, or localhost.
func IsLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
