package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestASinglePassSendsItsNotifications checks that `run --once` sends notifications before it ends, and that a receiver
// that fails changes neither the exit code nor the report.
func TestASinglePassSendsItsNotifications(t *testing.T) {
	isolateFromCluster(t)
	bodies := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer receiver.Close()
	for _, path := range []string{"/works", "/fails"} {
		r := badInput{server: &serverFault{}}
		dir := r.prepare(t)
		r.serve(t, dir)
		conf := configHead + "dryRun: true\nnotify: [{name: ops, format: json, url: " + receiver.URL + path + "}]\n"
		if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		got := invoke(t, connectTimeout, argsInDir(dir, "run --once --kubeconfig kubeconfig.yaml --config c.yaml"), "")
		if got.exit != 1 || !strings.Contains(got.stderr, "the configuration has no strategy") || strings.Contains(got.stderr, receiver.URL) {
			t.Errorf("%s: exit %d: %s", path, got.exit, got.stderr)
		}
		if n := len(bodies); n != 1 {
			t.Fatalf("%s: %d notifications arrived before the process ended, want 1", path, n)
		}
		if body := <-bodies; !strings.Contains(body, `"event": "nothingJudged"`) || !strings.Contains(body, `"mode": "dryRun"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
}
