package controller_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// bindingQueue returns its bindings, then waits until ctx ends.
type bindingQueue struct {
	uids []string
	idle chan struct{}
}

func (b *bindingQueue) NextBinding(ctx context.Context) (string, []string, bool) {
	if len(b.uids) == 0 {
		close(b.idle)
		<-ctx.Done()
		return "", nil, false
	}
	uid := b.uids[0]
	b.uids = b.uids[1:]
	return uid, nil, true
}

// schedulerCluster returns a cluster with three nodes and one pod of each scheduler. The pod is on
// n3, the emptiest node, or on n1 if miss is set.
func schedulerCluster(t *testing.T, schedulers []string, miss bool) *fixedObserver {
	t.Helper()
	o := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	for _, name := range schedulers {
		p := o.Pods[0].DeepCopy()
		p.Name, p.UID, p.OwnerReferences, p.Spec.NodeName, p.Spec.SchedulerName = name, types.UID(name), nil, "n3", name
		if miss {
			p.Spec.NodeName = "n1"
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(o.TakenAt.Add(time.Hour))}}
		o.Pods = append(o.Pods, p)
	}
	return &fixedObserver{s: snapshotOf(t, o)}
}

// knownSnapshot returns the snapshots of an observer.
func knownSnapshot(o controller.Observer) func() (*cluster.Snapshot, error) {
	return func() (*cluster.Snapshot, error) { return o.Snapshot(context.Background()) }
}

func newSchedulerTrust(o controller.Observer, b controller.BindingSource) (*controller.SchedulerTrust, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	profiles := func() (map[string]scheduler.Profile, int) { return nil, 50 }
	return &controller.SchedulerTrust{Snapshot: knownSnapshot(o), Bindings: b, Profiles: profiles, Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}, clock
}

// countBindings runs a new SchedulerTrust until it has checked all bindings.
func countBindings(t *testing.T, o controller.Observer, uids ...string) *controller.SchedulerTrust {
	t.Helper()
	b := &bindingQueue{uids: uids, idle: make(chan struct{})}
	s, _ := newSchedulerTrust(o, b)
	runUntilIdle(t, s, b)
	return s
}

// runUntilIdle runs s until it has checked all bindings of the queue.
func runUntilIdle(t *testing.T, s *controller.SchedulerTrust, b *bindingQueue) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	<-b.idle
	cancel()
	<-ended
}

// defaultModel identifies the default profile of Kubernetes 1.37.
var defaultModel = trust.ModelOf(&cluster.Snapshot{ServerMajor: 1, ServerMinor: 37}, scheduler.DefaultProfile())

func TestSchedulerTrustCountsBindings(t *testing.T) {
	s := countBindings(t, schedulerCluster(t, []string{"fancy"}, false), "fancy", "gone", "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 2, Predicted: 2, Hits: 2, Model: defaultModel}}, s.Counts()); d != "" {
		t.Error(d)
	}
	s = countBindings(t, schedulerCluster(t, []string{"fancy"}, true), "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 1, Predicted: 1, Model: defaultModel}}, s.Counts()); d != "" {
		t.Error(d)
	}
	unclear := schedulerCluster(t, []string{"fancy"}, false)
	unclear.s.PodByUID("fancy").Object.Status.Conditions = nil
	unclear.s.PodByUID("fancy").Object.CreationTimestamp = metav1.Time{}
	s = countBindings(t, unclear, "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 1, Model: defaultModel}}, s.Counts()); d != "" {
		t.Error(d)
	}
	if s := countBindings(t, &fixedObserver{err: errors.New("no permission")}, "fancy"); len(s.Counts()) != 0 {
		t.Errorf("got counts of bindings that cannot be checked: %v", s.Counts())
	}
}

// TestSchedulerTrustCountsTheLatestPredictions checks 60 right predictions, of which the latest 50 count, then 6 wrong
// ones. After a change of the profile, counting starts again.
func TestSchedulerTrustCountsTheLatestPredictions(t *testing.T) {
	o := schedulerCluster(t, []string{"fancy"}, false)
	s, _ := newSchedulerTrust(o, nil)
	profile := scheduler.DefaultProfile()
	s.Profiles = func() (map[string]scheduler.Profile, int) { return map[string]scheduler.Profile{"fancy": profile}, 50 }
	check := func(n int) {
		b := &bindingQueue{uids: slices.Repeat([]string{"fancy"}, n), idle: make(chan struct{})}
		s.Bindings = b
		runUntilIdle(t, s, b)
	}
	want := func(b plan.SchedulerBindings) {
		t.Helper()
		b.Model = s.Counts()["fancy"].Model
		if d := cmp.Diff(b, s.Counts()["fancy"]); d != "" {
			t.Error(d)
		}
	}
	check(60)
	want(plan.SchedulerBindings{Seen: 60, Predicted: 50, Hits: 50})
	s.Snapshot = knownSnapshot(schedulerCluster(t, []string{"fancy"}, true))
	check(6)
	want(plan.SchedulerBindings{Seen: 66, Predicted: 50, Hits: 44})
	profile.FitStrategy.Type = scheduler.MostAllocated
	check(2)
	if b := s.Counts()["fancy"]; b.Seen != 2 || b.Model == defaultModel {
		t.Errorf("after a change of the profile: %+v", b)
	}
}

func TestSchedulerTrustCountsFewSchedulers(t *testing.T) {
	var names []string
	for i := range plan.MaxSchedulers + 4 {
		names = append(names, fmt.Sprintf("s%02d", i))
	}
	s := countBindings(t, schedulerCluster(t, names, true), append(names, "s00", "s19")...)
	if got := s.Counts(); len(got) != plan.MaxSchedulers || got["s00"].Seen != 2 || got["s19"].Seen != 0 {
		t.Errorf("%v", got)
	}
}

// A snapshot takes one second. After a check of one second, SchedulerTrust is idle for nine seconds.
func TestSchedulerTrustIsIdleLongerThanItChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bindingQueue{uids: []string{"fancy", "fancy"}, idle: make(chan struct{})}
		s, clock := newSchedulerTrust(schedulerCluster(t, []string{"fancy"}, false), b)
		snapshot := s.Snapshot
		s.Snapshot = func() (*cluster.Snapshot, error) {
			clock.Step(time.Second)
			return snapshot()
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		synctest.Wait()
		clock.Step(9*time.Second - 1)
		synctest.Wait()
		if !clock.HasWaiters() || s.Counts()["fancy"].Seen != 1 {
			t.Fatalf("no idle time after %d bindings", s.Counts()["fancy"].Seen)
		}
		clock.Step(1)
		synctest.Wait()
		if n := s.Counts()["fancy"].Seen; n != 2 || !clock.HasWaiters() {
			t.Errorf("after the idle time: got %d bindings, want 2 and another idle time", n)
		}
		cancel() // also ends the idle time
		<-ended
	})
}

// The next pass uses the counts, and the scheduler becomes trusted.
func TestAPassPlansWithTheCounts(t *testing.T) {
	c, o := newController(t, evictor.DryRun{}, plan.DryRun)
	c.Trust = countBindings(t, schedulerCluster(t, []string{"fancy"}, false), "fancy")
	var used plan.PlannerState
	c.Planner = changedPlanner{Planner: c.Planner, before: func(_ *cluster.Snapshot, st plan.PlannerState) { used = st }}
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || o.snapshots != 1 {
		t.Fatal(err, o.snapshots)
	}
	want := map[string]plan.SchedulerBindings{"fancy": {Seen: 1, Predicted: 1, Hits: 1, Model: defaultModel}}
	if d := cmp.Diff(want, used.Schedulers); d != "" {
		t.Error(d)
	}
	if len(r.Plan.Schedulers) != 1 || r.Plan.Schedulers[0].Name != "fancy" || *r.Plan.Schedulers[0].HitRate != 1 {
		t.Errorf("got schedulers %+v in the report", r.Plan.Schedulers)
	}
}

// TestNoBindingIsCheckedWhileAPassPlans checks a binding during a plan and after the pass. Only the second one counts.
func TestNoBindingIsCheckedWhileAPassPlans(t *testing.T) {
	c, _ := newController(t, evictor.DryRun{}, plan.DryRun)
	s, _ := newSchedulerTrust(schedulerCluster(t, []string{"fancy"}, false), nil)
	check := func() {
		b := &bindingQueue{uids: []string{"fancy"}, idle: make(chan struct{})}
		s.Bindings = b
		runUntilIdle(t, s, b)
	}
	c.Trust = s
	planned := false
	c.Planner = changedPlanner{Planner: c.Planner, before: func(*cluster.Snapshot, plan.PlannerState) { check(); planned = true }}
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := s.Counts()["fancy"].Seen; !planned || n != 0 {
		t.Errorf("planned %v, %d bindings checked meanwhile, want none", planned, n)
	}
	if check(); s.Counts()["fancy"].Seen != 1 {
		t.Error("no binding is checked after the pass")
	}
}
