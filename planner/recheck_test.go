package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// planTwoMoves returns a plan with two moves of one Deployment in one wave, under the given limits.
func planTwoMoves(t *testing.T, limits string) (*cluster.Snapshot, *planner.Planner, []plan.Goal, plan.Plan) {
	t.Helper()
	return planTwoMovesWith(t, limits, "maxUnavailableWithoutPDB: 5")
}

// planTwoMovesWith is planTwoMoves with other settings of the guards.
func planTwoMovesWith(t *testing.T, limits, guards string) (*cluster.Snapshot, *planner.Planner, []plan.Goal, plan.Plan) {
	t.Helper()
	o := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies:\n  zones: {type: ZoneSpread, schedule: \"0 * * * *\"}\nguards: {"+guards+", minConfidence: 0.1}\nevictor: {inFlight: {perNode: 5, perOwner: 5}}\nlimits: "+limits+"\n")))(t)
	s := must.Get(cluster.New(o))(t)
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[1].Wave != 1 {
		t.Fatalf("want two moves in one wave: %+v", made.Moves)
	}
	return s, p, goals, made
}

func stateAfterEviction(m plan.Move, n int, at time.Time) plan.PlannerState {
	return plan.PlannerState{Evictions: []plan.EvictionCount{{Workload: history.WorkloadOfMove(m),
		Minute: at.Truncate(time.Minute), Count: n}}}
}

// TestRecheckCountsTheHour: evictions by other passes since the plan was made count against perHour. Recheck keeps
// only as many moves of a wave as perHour still allows.
func TestRecheckCountsTheHour(t *testing.T) {
	for _, c := range []struct{ past, holds int }{{0, 2}, {1, 2}, {2, 1}, {3, 0}} {
		s, p, goals, made := planTwoMoves(t, "{perHour: {owner: 3}}")
		ok, dropped := p.Recheck(s, stateAfterEviction(made.Moves[0], c.past, s.TakenAt), goals, made, 1, s.TakenAt)
		if len(ok) != c.holds || len(ok)+len(dropped) != 2 {
			t.Errorf("%d evictions in the hour: %d moves remain, dropped %+v", c.past, len(ok), dropped)
		}
		for _, o := range dropped {
			if o.Reason.Code != plan.LimitPerHour || o.Outcome != plan.Dropped {
				t.Errorf("%d in the hour: %+v", c.past, o)
			}
		}
	}
}

// TestRecheckCountsNothingTwice: the reservation of a wave uses up perHour. Recheck does not count the reserved moves
// again, also if it judges only a part of the wave.
func TestRecheckCountsNothingTwice(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{perHour: {owner: 2, cluster: 2}}")
	st := history.Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, made.Moves, s.TakenAt)
	rest := made
	rest.Moves = made.Moves[1:]
	for _, of := range []plan.Plan{made, rest} {
		if ok, dropped := p.Recheck(s, st, goals, of, 1, s.TakenAt); len(ok) != len(of.Moves) {
			t.Errorf("of %d reserved moves %d remain: %+v", len(of.Moves), len(ok), dropped)
		}
	}
	// A reserved move counts if its outcome is recorded, or if it has another step number.
	settled, _ := history.RecordOutcomes(st, "r", []plan.Outcome{{Step: 2, Pod: made.Moves[1].Pod,
		Outcome: plan.UnknownOutcome}}, s.TakenAt, history.Options{Initial: time.Nanosecond})
	another := made
	another.Moves = []plan.Move{made.Moves[1]}
	another.Moves[0].Step = 7
	for _, c := range []struct {
		st plan.PlannerState
		of plan.Plan
	}{{settled, rest}, {st, another}} {
		c.st.Backoffs = nil
		if ok, dropped := p.Recheck(s, c.st, goals, c.of, 1, s.TakenAt); len(ok) != 0 || dropped[0].Reason.Code != plan.LimitPerHour {
			t.Errorf("hold %d, dropped %+v", len(ok), dropped)
		}
	}
}

// TestRecheckCountsAReservedMoveOnce checks that Recheck keeps both moves if one of them is reserved and perHour allows
// two evictions.
func TestRecheckCountsAReservedMoveOnce(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{perHour: {owner: 2}}")
	st := history.Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, made.Moves[:1], s.TakenAt)
	if ok, dropped := p.Recheck(s, st, goals, made, 1, s.TakenAt); len(ok) != 2 {
		t.Errorf("kept %d moves, dropped %+v", len(ok), dropped)
	}
}

// TestRecheckDropsWhatRests checks that Recheck drops a move if its workload started a back-off after the plan was
// made.
func TestRecheckDropsWhatRests(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{}")
	m := made.Moves[0]
	st := plan.PlannerState{Backoffs: []plan.Backoff{{Workload: history.WorkloadOfMove(m), Since: s.TakenAt,
		Until: s.TakenAt.Add(time.Minute), Failures: 1}}}
	ok, dropped := p.Recheck(s, st, goals, made, 1, s.TakenAt)
	if len(ok) != 0 || len(dropped) != 2 || dropped[0].Reason.Code != plan.BackedOff {
		t.Errorf("hold %d, dropped %+v", len(ok), dropped)
	}
	if ok, _ := p.Recheck(s, st, goals, made, 1, s.TakenAt.Add(time.Minute)); len(ok) != 2 {
		t.Errorf("after the rest %d hold", len(ok))
	}
}

// TestRecheckKnowsNoOrderWithinAWave: two pods leave one node, and each of two other nodes has room for one of them.
// Recheck accepts either node for either pod, because the evictions of a wave have no order.
func TestRecheckKnowsNoOrderWithinAWave(t *testing.T) {
	for _, full := range []string{"10Gi", "2Gi"} { // only the CPU goal limits a and b to one pod, or their memory does too
		s, p, goals, made := planTwoPodsForTwoNodes(t, full)
		checkBothNodesAcceptable(t, s, p, goals, made)
	}
}

func checkBothNodesAcceptable(t *testing.T, s *cluster.Snapshot, p *planner.Planner, goals []plan.Goal, made plan.Plan) {
	t.Helper()
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) != 2 || len(dropped) != 0 {
		t.Fatalf("%d hold, dropped %+v", len(ok), dropped)
	}
	for _, m := range ok {
		if !slices.Equal(m.AcceptableNodes, []string{"a", "b"}) {
			t.Errorf("%s may stand on %v", m.Pod.Name, m.AcceptableNodes)
		}
	}
}

// planTwoPodsForTwoNodes returns a plan that moves two pods off node hot in one wave. Nodes a and b have the given
// memory, of which 1Gi is requested. Each pod requests 1Gi.
func planTwoPodsForTwoNodes(t *testing.T, memory string) (*cluster.Snapshot, *planner.Planner, []plan.Goal, plan.Plan) {
	t.Helper()
	y := &strings.Builder{}
	y.WriteString("apiVersion: v1\nkind: Namespace\nmetadata: {name: d}\n")
	for _, n := range []string{"a", "b", "hot"} {
		if n == "hot" && memory == "2Gi" {
			memory = "4Gi" // the four pods on it request all of it
		}
		fmt.Fprintf(y, "---\n{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: 2000m, memory: %s, pods: 10}, conditions: [{type: Ready, status: \"True\"}]}}\n", n, memory)
	}
	pod := func(app, name, node string) {
		fmt.Fprintf(y, "---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: d, uid: %s, labels: {app: %s}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %s, uid: %s, controller: true}]}, spec: {nodeName: %s, containers: [{name: c, image: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}, status: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}}\n", name, name, app, app, app, node)
	}
	for _, app := range []string{"left", "right"} {
		fmt.Fprintf(y, "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: %s, namespace: d, uid: %s}, spec: {replicas: 2, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}}}\n", app, app, app, app)
		pod(app, app+"-1", "hot")
		pod(app, app+"-2", "hot")
	}
	for _, n := range []string{"a", "b"} {
		fmt.Fprintf(y, "---\n{apiVersion: v1, kind: Pod, metadata: {name: bare-%s, namespace: d}, spec: {nodeName: %s, containers: [{name: c, image: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}, status: {phase: Running, conditions: [{type: Ready, status: \"True\"}]}}\n", n, n)
	}
	path := filepath.Join(t.TempDir(), "s.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(y.String()), 0o600))
	o := must.Get(cluster.ReadFiles([]string{path}, nil))(t)
	o.ServerVersion = "1.37"
	s := must.Get(cluster.New(o))(t)
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies:\n  hot: {type: NodeLoad, schedule: \"0 * * * *\", args: {target: {cpu: 0.5}}}\nguards: {minPodAge: 0s}\nlimits: {perNamespace: unlimited, perZone: unlimited}\n")))(t)
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[1].Wave != 1 {
		t.Fatalf("want two moves in one wave: %+v\n%+v", made.Moves, made.Rejections)
	}
	return s, p, goals, made
}

// TestRecheckSaysHowManyPodsMustBeReady checks how many pods of the Deployment and of the Service must be Ready right
// before each eviction. Deployment d wants six pods, Service d selects them, and two of them leave in one wave.
func TestRecheckSaysHowManyPodsMustBeReady(t *testing.T) {
	for guards, want := range map[string][]string{
		"maxUnavailableWithoutPDB: 5, protect: [DegradedWorkloads]": {"Deployment d: 4 WorkloadUnavailable"},
		"maxUnavailableWithoutPDB: 5, protect: [Jobs]":              {"Deployment d: 1 WorkloadUnavailable"},
		"maxUnavailableWithoutPDB: 6, protect: [Jobs]":              nil,
		"maxUnavailableWithoutPDB: 6, protect: [LastReadyPods]":     {"Service d: 1 LastReadyPod"},
	} {
		s, p, goals, made := planTwoMovesWith(t, "{}", guards)
		ok, _ := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
		if len(ok) != 2 {
			t.Fatalf("%s: %d moves remain", guards, len(ok))
		}
		for _, m := range ok {
			var got []string
			for _, r := range m.ReadyRequirements {
				got = append(got, fmt.Sprintf("%s: %d %s", r.Of, r.MinReady, r.Code))
				if r.Selector != "app=d" {
					t.Errorf("selector %q", r.Selector)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", guards, got, want)
			}
		}
	}
	s, p, goals, made := planTwoMovesWith(t, "{}", "maxUnavailableWithoutPDB: 5")
	objects := *s.Objects
	objects.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "d"},
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(5)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "d"}}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 5, ExpectedPods: 6, CurrentHealthy: 6},
	}}
	s = must.Get(cluster.New(&objects))(t)
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) != 2 || len(ok[0].ReadyRequirements) != 0 {
		t.Errorf("with a PodDisruptionBudget: %+v, dropped %+v", ok, dropped)
	}
}
