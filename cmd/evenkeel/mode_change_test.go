package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A standby replica that waits for the Lease of one mode waits for that of the other as soon as it has read a changed
// dryRun. It never holds the first Lease, and does not end.
func TestAStandbyFollowsAChangedMode(t *testing.T) {
	for _, c := range []struct {
		from, to, waitsFor, takes string
	}{
		{"dryRun: false", "dryRun: true", release.LeaseName, release.DryRunLeaseName},
		{"dryRun: true", "dryRun: false", release.DryRunLeaseName, release.LeaseName},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		write := func(mode string) {
			must.Succeed(t, os.WriteFile(path, []byte(configHead+mode+"\nstrategies: {}\n"), 0o600))
		}
		write(c.from)
		client := fake.NewClientset(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: c.waitsFor},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("leader"), LeaseDurationSeconds: ptr.To[int32](3600),
				AcquireTime: &metav1.MicroTime{Time: time.Now()}, RenewTime: &metav1.MicroTime{Time: time.Now()}}})
		holder := func(name string) string {
			l, err := client.CoordinationV1().Leases("ops").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return ""
			}
			return ptr.Deref(l.Spec.HolderIdentity, "")
		}
		var log bytes.Buffer
		logger, m, o := slog.New(slog.NewTextHandler(&log, nil)), metrics.New("v", ""), observe.New(client, clock.RealClock{})
		mode := func(conf *config.Config) plan.Mode {
			if conf.DryRun {
				return plan.DryRun
			}
			return plan.Live
		}
		files := &watchedFiles{}
		conf, reloads, err := files.loadAndWatchConfig(path, m, logger, func(*config.Config) {},
			func(c *controller.Controller, conf *config.Config) { c.Mode = mode(conf) })
		must.Succeed(t, err)
		set := &controllerSettings{log: logger, hints: newPressureHints(client, o, m, logger, func() *cluster.Usage { return nil }, nil, nil),
			lease: &leader.Lease{Client: client, Namespace: "ops", Identity: "standby", OnLeadingChange: func(bool) {}, StopWaiting: files.configChanged}}
		set.hints.configureReconciler(conf)
		set.pauses = &controller.PauseFollower{Pauses: noPause{}, Events: set.events, Recorder: m, Status: noPause{}, Clock: clock.RealClock{}, Log: logger}
		standby := &controller.Controller{Settings: controller.Settings{Mode: mode(conf)},
			Dependencies: controller.Dependencies{Clock: clock.RealClock{}, Log: logger, Recorder: m}, Reloads: reloads}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- runAsLeader(ctx, set, standby) }()
		write(c.to)
		files.watchers[0].checkNow()
		files.watchers[0].checkNow() // the watcher loads a file only if two checks see the same content
		for deadline := time.Now().Add(20 * time.Second); holder(c.takes) != "standby"; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the Lease %s is held by %q, and %s by %q", c.to, c.takes, holder(c.takes), c.waitsFor, holder(c.waitsFor))
			}
		}
		if got := holder(c.waitsFor); got != "leader" {
			t.Errorf("%s: the Lease %s is held by %q", c.to, c.waitsFor, got)
		}
		end()
		must.Succeed(t, <-ended)
	}
}

type noPause struct{}

func (noPause) Read(context.Context) (*plan.Pause, error) { return nil, nil }

func (noPause) WritePause(context.Context) error { return nil }
