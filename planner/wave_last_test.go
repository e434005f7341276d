package planner_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestRecheckKeepsAWaveCertain: Recheck drops the move whose pod leaves the best node for another replacement. Of the
// scenario's two waves, the test makes one.
func TestRecheckKeepsAWaveCertain(t *testing.T) {
	sc := scenario.Read(t, "wave-leaves-a-better-node")
	conf := must.Get(config.Load("config.yaml", sc.Config))(t)
	s := must.Get(cluster.New(sc.Objects(t)))(t)
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[1].Wave != 2 {
		t.Fatalf("want two waves: %+v", made.Moves)
	}
	made.Moves[1].Wave = 1
	ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
	if len(ok) != 1 || ok[0].Pod.Name != made.Moves[0].Pod.Name || len(dropped) != 1 {
		t.Fatalf("kept %+v, dropped %+v", ok, dropped)
	}
	if r := dropped[0].Reason; r.Code != plan.PremiseChanged || !strings.Contains(r.Message, "the landing of shop/ap-6c8f-01") {
		t.Errorf("dropped because of %+v", r)
	}
	made.Moves[0], made.Moves[1] = made.Moves[1], made.Moves[0]
	if ok, dropped = p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt); len(ok) != 1 || len(dropped) != 1 {
		t.Errorf("in the other order: kept %+v, dropped %+v", ok, dropped)
	}
}

// TestRecheckAcceptsTheNodesOfEveryOrder: after the earlier moves of the wave, the replacement may land on a node that
// they left, although it has no room there while their pods terminate. Recheck accepts that node, so the landing is not
// recorded as a bad one.
func TestRecheckAcceptsTheNodesOfEveryOrder(t *testing.T) {
	left := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 8))
		o := simulation.Dense(r)
		simulation.RelateDense(r, o, []string{"own constraints", "spread", "affinity", "anti-affinity"}[seed%4])
		conf := must.Get(config.Load("c", fmt.Appendf(nil, denseConfig, 2)))(t)
		s := must.Get(cluster.New(o))(t)
		p := planner.New(conf.PlannerOptions())
		goals := controller.Goals(s, conf.BuildStrategies(), nil)
		ok, _ := p.Recheck(s, plan.PlannerState{}, goals, p.Plan(s, plan.PlannerState{}, goals, s.TakenAt), 1, s.TakenAt)
		for i, m := range ok {
			others := slices.Delete(slices.Clone(ok), i, i+1)
			for _, before := range [][]plan.Move{ok[:i], others} {
				left += checkAccepted(t, p, conf, o, before, m)
			}
		}
	}
	if t.Logf("%d landings on nodes that the wave leaves", left); left < 100 {
		t.Errorf("only %d landings on nodes that the wave leaves", left)
	}
}

// checkAccepted checks that Recheck accepts each node on which the replacement may land after the moves before it. It
// returns the number of possible nodes that these moves left.
func checkAccepted(t *testing.T, p *planner.Planner, conf *config.Config, o *cluster.Objects, before []plan.Move, m plan.Move) (left int) {
	t.Helper()
	s := must.Get(cluster.New(simulation.WithReplacements(o, before)))(t)
	x := p.Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	for _, n := range x.Pod(planner.FindPod(s, m.Pod).ID).Pods[0].Landing.Nodes {
		if n.Acceptable && n.Probability > 0 && !slices.Contains(m.AcceptableNodes, n.Name) {
			t.Errorf("after %d moves, %s may land on %s; Recheck accepts %v", len(before), m.Pod.Name, n.Name, m.AcceptableNodes)
		}
		if slices.ContainsFunc(before, func(b plan.Move) bool { return b.From == n.Name }) {
			left++
		}
	}
	return left
}

// TestMovesThatLeaveAWaveLeaveNoTrace: if moves leave a wave, the others are judged as if the wave
// had never had them. So a recheck drops no move of a planned wave. A recheck of moves that an
// earlier recheck has kept changes nothing; the test puts all moves of a plan into one wave, so
// that some leave it.
func TestMovesThatLeaveAWaveLeaveNoTrace(t *testing.T) {
	left := 0
	for _, seed := range []uint64{114, 125, 145, 149, 168, 177, 198} { // many moves leave
		r := rand.New(rand.NewPCG(seed, 77))
		s := must.Get(cluster.New(simulation.Varied(r, 5+r.IntN(10), 120)))(t)
		conf := must.Get(config.Load("c", []byte(strings.Replace(bothStrategies, "PASS", "unlimited", 1))))(t)
		p, goals := planner.New(conf.PlannerOptions()), controller.Goals(s, conf.BuildStrategies(), nil)
		made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		if _, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt); len(dropped) > 0 {
			t.Errorf("seed %d: a recheck of the first wave drops %+v", seed, dropped)
		}
		for i := range made.Moves {
			made.Moves[i].Wave = 1
		}
		var dropped []plan.Outcome
		made.Moves, dropped = p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
		for _, o := range dropped {
			if strings.HasPrefix(o.Reason.Message, "once ") {
				left++
			}
		}
		again, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
		if len(dropped) > 0 || !reflect.DeepEqual(made.Moves, again) {
			t.Errorf("seed %d: the second recheck drops %+v and keeps\n%+v\nof\n%+v", seed, dropped, again, made.Moves)
		}
	}
	if t.Logf("%d moves left a wave", left); left < 7 {
		t.Errorf("only %d moves left a wave", left)
	}
}

// TestLargeWavesAreCertain: two goroutines check the end of a wave of many moves. A recheck, which predicts each
// landing, drops no move of such a wave. In the cluster of 1,200 nodes, bounds prove more than half of the landings.
func TestLargeWavesAreCertain(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(6*seed, 78))
		objects := simulation.Varied(r, 40+r.IntN(40), 1200)
		if seed == 2 {
			objects = simulation.Uneven(r, 1200, 24000)
		}
		s := must.Get(cluster.New(objects))(t)
		conf := must.Get(config.Load("c", []byte(strings.Replace(bothStrategies, "PASS", "unlimited", 1))))(t)
		p, goals := planner.New(conf.PlannerOptions()), controller.Goals(s, conf.BuildStrategies(), nil)
		ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, p.Plan(s, plan.PlannerState{}, goals, s.TakenAt), 1, s.TakenAt)
		if len(ok) < 16 || len(dropped) > 0 {
			t.Errorf("seed %d: a recheck of the first wave keeps %d moves and drops %+v", seed, len(ok), dropped)
		}
	}
}
