package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
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
		must.Succeed(t, os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(conf), 0o600))
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

// TestAReloadChangesTheReceivers checks that a new configuration changes the receivers at once, also during a pass.
func TestAReloadChangesTheReceivers(t *testing.T) {
	arrived := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.URL.Path }))
	defer receiver.Close()
	n := notify.New(clock.RealClock{}, slog.New(slog.DiscardHandler), metrics.New("v", "h"))
	set := &controllerSettings{notifier: n}
	for _, path := range []string{"/old", "/new"} {
		conf := must.Get(config.Load("c.yaml", []byte(configHead+"notify: [{name: ops, format: json, url: "+receiver.URL+path+"}]\n")))(t)
		set.applyOutsidePass(conf)
		n.Send(message.Message{Event: message.UsageSilent})
		if got := <-arrived; got != path {
			t.Errorf("the message arrived at %s, want %s", got, path)
		}
	}
	n.Close(notifyStopTimeout)
}
