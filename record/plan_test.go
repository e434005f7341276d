package record_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

const (
	maxSpecBytes   = 400 << 10
	maxObjectBytes = 900 << 10
)

// A plan and its status fit into an object whatever their size is, and whatever other people wrote into names and
// messages. An object has whole waves from the first, and says what it leaves out.
func TestEveryPlanFitsIntoAnObject(t *testing.T) {
	schema := objectstest.Schema(t, "RebalancePlan")
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		o := v1alpha1.RebalancePlan{Spec: record.Spec(&p, v1alpha1.ModeAutomatic)}
		o.APIVersion, o.Kind, o.Name = v1alpha1.GroupVersion.String(), "RebalancePlan", "p"
		r := plan.RunReport{RunID: "r", Mode: plan.Live, Started: p.TakenAt, Finished: p.TakenAt.Add(time.Hour), Plan: p}
		for _, m := range p.Moves {
			r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Blocked,
				Reason: plan.Reason{Code: plan.BlockedByPDB, Message: m.Reason.Message}, Landed: m.To})
		}
		o.Status = record.Status(o.Status, &o.Spec, &r, "holder")
		if size := len(marshal(t, o.Spec)); size > maxSpecBytes {
			t.Fatalf("the spec has %d bytes, want at most %d", size, maxSpecBytes)
		}
		if size := len(marshal(t, o)); size > maxObjectBytes {
			t.Fatalf("the object has %d bytes, want at most %d", size, maxObjectBytes)
		}
		if err := objectstest.Validate(schema, o); err != nil {
			t.Fatalf("the API server would refuse or change the object: %v", err)
		}
		kept := len(o.Spec.Moves)
		if kept < len(p.Moves) && kept > 0 && p.Moves[kept].Wave == p.Moves[kept-1].Wave {
			t.Fatalf("wave %d is cut after step %d of %d", p.Moves[kept].Wave, kept, len(p.Moves))
		}
		if omitted := o.Spec.Omitted; (omitted == nil || int(omitted.Moves) != len(p.Moves)-kept) && kept < len(p.Moves) {
			t.Fatalf("%d moves are left out, and the object says %+v", len(p.Moves)-kept, omitted)
		}
		if len(o.Status.Steps) != kept {
			t.Fatalf("the status has %d steps, want the %d of the spec", len(o.Status.Steps), kept)
		}
	})
}

func marshal(t *rapid.T, o any) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func randomPlan(t *rapid.T) plan.Plan {
	number := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	long := rapid.SampledFrom([]string{"x", strings.Repeat("n", 250), strings.Repeat("ä\u202e\n", 900)})
	name, message := strings.Repeat("n", rapid.SampledFrom([]int{1, 63, 253}).Draw(t, "name")), long.Draw(t, "message")
	p := plan.Plan{ID: "0123456789abcdef", TakenAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), ConfigHash: "c",
		Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 7}},
		Before:     plan.State{Excess: map[string]float64{}, Utilization: map[string]plan.Distribution{"cpu": {Mean: 0.5}}},
		After:      plan.State{Excess: map[string]float64{}}}
	p.Expires = p.TakenAt.Add(time.Hour)
	waveSize := 1 + number("moves of a wave", 50)
	for i := range number("moves", 3000) {
		pod := plan.PodRef{Namespace: name[:min(len(name), 63)], Name: name, UID: fmt.Sprint(i)}
		p.Moves = append(p.Moves, plan.Move{Step: i + 1, Wave: 1 + i/waveSize, Pod: pod, Owner: plan.ObjectRef{Kind: "Deployment", Name: name}, From: name,
			To: name, Confidence: 0.97, Strategy: "zones", Goals: []string{fmt.Sprint("g", i)}, Reason: plan.Reason{Code: plan.ZoneSkewed, Message: message}})
	}
	for i := range number("goals", 3000) {
		p.Goals = append(p.Goals, plan.Goal{ID: fmt.Sprint("g", i), Strategy: "zones", Kind: plan.SkewAtMost,
			Subject: plan.ObjectRef{Kind: "Deployment", Name: name}, Limit: 1, Excess: 2})
	}
	for i := range number("emptied nodes", 600) {
		g := plan.Goal{ID: fmt.Sprint("e", i), Strategy: "consolidation", Kind: plan.NodeEmpty, Subject: plan.ObjectRef{Kind: "Node", Name: fmt.Sprint("n", i)}}
		for k := 3 * i; k < min(3*i+3, len(p.Moves)); k++ {
			p.Moves[k].Goals, p.Moves[k].From = append(p.Moves[k].Goals, g.ID), g.Subject.Name
			g.Leaving = append(g.Leaving, p.Moves[k].Pod)
		}
		p.Goals = append(p.Goals, g)
	}
	for i := range p.Moves {
		if i%200 == 0 && i+60 < len(p.Moves) {
			p.Moves[i].DisplacedFor = &p.Moves[i+60].Pod
		}
		if m := p.Moves[i]; i%5 == 0 && (len(p.Hints) == 0 || p.Hints[len(p.Hints)-1].Wave < m.Wave) {
			p.Hints = append(p.Hints, plan.WaveHints{Wave: m.Wave, Kind: "label", Nodes: []string{name}})
		}
	}
	for i := range number("nodes", 1000) {
		n := plan.NodeState{Name: fmt.Sprint("n", i), Zone: fmt.Sprint("z", i%3), Requested: map[string]float64{"cpu": float64(i) / 1000}}
		p.Before.Nodes, p.After.Nodes = append(p.Before.Nodes, n), append(p.After.Nodes, n)
	}
	for i := range number("workloads", 1000) {
		w := plan.WorkloadState{Namespace: "shop", Kind: "Deployment", Name: fmt.Sprint(name, i), Zones: map[string]int{"z0": i}, FailureCategory: 1 + i%4}
		p.Before.Workloads, p.After.Workloads = append(p.Before.Workloads, w), append(p.After.Workloads, w)
	}
	for range number("samples", 100) {
		p.Rejections.Samples = append(p.Rejections.Samples, plan.Rejection{Pod: plan.PodRef{Namespace: "shop", Name: name},
			Reason: plan.Reason{Code: plan.BlockedByPDB, Message: message}})
	}
	for i := range number("strategies", 150) {
		p.Strategies = append(p.Strategies, plan.StrategyState{Name: fmt.Sprint("s", i), Goals: 3, Unmet: 1, Due: true, NoData: message})
	}
	for range number("inputs", 60) {
		p.Inputs = append(p.Inputs, plan.Input{Source: "prometheus", Problems: slices.Repeat([]string{message}, 30)})
	}
	return p
}

// A stored plan can be executed: it has each move as it was planned, the later move for which another one makes room,
// and every move that empties a node. The API server changes nothing of it, and its hash tells every change.
func TestAStoredPlanIsExecutedAsPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		o := v1alpha1.RebalancePlan{Spec: record.Spec(&p, v1alpha1.ModeApprove)}
		stored := v1alpha1.DeepCopy(&o)
		if record.Hash(&stored.Spec) != record.Hash(&o.Spec) {
			t.Fatal("the stored plan has another hash")
		}
		back := record.PlanOf(stored)
		again := record.Spec(&back, v1alpha1.ModeApprove)
		executed := func(s v1alpha1.RebalancePlanSpec) string {
			return string(marshal(t, v1alpha1.RebalancePlanSpec{Moves: s.Moves, Hints: s.Hints}))
		}
		if want, got := executed(o.Spec), executed(again); got != want {
			t.Fatalf("the moves and hints are\n%.2000s\nwant\n%.2000s", got, want)
		}
		moved := map[string]bool{}
		for _, m := range back.Moves {
			moved[m.Pod.UID] = true
		}
		nodes := map[string]plan.Goal{}
		for _, g := range back.Goals {
			nodes[g.ID] = g
		}
		for i := range p.Moves[:len(back.Moves)] {
			m := &p.Moves[i]
			if m.DisplacedFor != nil && !moved[m.DisplacedFor.UID] {
				t.Fatalf("step %d makes room for a pod that the stored plan does not move", m.Step)
			}
			for _, g := range p.Goals {
				if g.Kind == plan.NodeEmpty && slices.Contains(m.Goals, g.ID) && !slices.Equal(nodes[g.ID].Leaving, g.Leaving) {
					t.Fatalf("%v leave %s, want %v", nodes[g.ID].Leaving, g.Subject.Name, g.Leaving)
				}
			}
		}
		if len(stored.Spec.Moves) > 0 {
			stored.Spec.Moves[0].From += "x"
			if record.Hash(&stored.Spec) == record.Hash(&o.Spec) {
				t.Fatal("a changed plan has the same hash")
			}
		}
	})
}

// The status of a release and its hours fit into their objects.
func TestEveryPassFitsIntoTheRelease(t *testing.T) {
	release, history := objectstest.Schema(t, "Rebalancer"), objectstest.Schema(t, "RebalanceHistory")
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		p.Moves, p.Goals = nil, nil // a release has neither
		stopped := &plan.Reason{Code: plan.BreakerOpen, Message: strings.Repeat("y", 5000)}
		r := plan.RunReport{RunID: "r", Mode: plan.Live, Started: p.TakenAt, Finished: p.TakenAt.Add(time.Hour), Plan: p, Stopped: stopped}
		st := plan.PlannerState{Breaker: &plan.BreakerTrip{At: p.TakenAt, Reason: *stopped}}
		modes := map[string]plan.StrategyMode{}
		for _, s := range p.Strategies {
			modes[s.Name] = plan.Approve
		}
		o := v1alpha1.Rebalancer{Status: record.Rebalancer(v1alpha1.RebalancerStatus{}, record.Pass{Report: &r, State: st, Modes: modes})}
		o.APIVersion, o.Kind, o.Name = v1alpha1.GroupVersion.String(), "Rebalancer", "evenkeel"
		if err := objectstest.Validate(release, o); err != nil {
			t.Fatalf("the API server would refuse or change the object: %v", err)
		}
		if size := len(marshal(t, o)); size > maxObjectBytes {
			t.Fatalf("the release has %d bytes, want at most %d", size, maxObjectBytes)
		}
		h := v1alpha1.RebalanceHistory{}
		h.APIVersion, h.Kind, h.Name = v1alpha1.GroupVersion.String(), "RebalanceHistory", "evenkeel"
		step := time.Duration(rapid.IntRange(1, 200).Draw(t, "minutes")) * time.Minute
		for range 1000 {
			r.Finished = r.Finished.Add(step)
			h.Hours = record.AddPass(h.Hours, &r)
		}
		if err := objectstest.Validate(history, h); err != nil {
			t.Fatalf("the API server would refuse or change the object: %v", err)
		}
		if size := len(marshal(t, h.Hours)); len(h.Hours) > 720 || size > 64<<10 {
			t.Fatalf("%d hours have %d bytes, want at most 720 and 64 KiB", len(h.Hours), size)
		}
	})
}
