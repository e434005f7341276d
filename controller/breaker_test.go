package controller_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

// withoutNodes returns a snapshot of the three-zone example taken at a time, without the last n nodes and their pods.
func withoutNodes(t *testing.T, n int, at time.Time) *cluster.Snapshot {
	t.Helper()
	o := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	keep := map[string]bool{}
	o.Nodes = o.Nodes[:len(o.Nodes)-n]
	for _, node := range o.Nodes {
		keep[node.Name] = true
	}
	pods := o.Pods
	o.Pods = nil
	for _, p := range pods {
		if keep[p.Spec.NodeName] {
			o.Pods = append(o.Pods, p)
		}
	}
	o.TakenAt = at
	return snapshotOf(t, o)
}

// deletedNodes returns the last n nodes of the three-zone example as lost nodes.
func deletedNodes(t *testing.T, n int, at time.Time) []cluster.DeletedNode {
	t.Helper()
	var out []cluster.DeletedNode
	all := withoutNodes(t, 0, at).Nodes
	for i := range n {
		out = append(out, cluster.DeletedNode{Name: all[len(all)-1-i].Name, At: at, Nodes: len(all) - i, Lost: true})
	}
	return out
}

// The state carries the lost nodes to the next process.
func TestLostNodesTripTheBreakerOfTheNextProcess(t *testing.T) {
	store := &memoryStore{}
	pass := func(gone int, watched bool, at time.Duration) (plan.RunReport, int) {
		t.Helper()
		e := &scriptedEvictor{}
		c, o := newController(t, e, plan.Live)
		c.Store, c.Breaker = store, breaker.DefaultOptions()
		c.Breaker.Hold = 0
		now := c.Clock.Now().Add(at)
		o.s = withoutNodes(t, gone, now)
		if watched {
			c.DeletedNodes = func() []cluster.DeletedNode { return deletedNodes(t, gone, now) }
		}
		r := must.Get(c.RunOnce(t.Context(), nil))(t)
		return r, len(e.waves)
	}
	all := len(withoutNodes(t, 0, time.Time{}).Nodes)
	if r, _ := pass(0, true, 0); r.Stopped != nil {
		t.Fatalf("with all nodes, the pass stopped: %+v", r.Stopped)
	}
	for i, watched := range []bool{true, false} {
		r, waves := pass(all*4/10, watched, time.Duration(5+i)*time.Minute)
		if r.Stopped == nil || r.Stopped.Code != plan.BreakerOpen || waves != 0 {
			t.Errorf("with %d of %d nodes lost, watched %t: %+v after %d waves, want BreakerOpen before the first wave", all*4/10, all, watched,
				r.Stopped, waves)
		}
	}
}

// The report names what stopped the pass. A trip of the breaker after the last wave does not
// replace this reason, but the state contains the trip.
func TestABreakerTripAfterThePassKeepsWhyItStopped(t *testing.T) {
	for _, stop := range []*plan.Reason{nil, {Code: plan.ReplacementNotReady, Message: "not Ready"}} {
		e, store := &scriptedEvictor{}, &memoryStore{}
		c, o := newController(t, e, plan.Live)
		c.Store, c.Breaker = store, breaker.DefaultOptions()
		r, err := evictOneAndLoseNodes(t, c, o, e, stop)
		want := plan.BreakerOpen
		if stop != nil {
			want = stop.Code
		}
		st, _ := store.Load(t.Context())
		if err != nil || len(e.waves) != 1 || r.Stopped == nil || r.Stopped.Code != want || st.Breaker == nil {
			t.Errorf("stop reason %+v after %d waves, trip %+v, error %v; want %s and a trip", r.Stopped, len(e.waves), st.Breaker, err, want)
		}
	}
}

// evictOneAndLoseNodes runs a pass whose only wave ends with this reason. Half of the nodes are gone after the wave.
func evictOneAndLoseNodes(t *testing.T, c *controller.Controller, o *fixedObserver, e *scriptedEvictor, stop *plan.Reason) (plan.RunReport, error) {
	t.Helper()
	all := len(o.s.Nodes)
	e.results = []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}, Stop: stop}}
	var lost []cluster.DeletedNode
	c.DeletedNodes = func() []cluster.DeletedNode { return lost }
	e.during = func() {
		o.s = withoutNodes(t, all/2, o.s.TakenAt.Add(time.Minute))
		lost = deletedNodes(t, all/2, o.s.TakenAt)
	}
	if stop == nil {
		c.Planner = planner.New(loadConfig(t, "limits: {perPass: 1}").PlannerOptions())
	}
	return c.RunOnce(t.Context(), nil)
}

// Another release may appear, or an alert fire, when a pass begins or while the pass evicts. Without an answer about
// alerts nothing is evicted either.
func TestAReleaseOrAnAlertStopsThePass(t *testing.T) {
	for want, ask := range map[plan.Code]func(c *controller.Controller, found func() bool){
		plan.OtherReleaseActive: func(c *controller.Controller, found func() bool) {
			c.CheckOtherReleases = func(context.Context) *plan.Reason {
				if !found() {
					return nil
				}
				return &plan.Reason{Code: plan.OtherReleaseActive, Message: "ops"}
			}
		},
		plan.AlertFiring: func(c *controller.Controller, found func() bool) {
			c.FiringAlerts = func(context.Context) ([]string, error) {
				return map[bool][]string{true: {"KubeAPIDown"}}[found()], nil
			}
		},
		plan.AlertsUnknown: func(c *controller.Controller, found func() bool) {
			c.FiringAlerts = func(context.Context) ([]string, error) {
				return nil, map[bool]error{true: errors.New("no answer within 10s")}[found()]
			}
		},
	} {
		for calls, waves := range map[int]int{1: 0, 2: 0, 3: 1} { // calls: the check that finds it
			e, asked := &scriptedEvictor{}, 0
			c, _ := newController(t, e, plan.Live)
			ask(c, func() bool { asked++; return asked >= calls })
			r, err := c.RunOnce(t.Context(), nil)
			if err != nil || r.Stopped == nil || r.Stopped.Code != want || len(e.waves) != waves {
				t.Errorf("check %d: stopped %+v after %d waves (%v), want %s after %d waves", calls, r.Stopped, len(e.waves), err, want, waves)
			}
		}
		c, _ := newController(t, &scriptedEvictor{}, plan.DryRun) // it evicts nothing
		ask(c, func() bool { t.Errorf("%s: a dry run asks", want); return true })
		if r, err := c.RunOnce(t.Context(), nil); err != nil || r.Stopped != nil {
			t.Errorf("%+v, %v", r.Stopped, err)
		}
	}
}

// The questions before a batch take time. They are asked before the snapshot is taken, so that the last check of the
// moves is on a new one.
func TestNothingIsAskedBetweenTheLastCheckAndTheEvictions(t *testing.T) {
	e := &scriptedEvictor{}
	c, o := newController(t, e, plan.Live)
	alerts, releases := []int{}, []int{} // how many snapshots were taken when the question was asked
	c.FiringAlerts = func(context.Context) ([]string, error) { alerts = append(alerts, o.snapshots); return nil, nil }
	c.CheckOtherReleases = func(context.Context) *plan.Reason { releases = append(releases, o.snapshots); return nil }
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// Two waves: snapshot 1 is for the plan, snapshots 2 and 3 are for the checks of the waves.
	if want := []int{0, 1, 2}; len(e.waves) != 2 || !slices.Equal(alerts, want) || !slices.Equal(releases, want) {
		t.Errorf("%d waves, asked for alerts after %v snapshots, for releases after %v, want %v", len(e.waves), alerts, releases, want)
	}
}

// A process that is told to stop does not blame Prometheus.
func TestAStopIsNotAnUnknownAlert(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	e := &scriptedEvictor{}
	c, _ := newController(t, e, plan.Live)
	c.FiringAlerts = func(ctx context.Context) ([]string, error) { stop(); return nil, ctx.Err() }
	if r, _ := c.RunOnce(ctx, nil); r.Stopped == nil || r.Stopped.Code != plan.Interrupted || len(e.waves) != 0 {
		t.Errorf("stopped %+v after %d waves, want Interrupted", r.Stopped, len(e.waves))
	}
}
