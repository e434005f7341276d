package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// TestStoredCountsDoNotHideWrongPredictions: a process that starts with a full stored window counts its own wrong
// predictions at once, also if the window has become shorter.
func TestStoredCountsDoNotHideWrongPredictions(t *testing.T) {
	for _, window := range []int{50, 20} {
		s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, window },
			OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}
		stored := map[string]plan.SchedulerBindings{"s": {Seen: 90, Predicted: 50, Hits: 49, Model: "m"}}
		s.Restore(stored)
		for range 3 {
			s.countBinding("s", "m", "shop", window, false, true)
		}
		s.Restore(stored) // of the next pass
		if got, want := s.Counts()["s"], (plan.SchedulerBindings{Seen: 93, Predicted: window, Hits: window - 4, Model: "m"}); got != want {
			t.Errorf("window %d: got %+v, want %+v", window, got, want)
		}
		s.countBinding("s", "other", "shop", window, true, true)
		if got := s.Counts()["s"]; got.Predicted != 1 {
			t.Errorf("window %d: with another model, %d predictions count", window, got.Predicted)
		}
	}
	s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, 50 }}
	s.Restore(map[string]plan.SchedulerBindings{"s": {Seen: 1 << 62, Predicted: 1 << 62, Hits: 0, Model: "m"}})
	if got := s.Counts()["s"]; got.Hits != 0 || got.Predicted != 50 {
		t.Errorf("of forged counts: %+v", got)
	}
}

// TestRestoredCountsStayValid: a process that has checked bindings before it reads the counts of an
// earlier process keeps counts that a later process can read. Both may have checked the same
// bindings.
func TestRestoredCountsStayValid(t *testing.T) {
	s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, 50 },
		OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}
	for range 3 {
		s.countBinding("s", "m", "shop", 50, true, true)
	}
	s.Restore(map[string]plan.SchedulerBindings{"s": {Seen: 5, Predicted: 5, Hits: 5, Model: "m"}})
	if got := s.Counts()["s"]; got.Predicted != 8 || got.Predicted > got.Seen {
		t.Errorf("got %+v, want 8 predictions of at least as many bindings", got)
	}
}

// TestNoNamespaceDecidesAloneAboutAScheduler: the tenant of evil makes all predictions about its pods wrong, or makes
// many easy ones. The other namespaces keep half of the window, and a contradiction needs two namespaces. A namespace
// that is alone decides.
func TestNoNamespaceDecidesAloneAboutAScheduler(t *testing.T) {
	o := trust.Options{MinBindings: 50, MinHitRate: 0.9}
	snapshot := must.Get(cluster.New(&cluster.Objects{ServerVersion: "1.37", Nodes: []*corev1.Node{{}}}))(t)
	type batch struct {
		namespace string
		count     int
		hit       bool
	}
	for name, c := range map[string]struct {
		batches []batch
		known   bool // the scheduler has a profile: it is trusted unless the predictions contradict
		trusted bool
	}{
		"wrong ones of one namespace beside others":        {[]batch{{"shop", 25, true}, {"evil", 1000, false}}, true, true},
		"wrong ones of one namespace, others have few":     {[]batch{{"shop", 1, true}, {"evil", 1000, false}}, true, true},
		"wrong ones of the only namespace":                 {[]batch{{"evil", 50, false}}, true, false},
		"wrong ones of two namespaces":                     {[]batch{{"shop", 3, false}, {"evil", 10, false}}, true, false},
		"easy ones of one namespace, the others are wrong": {[]batch{{"shop", 25, false}, {"evil", 1000, true}}, false, false},
		"the only namespace is right":                      {[]batch{{"shop", 50, true}}, false, true},
		"a new namespace does not take the trust away":     {[]batch{{"shop", 50, true}, {"bank", 1, true}}, false, true},
	} {
		of := "default-scheduler"
		if !c.known {
			of = "fancy"
		}
		model := trust.ModelOf(snapshot, trust.ProfileOf(of, nil))
		s := &SchedulerTrust{Profiles: noProfiles, OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}
		for _, b := range c.batches {
			for range b.count {
				s.countBinding(of, model, b.namespace, 50, b.hit, true)
			}
		}
		next := &SchedulerTrust{Profiles: noProfiles}
		next.Restore(s.Counts())
		for process, counts := range map[string]map[string]plan.SchedulerBindings{"this process": s.Counts(), "the next one": next.Counts()} {
			states := o.SchedulerStates(snapshot, nil, counts)
			if len(states) != 1 || states[0].Trusted != c.trusted {
				t.Errorf("%s, %s: %+v, want trusted %t", name, process, states, c.trusted)
			}
		}
	}
}

func noProfiles() (map[string]scheduler.Profile, int) { return nil, 50 }
