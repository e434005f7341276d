package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func getPage(t *testing.T, h http.Handler, method, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, w.Body.String()
}

func healthOf(live, ready func() error) web.Health {
	return web.Health{Live: []web.Check{{Name: "progress", Check: live}}, Ready: []web.Check{{Name: "informer-sync", Check: ready}}}
}

func works() error { return nil }

func TestHandler(t *testing.T) {
	stuck, notReady := error(nil), errors.New("not complete yet")
	server := &web.Server{Health: healthOf(func() error { return stuck }, func() error { return notReady }),
		Metrics: metrics.New("v1", "abc").Registry, Log: slog.New(slog.DiscardHandler)}
	h := server.Handler()
	if code, text := getPage(t, h, "GET", "/livez"); code != 200 || text != "ok\n" {
		t.Errorf("livez %d %q", code, text)
	}
	if code, text := getPage(t, h, "GET", "/readyz"); code != 503 || text != "[+]ping ok\n[-]informer-sync failed: not complete yet\nreadyz check failed\n" {
		t.Errorf("/readyz before the initial list is complete: %d %q", code, text)
	}
	stuck = errors.New("a pass is stuck")
	if code, text := getPage(t, h, "GET", "/livez"); code != 503 || !strings.Contains(text, "a pass is stuck") {
		t.Errorf("livez of a stuck process: %d %s", code, text)
	}
	notReady = nil
	if code, _ := getPage(t, h, "GET", "/readyz"); code != 200 {
		t.Errorf("readyz %d", code)
	}
	if code, body := getPage(t, h, "GET", "/metrics"); code != 200 || !strings.Contains(body, "evenkeel_build_info") {
		t.Errorf("metrics %d", code)
	}
	if code, _ := getPage(t, h, "POST", "/metrics"); code != 405 {
		t.Errorf("POST %d", code)
	}
	if code, _ := getPage(t, h, "GET", "/"); code != 404 {
		t.Errorf("/ %d", code)
	}
}

// denyAll is an Authorizer that answers 403 with the path that it was asked about.
type denyAll struct{}

func (denyAll) Authorize(path string, _ http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "denied "+path, http.StatusForbidden) })
}

// TestOnlyHealthIsOpen: with an Authorizer, every path but those of the health checks is protected, however it is
// written.
func TestOnlyHealthIsOpen(t *testing.T) {
	leak := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "secret") })
	server := &web.Server{Health: healthOf(works, works), Metrics: metrics.New("v1", "abc").Registry, Authorizer: denyAll{},
		Routes: []web.Route{{Pattern: "GET /nodes", Handler: leak}, {Pattern: "GET /watcher/health", Handler: leak}}, Log: slog.New(slog.DiscardHandler)}
	h := server.Handler()
	for _, path := range []string{"/livez", "/readyz", "/livez/ping", "/livez/progress", "/readyz/informer-sync"} {
		if code, _ := getPage(t, h, "GET", path); code != 200 {
			t.Errorf("%s: %d, want 200", path, code)
		}
	}
	for _, path := range []string{"/metrics", "/nodes", "/watcher/health"} {
		if code, text := getPage(t, h, "GET", path); code != 403 || text != "denied "+path+"\n" {
			t.Errorf("%s: %d %q, want 403 for this path", path, code, text)
		}
	}
	for _, path := range []string{"//nodes", "/livez/../nodes", "/%6eodes", "/nodes/", "/nodes?x=/livez", "/readyz/../metrics", "/livez/nodes", "/NODES"} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			if code, text := getPage(t, h, method, path); code == 200 || strings.Contains(text, "secret") || strings.Contains(text, "evenkeel_") {
				t.Errorf("%s %s: %d %.100q", method, path, code, text)
			}
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	address, stop := startServer(t, &web.Server{Health: healthOf(works, works), Metrics: prometheus.NewRegistry()})
	if r := fetchPage(t, http.DefaultClient, "http://"+address+"/livez"); r.StatusCode != 200 {
		t.Errorf("status %d", r.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// startServer starts a server on a free port. The returned function stops it and returns its error.
func startServer(t *testing.T, s *web.Server) (address string, stop func() error) {
	t.Helper()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return l.Addr().String(), stop
}

func fetchPage(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	r := must.Get(c.Get(url))(t)
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return r
}

// TestRequestsAreBounded: a header that is too large, or that does not end, is answered or ends.
func TestRequestsAreBounded(t *testing.T) {
	address, _ := startServer(t, &web.Server{Health: healthOf(works, works), Metrics: prometheus.NewRegistry()})
	conn := must.Get(net.Dial("tcp", address))(t)
	defer conn.Close()
	// The server may close the connection before it has read the whole header.
	_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+strings.Repeat("x", 24<<10)+"\r\n\r\n")
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, " 431 ") {
		t.Errorf("%q, want status 431", line)
	}
	slow := must.Get(net.Dial("tcp", address))(t)
	defer slow.Close()
	began := time.Now()
	if _, err := io.WriteString(slow, "GET /livez HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, slow)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a header that does not end was awaited for %s", took)
	}
}
