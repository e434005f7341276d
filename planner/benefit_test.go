package planner_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// standing reads the published example, changed or not, and has its goals stated.
func standing(t *testing.T, conf *config.Config, change func(*cluster.Objects)) planner.GoalState {
	t.Helper()
	o, err := cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(o)
	}
	s, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return planner.GoalState{Snapshot: s, Goals: controller.Goals(s, conf.BuildStrategies(), nil)}
}

// replaced puts the replacement of an evicted pod on a node; "" leaves it Pending.
func replaced(o *cluster.Objects, m plan.Move, node string) {
	for i, p := range o.Pods {
		if string(p.UID) == m.Pod.UID {
			p = p.DeepCopy()
			p.Name, p.UID, p.Spec.NodeName = p.Name+"-new", p.UID+"-new", node
			if node == "" {
				p.Status = corev1.PodStatus{Phase: corev1.PodPending}
			}
			o.Pods[i] = p
		}
	}
}

func outcomeOf(m plan.Move, kind plan.OutcomeKind, landed string) plan.Outcome {
	return plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Landed: landed, LandedAsPredicted: landed == m.To}
}

func near(a, b history.Gain) bool {
	return a.Evictions == b.Evictions && math.Abs(a.Foretold-b.Foretold) < 1e-9 && math.Abs(a.Realised-b.Realised) < 1e-9
}

// Two moves bring d from 1/1/4 to 2/2/2: each takes one of the two pods that have to
// move.
func TestGainsOfSpread(t *testing.T) {
	conf, err := config.Load("c", []byte(head+"strategies:\n- {name: zones, type: ZoneSpread, schedule: \"@hourly\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := standing(t, conf, nil)
	p := planner.New(conf.PlannerOptions()).Plan(before.Snapshot, plan.PlannerState{}, before.Goals, before.Snapshot.TakenAt)
	if len(p.Moves) != 2 {
		t.Fatalf("%d moves", len(p.Moves))
	}
	a, b := p.Moves[0], p.Moves[1]
	both := func(x, y string) func(*cluster.Objects) {
		return func(o *cluster.Objects) { replaced(o, a, x); replaced(o, b, y) }
	}
	for name, c := range map[string]struct {
		outcomes []plan.Outcome
		after    func(*cluster.Objects)
		want     history.Gain
	}{
		"as foretold":              {[]plan.Outcome{outcomeOf(a, plan.Evicted, a.To), outcomeOf(b, plan.Evicted, b.To)}, both(a.To, b.To), history.Gain{Evictions: 2, Foretold: 1, Realised: 1}},
		"one comes back":           {[]plan.Outcome{outcomeOf(a, plan.Evicted, a.To), outcomeOf(b, plan.Evicted, b.From)}, both(a.To, b.From), history.Gain{Evictions: 2, Foretold: 1, Realised: .5}},
		"both come back":           {[]plan.Outcome{outcomeOf(a, plan.Evicted, a.From), outcomeOf(b, plan.Evicted, b.From)}, both(a.From, b.From), history.Gain{Evictions: 2, Foretold: 1}},
		"one was carried out":      {[]plan.Outcome{outcomeOf(a, plan.Evicted, a.To), outcomeOf(b, plan.Blocked, "")}, func(o *cluster.Objects) { replaced(o, a, a.To) }, history.Gain{Evictions: 1, Foretold: .5, Realised: .5}},
		"the other's is not known": {[]plan.Outcome{outcomeOf(a, plan.Evicted, a.To), outcomeOf(b, plan.UnknownOutcome, "")}, func(o *cluster.Objects) { replaced(o, a, a.To) }, history.Gain{Evictions: 1, Foretold: .5, Realised: .5}},
	} {
		got := planner.Gains(before, p, c.outcomes, standing(t, conf, c.after))
		if len(got) != 1 || !near(got["zones"], c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := planner.Gains(before, p, []plan.Outcome{outcomeOf(a, plan.Dropped, "")}, before); len(got) != 0 {
		t.Errorf("nothing was evicted: %+v", got)
	}
	gone := standing(t, conf, func(o *cluster.Objects) { o.Deployments, o.ReplicaSets, o.Pods = nil, nil, nil })
	if got := planner.Gains(before, p, []plan.Outcome{outcomeOf(a, plan.Evicted, a.To)}, gone)["zones"]; got.Foretold != 0 || got.Realised != 0 {
		t.Errorf("a goal that is no longer stated: %+v", got)
	}
}

// n1 and n2 each have half a CPU too much; a pod of one CPU leaves n1 for n3.
func TestGainsOfLoad(t *testing.T) {
	conf, err := config.Load("c", []byte(head+"strategies:\n- {name: hot, type: NodeLoad, schedule: \"@hourly\", args: {target: {cpu: 0.75}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := standing(t, conf, nil)
	p := planner.New(conf.PlannerOptions()).Plan(before.Snapshot, plan.PlannerState{}, before.Goals, before.Snapshot.TakenAt)
	if len(p.Goals) != 2 || p.Goals[0].Subject.Name != "n1" || p.Goals[0].Excess != .05 {
		t.Fatalf("goals %+v", p.Goals)
	}
	pod := before.Snapshot.PodByKey("shop/d-6c8f-00").Object
	m := plan.Move{Step: 1, Pod: plan.PodRef{Namespace: "shop", Name: pod.Name, UID: string(pod.UID)}, From: "n1", To: "n3", Goals: []string{p.Goals[0].ID}, Strategy: "hot"}
	p.Moves = []plan.Move{m}
	for name, c := range map[string]struct {
		landed string
		want   float64
	}{
		"as foretold":                 {"n3", 1},
		"back on the same node":       {"n1", 0},
		"it stays Pending":            {"", 0},
		"on another node that is hot": {"n2", 0}, // what n1 gains n2 loses
	} {
		after := standing(t, conf, func(o *cluster.Objects) { replaced(o, m, c.landed) })
		g := planner.Gains(before, p, []plan.Outcome{outcomeOf(m, plan.Evicted, c.landed)}, after)["hot"]
		if want := (history.Gain{Evictions: 1, Foretold: 1, Realised: c.want}); !near(g, want) {
			t.Errorf("%s: %+v, want %+v", name, g, want)
		}
	}
}
