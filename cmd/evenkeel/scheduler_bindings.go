package main

import (
	"log/slog"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// podBindingFilter selects the bindings that count for scheduler trust, and says how to predict them according to the
// newest configuration. Before setConfig, and if the configuration disables scheduler trust, the filter selects no
// bindings. It is safe for concurrent use.
type podBindingFilter struct {
	conf atomic.Pointer[bindingConfig] // nil: select no bindings
}

type bindingConfig struct {
	profiles    map[string]scheduler.Profile
	minBindings int
}

func (w *podBindingFilter) setConfig(conf *config.Config) {
	opts := conf.PlannerOptions()
	if opts.Trust.MinBindings == 0 {
		w.conf.Store(nil)
		return
	}
	w.conf.Store(&bindingConfig{opts.Placement.Profiles, opts.Trust.MinBindings})
}

// matches leaves out pods of DaemonSets. Their node affinity allows one node only, so they say
// nothing about scores. The Observer reports only pods that it saw without a node, so matches never
// gets a pod that was created with spec.nodeName.
func (w *podBindingFilter) matches(p *corev1.Pod) bool {
	c := metav1.GetControllerOfNoCopy(p)
	return w.conf.Load() != nil && (c == nil || c.Kind != "DaemonSet")
}

func (w *podBindingFilter) config() (profiles map[string]scheduler.Profile, minBindings int) {
	if c := w.conf.Load(); c != nil {
		return c.profiles, c.minBindings
	}
	return nil, 0
}

// newSchedulerTrust watches the bindings that the filter selects. The observer must not be started yet.
func newSchedulerTrust(w *podBindingFilter, o *observe.Observer, m *metrics.Metrics, log *slog.Logger) *controller.SchedulerTrust {
	return &controller.SchedulerTrust{Snapshot: o.SnapshotWithoutEvents, Bindings: o.WatchBindings(w.matches), Profiles: w.config,
		Clock: clock.RealClock{}, Log: log, OnCount: func(scheduler string, b plan.SchedulerBindings, hit, predicted bool) {
			_, minBindings := w.config()
			m.RecordBinding(scheduler, b, minBindings, hit, predicted)
		}}
}
