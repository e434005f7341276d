package quality

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// minBenefitOfStep is the least CPU, in milliCPU, that two evictions must remove from a node: one
// percent of ten cores.
const minBenefitOfStep = 100

// TestStepsHarmNothingAtAnyPrefix plans on clusters where pods must make room for others. No move
// may worsen a goal. The move that needs the room must follow each displaced move in a later wave,
// and both must be worth their evictions. Plans without displaced moves must leave more excess.
func TestStepsHarmNothingAtAnyPrefix(t *testing.T) {
	steps, helped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64Range(0, 1<<20).Draw(t, "seed")
		p := tightProblem(t, seed)
		pl, g := p.plan(), newExhaustiveSearch(p)
		single := newExhaustiveSearch(p)
		applyPlan(single, p.withoutSteps(t).plan())
		for i, m := range pl.Moves {
			before, was := g.goalExcesses(), g.excess()
			g.applyMove(podMoves(p, pl)[i])
			if !g.noGoalWorse(before) {
				t.Fatalf("seed %d: step %d (%s from %s to %s, for %v) makes a goal worse", seed, m.Step, m.Pod.Name, m.From, m.To, m.DisplacedFor)
			}
			if m.DisplacedFor == nil {
				if g.excess() >= was {
					t.Fatalf("seed %d: step %d improves no goal", seed, m.Step)
				}
				continue
			}
			steps++
			if i+1 == len(pl.Moves) || pl.Moves[i+1].Pod != *m.DisplacedFor || pl.Moves[i+1].To != m.From || pl.Moves[i+1].Wave <= m.Wave {
				t.Fatalf("seed %d: step %d makes room on %s for %v, but the move of that pod does not follow: %+v", seed, m.Step, m.From,
					m.DisplacedFor, pl.Moves[i:])
			}
			g.applyMove(podMoves(p, pl)[i+1])
			if less := sumExcess(before) - sumExcess(g.goalExcesses()); less < minBenefitOfStep {
				t.Fatalf("seed %d: steps %d and %d remove only %dm of cpu", seed, m.Step, m.Step+1, less)
			}
			g.undoMove()
		}
		if g.excess() > single.excess()+tolerance {
			t.Fatalf("seed %d: excess %.3f remains with displaced moves, %.3f without", seed, g.excess(), single.excess())
		}
		if g.excess() < single.excess()-tolerance {
			helped++
		}
	})
	t.Logf("%d displaced moves; %d plans leave less excess because of them", steps, helped)
	if steps == 0 || helped == 0 {
		t.Errorf("%d displaced moves, and %d plans that they improve, want more than 0", steps, helped)
	}
}

// TestNoStepIsNeedless removes both moves of a displacement from a plan. More excess must remain.
func TestNoStepIsNeedless(t *testing.T) {
	for seed := range uint64(200) {
		p := tightProblem(t, seed)
		pl, all := p.plan(), newExhaustiveSearch(p)
		applyPlan(all, pl)
		for i, m := range pl.Moves {
			if m.DisplacedFor == nil {
				continue
			}
			less, cut := newExhaustiveSearch(p), pl
			cut.Moves = slices.Delete(slices.Clone(pl.Moves), i, i+2)
			applyPlan(less, cut)
			if less.excess() <= all.excess()+tolerance {
				t.Errorf("seed %d: no more excess remains without steps %d and %d", seed, m.Step, m.Step+1)
			}
		}
	}
}

func sumExcess(levels []int64) (sum int64) {
	for _, x := range levels {
		sum += x
	}
	return sum
}

func applyPlan(g *exhaustiveSearch, pl plan.Plan) {
	for _, m := range pl.Moves {
		g.applyMove(podMove{g.s.PodByUID(m.Pod.UID).ID, g.s.NodeByName(m.From).ID, g.s.NodeByName(m.To).ID})
	}
}

func tightProblem(t interface{ Fatal(...any) }, seed uint64) problem {
	conf, err := config.Load("c", []byte(simulation.TightSettings))
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(simulation.Tight(rand.New(rand.NewPCG(seed, 61))))
	if err != nil {
		t.Fatal(err)
	}
	return problem{int(seed), s, conf, nil}
}
