package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
)

// TestOnlyDryRunsPredictHints checks that only a dry run predicts hints. Live passes use the hints that nodes already
// have. A saved plan also uses only these hints, even if the configuration has dryRun: true.
func TestOnlyDryRunsPredictHints(t *testing.T) {
	client := fake.NewClientset()
	o := observe.New(client, clock.RealClock{})
	s := &controllerSettings{client: client, observer: o, log: slog.New(slog.DiscardHandler), lease: &leader.Lease{}, records: &records.Store{}, objects: &objects.Client{},
		startEvents: func() {}}
	c := &controller.Controller{}
	predicts := func() bool { _, is := c.Observer.(dryRunObserver); return is }
	conf := must.Get(config.LoadFile("../../examples/by-load.yaml"))(t)
	if s.apply(c, conf); !predicts() {
		t.Error("a dry run does not predict hints")
	}
	if s.enableEvictions(c, conf); predicts() {
		t.Error("a saved plan is executed with predicted hints, want only the hints on nodes")
	}
	s.apply(c, conf)
	live := *conf
	live.DryRun = false
	if s.apply(c, &live); predicts() || live.PlannerOptions().PredictHints {
		t.Error("a live pass after a dry run uses predicted hints, want only the hints on nodes")
	}
}

// TestApprovalsCanBeSwitchedOff checks that a new configuration starts and stops the execution of approved plans.
func TestApprovalsCanBeSwitchedOff(t *testing.T) {
	client := fake.NewClientset()
	o := observe.New(client, clock.RealClock{})
	s := &controllerSettings{log: slog.New(slog.DiscardHandler), lease: &leader.Lease{}, objects: &objects.Client{}}
	defer s.connect(t.Context(), client, o, "ops")()
	c := &controller.Controller{}
	conf := config.Default()
	for _, enabled := range []bool{true, false, true} {
		conf.Approvals.Enabled = enabled
		if s.apply(c, conf); (c.Waiting != nil) != enabled {
			t.Errorf("enabled %t: the controller takes approved plans: %t", enabled, c.Waiting != nil)
		}
		s.lease.Client, s.lease.Namespace, s.lease.Identity, s.lease.OnLeadingChange = client, "ops", "node-7", func(bool) {}
		if err := s.lease.Lead(t.Context(), time.Minute, func(ctx context.Context) error {
			if got, err := s.lease.Status(ctx); err != nil || got != (leader.Status{Holder: "node-7", ApprovalsOff: !enabled, ConfigHash: conf.PlanHash()}) {
				t.Errorf("enabled %t: the Lease says %+v (%v)", enabled, got, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestAlertsOfPrometheus checks that the controller asks the server of load.prometheus, with its credentials, although
// usage comes from another source, and that an unreadable token does not mean that nothing fires.
func TestAlertsOfPrometheus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[`+
			`{"metric":{"alertname":"KubeAPIDown"},"value":[1,"1"]}]}}`)
	}))
	defer server.Close()
	o := observe.New(fake.NewClientset(), clock.RealClock{})
	s := &controllerSettings{log: slog.New(slog.DiscardHandler), lease: &leader.Lease{}, objects: &objects.Client{}}
	defer s.connect(t.Context(), fake.NewClientset(), o, "ops")()
	c := &controller.Controller{}
	conf := config.Default()
	conf.DryRun, conf.Load.Prometheus.URL = false, server.URL
	conf.Load.Prometheus.TokenFile = filepath.Join(t.TempDir(), "token")
	conf.Evictor.Breaker.PrometheusAlerts = []string{"Kube.*"}
	if s.apply(c, conf); c.FiringAlerts == nil {
		t.Fatal("the controller asks for no alerts")
	}
	if names, err := c.FiringAlerts(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the token") {
		t.Errorf("without a token: %q, %v", names, err)
	}
	must.Succeed(t, os.WriteFile(conf.Load.Prometheus.TokenFile, []byte("secret"), 0o600))
	s.apply(c, conf)
	if names, err := c.FiringAlerts(t.Context()); err != nil || !slices.Equal(names, []string{"KubeAPIDown"}) {
		t.Errorf("firing %q, %v", names, err)
	}
	conf.Evictor.Breaker.PrometheusAlerts = nil
	if s.apply(c, conf); c.FiringAlerts != nil {
		t.Error("the controller asks for alerts that are not configured")
	}
}
