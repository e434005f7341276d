package controller_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"github.com/evenkeel-project/evenkeel/plan"
)

// told hands over bindings until there are none left, and then waits.
type told struct {
	uids []string
	idle chan struct{}
}

func (b *told) NextBinding(ctx context.Context) (string, []string, bool) {
	if len(b.uids) == 0 {
		close(b.idle)
		<-ctx.Done()
		return "", nil, false
	}
	uid := b.uids[0]
	b.uids = b.uids[1:]
	return uid, nil, true
}

// bound are the example's three nodes and one pod of each scheduler on n3, the
// emptiest, or on n1 where miss is set.
func bound(t *testing.T, schedulers []string, miss bool) *seen {
	t.Helper()
	o, err := cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range schedulers {
		p := o.Pods[0].DeepCopy()
		p.Name, p.UID, p.OwnerReferences, p.Spec.NodeName, p.Spec.SchedulerName = name, types.UID(name), nil, "n3", name
		if miss {
			p.Spec.NodeName = "n1"
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(o.TakenAt.Add(time.Hour))}}
		o.Pods = append(o.Pods, p)
	}
	s, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &seen{s: s}
}

func newShadow(o controller.Observer, b controller.Bindings) (*controller.Shadow, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &controller.Shadow{Observer: o, Bindings: b, Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Counted: func(string, plan.SchedulerBindings, bool, bool) {}}, clock
}

// shadowed looks at bindings until there are no more.
func shadowed(t *testing.T, o controller.Observer, uids ...string) *controller.Shadow {
	t.Helper()
	b := &told{uids: uids, idle: make(chan struct{})}
	s, _ := newShadow(o, b)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	<-b.idle
	cancel()
	<-ended
	return s
}

func TestShadowCountsBindings(t *testing.T) {
	s := shadowed(t, bound(t, []string{"fancy"}, false), "fancy", "gone", "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 2, Predicted: 2, Hits: 2}}, s.Seen()); d != "" {
		t.Error(d)
	}
	s = shadowed(t, bound(t, []string{"fancy"}, true), "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 1, Predicted: 1}}, s.Seen()); d != "" {
		t.Error(d)
	}
	unclear := bound(t, []string{"fancy"}, false)
	unclear.s.PodByUID("fancy").Object.Status.Conditions = nil
	unclear.s.PodByUID("fancy").Object.CreationTimestamp = metav1.Time{}
	s = shadowed(t, unclear, "fancy")
	if d := cmp.Diff(map[string]plan.SchedulerBindings{"fancy": {Seen: 1}}, s.Seen()); d != "" {
		t.Error(d)
	}
	if s := shadowed(t, &seen{err: errors.New("no permission")}, "fancy"); len(s.Seen()) != 0 {
		t.Errorf("counted what could not be looked at: %v", s.Seen())
	}
}

func TestShadowForgetsThePastAndKeepsFewSchedulers(t *testing.T) {
	uids := make([]string, 1001)
	for i := range uids {
		uids[i] = "fancy"
	}
	s := shadowed(t, bound(t, []string{"fancy"}, false), uids...)
	if d := cmp.Diff(plan.SchedulerBindings{Seen: 500, Predicted: 500, Hits: 500}, s.Seen()["fancy"]); d != "" {
		t.Error(d)
	}
	var names []string
	for i := range plan.MaxSchedulers + 4 {
		names = append(names, fmt.Sprintf("s%02d", i))
	}
	s = shadowed(t, bound(t, names, true), append(names, "s00", "s19")...)
	if got := s.Seen(); len(got) != plan.MaxSchedulers || got["s00"].Seen != 2 || got["s19"].Seen != 0 {
		t.Errorf("%v", got)
	}
}

// slow takes a second for each look.
type slow struct {
	*seen
	clock *clocktesting.FakeClock
}

func (o *slow) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	o.clock.Step(time.Second)
	return o.seen.Snapshot(ctx)
}

// TestShadowRestsLongerThanItLooks: nine seconds after a look of one second.
func TestShadowRestsLongerThanItLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &told{uids: []string{"fancy", "fancy"}, idle: make(chan struct{})}
		s, clock := newShadow(nil, b)
		s.Observer = &slow{bound(t, []string{"fancy"}, false), clock}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		synctest.Wait()
		clock.Step(9*time.Second - 1)
		synctest.Wait()
		if !clock.HasWaiters() || s.Seen()["fancy"].Seen != 1 {
			t.Fatalf("it rests no more, and saw %d bindings", s.Seen()["fancy"].Seen)
		}
		clock.Step(1)
		synctest.Wait()
		if n := s.Seen()["fancy"].Seen; n != 2 || !clock.HasWaiters() {
			t.Errorf("after its rest it saw %d bindings, want 2 and another rest", n)
		}
		cancel() // also ends a rest
		<-ended
	})
}

// TestAPassPlansWithTheCounts: the gate opens for the next pass.
func TestAPassPlansWithTheCounts(t *testing.T) {
	c, o := setUp(t, evictor.NewDryRun(), plan.DryRun)
	c.Shadow = shadowed(t, bound(t, []string{"fancy"}, false), "fancy")
	p := &remembering{Planner: c.Planner}
	c.Planner = p
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || o.looks != 1 {
		t.Fatal(err, o.looks)
	}
	want := map[string]plan.SchedulerBindings{"fancy": {Seen: 1, Predicted: 1, Hits: 1}}
	if d := cmp.Diff(want, p.state.Schedulers); d != "" {
		t.Error(d)
	}
	if len(r.Plan.Schedulers) != 1 || r.Plan.Schedulers[0].Name != "fancy" || *r.Plan.Schedulers[0].HitRate != 1 {
		t.Errorf("the report says %+v", r.Plan.Schedulers)
	}
}

type remembering struct {
	controller.Planner
	state plan.PlannerState
}

func (p *remembering) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	p.state = st
	return p.Planner.Plan(s, st, goals, now)
}
