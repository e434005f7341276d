package main

import (
	"log/slog"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// bindingFilter selects the bindings that count for scheduler trust: bindings by schedulers that have no profile in
// the newest configuration. Before setConfig, and if the configuration disables scheduler trust, the filter selects
// no bindings. It is safe for concurrent use.
type bindingFilter struct {
	profiles atomic.Pointer[map[string]scheduler.Profile] // nil: select no bindings
}

func (w *bindingFilter) setConfig(conf *config.Config) {
	opts := conf.PlannerOptions()
	if opts.Trust.MinBindings == 0 {
		w.profiles.Store(nil)
		return
	}
	w.profiles.Store(&opts.Placement.Profiles)
}

func (w *bindingFilter) matches(p *corev1.Pod) bool {
	profiles := w.profiles.Load()
	return profiles != nil && trust.HasNoProfile(trust.SchedulerName(p), *profiles)
}

// newSchedulerTrust watches the bindings that the filter selects. The observer must not be started yet.
func newSchedulerTrust(w *bindingFilter, o *observe.Observer, m *metrics.Metrics, log *slog.Logger) *controller.SchedulerTrust {
	return &controller.SchedulerTrust{Observer: o, Bindings: o.WatchBindings(w.matches), Clock: clock.RealClock{}, Log: log,
		OnCount: m.RecordBinding}
}
