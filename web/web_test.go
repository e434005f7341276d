package web_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

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

func TestHandler(t *testing.T) {
	ready, stuck := false, error(nil)
	h := web.Handler(web.Health{Ready: func() bool { return ready }, Live: func() error { return stuck }}, metrics.New("v1", "abc").Registry)
	if code, _ := getPage(t, h, "GET", "/livez"); code != 200 {
		t.Errorf("livez %d", code)
	}
	if code, _ := getPage(t, h, "GET", "/readyz"); code != 503 {
		t.Errorf("got status %d for /readyz before the initial list is complete", code)
	}
	stuck = errors.New("a pass is stuck")
	if code, text := getPage(t, h, "GET", "/livez"); code != 503 || !strings.Contains(text, "a pass is stuck") {
		t.Errorf("livez of a stuck process: %d %s", code, text)
	}
	ready = true
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

func TestServeEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- web.Serve(ctx, l, web.Health{Ready: func() bool { return true }}, prometheus.NewRegistry())
	}()
	r, err := http.Get("http://" + l.Addr().String() + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
