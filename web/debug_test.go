package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/web"
)

func TestDebugPages(t *testing.T) {
	d := &web.Debug{Config: func() any { return map[string]string{"mode": "dry\u202erun"} }, Log: slog.New(slog.DiscardHandler)}
	h := d.Handler()
	get := func(host, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := get("localhost:6060", "/configz")
	var doc map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc["mode"] != "dry\u202erun" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%v: %s", err, w.Body)
	}
	for path, want := range map[string]int{"/debug/pprof/": 200, "/debug/pprof/goroutine": 200, "/debug/pprof/heap": 200,
		"/debug/pprof/cmdline": 404, "/metrics": 404, "/": 404} {
		if w := get("127.0.0.1:6060", path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	for host, want := range map[string]int{"localhost": 200, "[::1]:6060": 200, "[::1]": 200, "127.0.0.1": 200,
		"evil.example:6060": 403, "localhost.evil.example": 403, "10.0.0.1:6060": 403, "": 403} {
		if w := get(host, "/configz"); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// TestAProfileEndsWithTheServer: a profile of 20 s does not delay the end of the program.
func TestAProfileEndsWithTheServer(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := &web.Debug{Log: slog.New(slog.DiscardHandler)}
	go func() { ended <- d.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	profile := make(chan struct{})
	go func() {
		defer close(profile)
		if r, err := client.Get("http://" + l.Addr().String() + "/debug/pprof/profile?seconds=20"); err == nil {
			r.Body.Close()
		}
	}()
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(10 * time.Second); !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("pprof.Profile(")); {
		if time.Now().After(deadline) {
			t.Fatal("the profile did not begin")
		}
		runtime.Gosched()
	}
	start := time.Now()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-profile
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the server ended after %s", took)
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.9.8.7": true, "::1": true, "[::1]": true, "localhost": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "localhost.example": false, "::ffff:127.0.0.1": true, "example": false} {
		if got := web.IsLoopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
