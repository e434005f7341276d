package planner_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// recheckConfig and recheckCluster: node n1 is busy, and n2 and n3 have room. Deployment spread has a required
// spread constraint. Job sum may fail once more.
const recheckConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.05}}}
guards: {protect: [PodsWithLocalStorage], maxUnavailableWithoutPDB: 9}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
evictor: {inFlight: {perNode: 9, perOwner: 9}}
`

const recheckCluster = `
base: three-nodes
objects:
- {kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "80", memory: 40Gi}}}
- {kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: "80", memory: 40Gi}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 256Mi}, pods: [2 on n1]}
- kind: Deployment
  metadata: {name: spread}
  requests: {cpu: "1", memory: 256Mi}
  pods: [2 on n1]
  spec:
    template:
      spec:
        topologySpreadConstraints:
        - {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: spread}}}
- kind: Job
  metadata: {name: sum}
  requests: {cpu: "1", memory: 256Mi}
  pods: [2 on n1]
  spec: {backoffLimit: 2, completions: 100, parallelism: 2}
  status: {failed: 1}
`

// recheckByHand rechecks one wave with a move to n2 for each of the pods, after the changes to the cluster.
func recheckByHand(t *testing.T, pods []string, edit func([]plan.Move), changes ...string) ([]plan.Move, []plan.Outcome) {
	t.Helper()
	sc := &scenario.Scenario{Config: []byte(recheckConfig), Cluster: []byte(recheckCluster)}
	s, _, conf := openScenario(t, sc, changes...)
	var moves []plan.Move
	for i, name := range pods {
		moves = append(moves, plan.Move{Step: i + 1, Wave: 1, From: "n1", To: "n2",
			Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "Pod/shop/" + name}})
	}
	if edit != nil {
		edit(moves)
	}
	return planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil),
		plan.Plan{Moves: moves}, 1, s.TakenAt)
}

// TestRecheckRefusals: each rule of Recheck drops a move, with its reason.
func TestRecheckRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		pods    []string
		edit    func([]plan.Move)
		changes []string
		kept    int
		outcome plan.OutcomeKind
		code    plan.Code
		says    string
	}{
		{"nothing changed", []string{"web-6c8f-00", "sum-0"}, nil, nil, 2, "", "", ""},
		{"the pod is gone", []string{"web-6c8f-00"}, nil, []string{"{kind: Pod, metadata: {name: web-6c8f-00}, $patch: delete}"},
			0, plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone"},
		{"another pod has its name", []string{"web-6c8f-00"}, func(m []plan.Move) { m[0].Pod.UID = "old" }, nil,
			0, plan.Dropped, plan.UIDChanged, "another pod of the same name"},
		{"the pod is on another node", []string{"web-6c8f-00"}, func(m []plan.Move) { m[0].From = "n3" }, nil,
			0, plan.Dropped, plan.PremiseChanged, "the pod is no longer on n3"},
		{"a guard refuses it", []string{"web-6c8f-00"}, nil, []string{"{kind: Pod, metadata: {name: web-6c8f-00, annotations: {evenkeel.io/evict: never}}}"},
			0, plan.Dropped, plan.EvictNever, "never"},
		{"a budget blocks it", []string{"web-6c8f-00"}, nil, []string{`{kind: PodDisruptionBudget, metadata: {name: web, generation: 1}, spec: {maxUnavailable: 0,
  selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 0, expectedPods: 2, currentHealthy: 2, desiredHealthy: 2, observedGeneration: 1}}`},
			0, plan.Blocked, plan.BlockedByPDB, "pdb shop/web never allows the eviction of a healthy pod"},
		{"the Job would fail", []string{"sum-0", "sum-1"}, nil, nil, 1, plan.Dropped, plan.JobWouldFail,
			"failure 3 of Job sum, above its backoffLimit 2"},
		{"the landing depends on the order", []string{"spread-6c8f-00", "spread-6c8f-01"}, nil, nil, 1, plan.Dropped, plan.PremiseChanged,
			"its landing depends on the order in which the pods of the wave are replaced"},
		{"no node fits", []string{"web-6c8f-00"}, nil, []string{"{kind: Node, metadata: {name: n2}, spec: {unschedulable: true}}",
			"{kind: Node, metadata: {name: n3}, spec: {unschedulable: true}}"}, 0, plan.Dropped, plan.PremiseChanged, "NoTargetFits"},
		{"the pod makes room for itself", []string{"web-6c8f-00"}, func(m []plan.Move) { m[0].DisplacedFor = &m[0].Pod }, nil,
			0, plan.Dropped, plan.PremiseChanged, "shop/web-6c8f-00, for which it was to make room, is gone"},
		{"there is room for one of two pods", []string{"web-6c8f-00", "web-6c8f-01"}, nil,
			[]string{"{kind: Node, metadata: {name: n3}, spec: {unschedulable: true}}",
				`{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "80", memory: 300Mi}}}`},
			1, plan.Dropped, plan.PremiseChanged, "NoTargetFits"},
		{"it would return, and the first pod takes the only other node", []string{"web-6c8f-00", "sum-0"}, nil,
			[]string{"{kind: Node, metadata: {name: n3}, spec: {unschedulable: true}}",
				`{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "80", memory: 300Mi}}}`,
				`{kind: Pod, metadata: {name: sum-0}, spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution:
  [{weight: 100, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-1]}]}}]}}}}`},
			1, plan.Dropped, plan.PremiseChanged, "NoTargetFits"},
		{"the other pod may take its only node", []string{"web-6c8f-00", "sum-0"}, nil,
			[]string{`{kind: Pod, metadata: {name: web-6c8f-00}, spec: {nodeSelector: {topology.kubernetes.io/zone: zone-2}}}`,
				`{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "80", memory: 300Mi}}}`},
			1, plan.Dropped, plan.PremiseChanged, "other pods of the wave may take the room of a replacement"},
		{"the other pod of the step is in another namespace", []string{"sum-0"}, func(m []plan.Move) {
			m[0].DisplacedFor = &plan.PodRef{Namespace: "other", Name: "api"}
		}, []string{"{kind: Pod, metadata: {name: api, namespace: other}, spec: {nodeName: n1}}"}, 0, plan.Dropped, plan.PremiseChanged,
			"other/api, for which it was to make room, is in another namespace (guards.displaceAcrossNamespaces)"},
		{"the other pod of the step would fail its Job", []string{"sum-0"}, func(m []plan.Move) {
			m[0].DisplacedFor = &plan.PodRef{Namespace: "shop", Name: "sum-1", UID: "Pod/shop/sum-1"}
		}, nil, 0, plan.Dropped, plan.PremiseChanged, "shop/sum-1, for which it was to make room, may not leave: the eviction would be failure 3 of Job sum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, dropped := recheckByHand(t, c.pods, c.edit, c.changes...)
			if len(ok) != c.kept || len(ok)+len(dropped) != len(c.pods) {
				t.Fatalf("kept %d, want %d; dropped %+v", len(ok), c.kept, dropped)
			}
			for _, o := range dropped {
				if o.Outcome != c.outcome || o.Reason.Code != c.code || !strings.Contains(o.Reason.Message, c.says) {
					t.Errorf("dropped %+v", o)
				}
			}
		})
	}
}

// TestRecheckCountsPodsInFlight checks that Recheck drops a move if the in-flight limits are lower now than when the
// plan was made.
func TestRecheckCountsPodsInFlight(t *testing.T) {
	s, _, goals, made := planTwoMoves(t, "{}")
	conf := configWithTwoStrategies(t)
	conf.Guards.MaxUnavailableWithoutPDB, conf.Guards.MinConfidence, conf.Evictor.InFlight.PerOwner = 5, 0.1, plan.Absolute(1)
	ok, dropped := planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) != 1 || len(dropped) != 1 || dropped[0].Reason.Message != "fewer pods may be away at once than when the plan was made" {
		t.Errorf("kept %d, dropped %+v", len(ok), dropped)
	}
}

// TestRecheckOfSteeredMoves: Recheck drops the steered moves of a wave if its hints are no longer
// possible, and keeps the others. It handles every wave in this way, not only the first.
func TestRecheckOfSteeredMoves(t *testing.T) {
	for _, c := range []struct {
		hints plan.WaveHints
		says  string
	}{
		{plan.WaveHints{Wave: 2, Kind: "taint", Nodes: []string{"n3"}}, "it cannot be steered now: the plan steers by taint, and evictor.steer is none"},
		{plan.WaveHints{Wave: 2, Kind: "none", Nodes: []string{"gone"}}, "it cannot be steered now: node gone is gone"},
	} {
		sc := &scenario.Scenario{Config: []byte(recheckConfig), Cluster: []byte(recheckCluster)}
		s, st, conf := openScenario(t, sc)
		move := func(step int, name, steer string) plan.Move {
			return plan.Move{Step: step, Wave: 2, From: "n1", To: "n2", Steer: steer,
				Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "Pod/shop/" + name}}
		}
		made := plan.Plan{Moves: []plan.Move{move(1, "web-6c8f-00", "taint"), move(2, "sum-0", "none")}, Hints: []plan.WaveHints{c.hints}}
		ok, dropped := planner.New(conf.PlannerOptions()).Recheck(s, st, controller.Goals(s, conf.BuildStrategies(), nil), made, 2, s.TakenAt)
		if len(ok) != 1 || ok[0].Step != 2 || len(dropped) != 1 || dropped[0].Reason.Code != plan.PremiseChanged || dropped[0].Reason.Message != c.says {
			t.Errorf("kept %+v, dropped %+v", ok, dropped)
		}
	}
}

// TestRecheckWithoutTheLastSteeredMove: if no steered move of a wave remains, the wave has no hints, and the others are
// judged without them. With a hint on n2, the replacement of sum-0 would return to n1.
func TestRecheckWithoutTheLastSteeredMove(t *testing.T) {
	conf := strings.Replace(recheckConfig, "evictor: {", "evictor: {steer: taint, ", 1)
	sc := &scenario.Scenario{Config: []byte(conf), Cluster: []byte(recheckCluster)}
	s, st, c := openScenario(t, sc, "{kind: Pod, metadata: {name: web-6c8f-00}, $patch: delete}",
		"{kind: Node, metadata: {name: n3}, spec: {unschedulable: true}}")
	move := func(step int, name, steer string) plan.Move {
		return plan.Move{Step: step, Wave: 1, From: "n1", To: "n2", Steer: steer,
			Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "Pod/shop/" + name}}
	}
	made := plan.Plan{Moves: []plan.Move{move(1, "web-6c8f-00", "taint"), move(2, "sum-0", "none")},
		Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n2"}}}}
	goals := controller.Goals(s, c.BuildStrategies(), nil)
	ok, dropped := planner.New(c.PlannerOptions()).Recheck(s, st, goals, made, 1, s.TakenAt)
	if len(ok) != 1 || ok[0].Step != 2 || len(dropped) != 1 || dropped[0].Reason.Code != plan.PodGoneAlready {
		t.Errorf("kept %+v, dropped %+v", ok, dropped)
	}
}

// TestRecheckDoesNotDependOnTheOrderOfGoals checks that Recheck keeps and drops the same moves in either order of two
// goals. Both goals are about n1 and have different limits; n2 and n3 have no goal.
func TestRecheckDoesNotDependOnTheOrderOfGoals(t *testing.T) {
	s, st, conf := openScenario(t, &scenario.Scenario{Config: []byte(recheckConfig), Cluster: []byte(recheckCluster)})
	goals := []plan.Goal{{Strategy: "a", Limit: 0.001}, {Strategy: "b", Limit: 0.05}}
	for i := range goals {
		g := &goals[i]
		g.Kind, g.Subject, g.Node = plan.NodeBelow, plan.ObjectRef{Kind: "Node", Name: "n1"}, s.NodeByName("n1").ID
		g.Resource, g.Weight = "cpu", 1
	}
	made := plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, From: "n1", To: "n2",
		Pod: plan.PodRef{Namespace: "shop", Name: "web-6c8f-00", UID: "Pod/shop/web-6c8f-00"}}}}
	p := planner.New(conf.PlannerOptions())
	ok, dropped := p.Recheck(s, st, goals, made, 1, s.TakenAt)
	slices.Reverse(goals)
	again, other := p.Recheck(s, st, goals, made, 1, s.TakenAt)
	if !reflect.DeepEqual(again, ok) || !reflect.DeepEqual(other, dropped) {
		t.Errorf("kept %+v, then %+v; dropped %+v, then %+v", ok, again, dropped, other)
	}
}

// TestLaterWavesAreSteeredAgain: the steered moves of the waves after the first hold when Recheck
// sees the cluster after the earlier waves.
func TestLaterWavesAreSteeredAgain(t *testing.T) {
	checked := 0
	for seed := range uint64(30) {
		conf := configWithSteering(t, "taint")
		s, p := planRandomCluster(t, clusterWithoutGracePeriods(seed), conf)
		for _, h := range p.Hints {
			if h.Wave == 1 {
				continue
			}
			first := slices.IndexFunc(p.Moves, func(m plan.Move) bool { return m.Wave == h.Wave })
			later := must.Get(cluster.New(simulation.WithReplacements(s.Objects, p.Moves[:first])))(t)
			ok, dropped := planner.New(conf.PlannerOptions()).Recheck(later, plan.PlannerState{}, controller.Goals(later, conf.BuildStrategies(), nil),
				p, h.Wave, s.TakenAt)
			for _, o := range dropped {
				t.Errorf("seed %d, wave %d: dropped %+v", seed, h.Wave, o)
			}
			for _, m := range ok {
				if i := slices.IndexFunc(p.Moves, func(x plan.Move) bool { return x.Step == m.Step }); m.Steered() {
					checked++
					if m.Confidence < 0.9 || m.Confidence != p.Moves[i].Confidence {
						t.Errorf("seed %d, step %d: confidence %v, in the plan %v", seed, m.Step, m.Confidence, p.Moves[i].Confidence)
					}
				}
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d steered moves of later waves", checked)
	}
}

// TestRecheckCountsAReservedMoveOfAStep: the limits count a reserved move, but its Job does not: the other move of the
// step would be one failure too many.
func TestRecheckCountsAReservedMoveOfAStep(t *testing.T) {
	sc := &scenario.Scenario{Config: []byte(recheckConfig), Cluster: []byte(recheckCluster)}
	s, _, conf := openScenario(t, sc)
	m := plan.Move{Step: 1, Wave: 1, From: "n1", To: "n2", Pod: plan.PodRef{Namespace: "shop", Name: "sum-0", UID: "Pod/shop/sum-0"},
		DisplacedFor: &plan.PodRef{Namespace: "shop", Name: "sum-1", UID: "Pod/shop/sum-1"}}
	st := plan.PlannerState{Runs: []plan.OpenRun{{RunID: "now", Started: s.TakenAt,
		Reservations: []plan.Reservation{{Step: 1, Wave: 1, Pod: m.Pod, From: "n1", At: s.TakenAt}}}}}
	_, dropped := planner.New(conf.PlannerOptions()).Recheck(s, st, controller.Goals(s, conf.BuildStrategies(), nil), plan.Plan{Moves: []plan.Move{m}}, 1, s.TakenAt)
	if want := "failure 3 of Job sum"; len(dropped) != 1 || !strings.Contains(dropped[0].Reason.Message, want) {
		t.Errorf("dropped %+v, want a reason with %q", dropped, want)
	}
}
