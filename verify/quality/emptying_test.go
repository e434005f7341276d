package quality

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// packingConfig empties nodes, without limits. The scheduler prefers full nodes, so that replacements do not return.
const packingConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  pack: {type: NodeConsolidation, schedule: "0 * * * *", args: {below: {cpu: %[1]v, memory: %[1]v}, target: {cpu: %[2]v, memory: %[2]v}, maxNodes: 100}}
placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// packingProblem generates a cluster of up to 8 nodes, several of which have few requests.
func packingProblem(t testing.TB, seed int) problem {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 78))
	below := []float64{0.3, 0.4, 0.5}[r.IntN(3)]
	conf, err := config.Load("c", fmt.Appendf(nil, packingConfig, below, []float64{0.7, 0.85, 1}[r.IntN(3)]))
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(simulation.Varied(r, 3+r.IntN(6), 8+seed*7%21))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return problem{seed, s, conf, nil}
}

// TestSmallPlansEmptyTheMostNodes compares plans for up to 8 nodes and 28 pods with the best way to
// empty nodes, found by exhaustive search. The best way leaves the fewest nodes with few requests
// and, among equals, has the fewest evictions. The test also replays the plan: it empties each node
// as a whole, and no replacement lands on an emptied node.
func TestSmallPlansEmptyTheMostNodes(t *testing.T) {
	from, to := seedRange(60, 300)
	limit := 2_000
	if *longRun {
		limit = 20_000
	}
	var tally struct{ equal, worse, undecided, idle, states int }
	for seed := from; seed < to; seed++ {
		p := packingProblem(t, seed)
		pl := p.plan()
		o := emptyingSearch{exhaustiveSearch: newExhaustiveSearch(p), limit: limit, seen: map[string]bool{}, current: cluster.NoNode}
		start := o.excess()
		o.best = replayEmptying(t, seed, p, pl)
		mine := o.best
		o.explore()
		tally.states += len(o.seen)
		switch {
		case o.best.better(mine):
			tally.worse++
			t.Logf("seed %d (%d nodes, %d pods): the plan leaves %.0f of %.0f nodes with %d evictions; the best leaves %.0f with %d:\n"+
				"    the plan %s\n    the best %s", seed, len(p.s.Nodes), len(p.s.Pods), mine.excess, start, mine.evictions,
				o.best.excess, o.best.evictions, formatMoves(p, podMoves(p, pl)), formatMoves(p, o.bestSteps))
		case o.cut:
			tally.undecided++
		default:
			tally.equal++
		}
		if len(pl.Moves) == 0 && !o.best.better(mine) {
			tally.idle++
		}
		if *only >= 0 {
			logPlan(t, pl)
		}
	}
	t.Logf("%d clusters: %d plans are optimal (in %d, no node can be emptied), %d are not, %d undecided; %d states",
		to-from, tally.equal, tally.idle, tally.worse, tally.undecided, tally.states)
	checkCriterion(t, "share of decided small plans that are not optimal", float64(tally.worse)/float64(max(1, tally.equal+tally.worse)), 0.05)
}

// replayEmptying executes the plan, and checks that every move leaves an emptied node for one that stays.
func replayEmptying(t *testing.T, seed int, p problem, pl plan.Plan) score {
	t.Helper()
	g := newExhaustiveSearch(p)
	applyPlan(g, pl)
	for _, m := range pl.Moves {
		for _, x := range g.goals {
			empties := x.goal.Kind == plan.NodeEmpty && x.left == 0
			if at := p.s.Nodes[x.goal.Node].Name; empties && m.To == at || x.goal.Kind == plan.NodeEmpty && !empties && m.From == at {
				t.Errorf("seed %d: %s moves from %s to %s, and %s is empty afterwards: %v", seed, m.Pod.Name, m.From, m.To, at, empties)
			}
		}
	}
	return score{g.excess(), len(pl.Moves)}
}

// emptyingSearch tries all orders in which nodes can be emptied, one after the other, and all orders
// of the pods of each node. A replacement must land with enough confidence on a node that is not
// empty and where no goal becomes worse.
type emptyingSearch struct {
	*exhaustiveSearch
	current   cluster.NodeID // the node that is being emptied, or NoNode
	best      score
	bestSteps []podMove
	seen      map[string]bool
	limit     int
	cut       bool // the search reached its limit of states
}

// explore tries every move in this state, and continues from each new state that may lead to a better score.
func (o *emptyingSearch) explore() {
	for _, x := range o.goals {
		if x.goal.Kind != plan.NodeEmpty || !o.canBeEmptied(x) || o.current != cluster.NoNode && x.goal.Node != o.current {
			continue
		}
		for _, pod := range x.goal.Pods {
			if o.moved[pod] {
				continue
			}
			if h, ok := o.landing(pod, x.goal); ok {
				o.try(h, x)
			}
		}
	}
}

func (o *emptyingSearch) try(h podMove, x *goalState) {
	was := o.current
	o.applyMove(h)
	if o.current = x.goal.Node; x.left == 0 {
		o.current = cluster.NoNode
	}
	if at := (score{o.excess(), len(o.steps)}); at.better(o.best) {
		o.best, o.bestSteps = at, slices.Clone(o.steps)
	}
	key := o.stateKey() + string(binary.AppendVarint(nil, int64(o.current)))
	switch {
	case o.seen[key]:
	case len(o.seen) >= o.limit:
		o.cut = true
	case o.mayImprove():
		o.seen[key] = true
		o.explore()
	}
	o.undoMove()
	o.current = was
}

// mayImprove reports whether this state may lead to a score better than the best. It assumes that
// each node that can still be emptied takes no replacement.
func (o *emptyingSearch) mayImprove() bool {
	bound := score{o.excess(), len(o.steps)}
	for _, x := range o.goals {
		if x.goal.Kind == plan.NodeEmpty && x.left > 0 && o.canBeEmptied(x) {
			bound.excess -= x.goal.Weight
			bound.evictions += x.left
		}
	}
	return bound.better(o.best)
}

// canBeEmptied reports whether the node has pods that must leave, all of them may, and no replacement has landed there.
func (o *emptyingSearch) canBeEmptied(x *goalState) bool {
	stay := 0
	for _, pod := range x.goal.Pods {
		if !o.moved[pod] {
			if stay++; !o.mayEvict[pod] || len(o.targets[pod]) == 0 {
				return false
			}
		}
	}
	return stay > 0 && stay == x.left
}

// landing returns the predicted move of a pod for the goal, and whether it is certain enough. A
// landing on a node that was empty saves nothing.
func (o *emptyingSearch) landing(pod cluster.PodID, of plan.Goal) (podMove, bool) {
	from := o.model.Cluster.NodeOf(pod)
	pr := o.model.Predict(pod)
	good := func(n cluster.NodeID) bool {
		return n != from && o.s.Nodes[n].Ready && (of.Targets == nil || of.Targets[n]) && o.harmsNoGoal(pod, from, n)
	}
	if pr.UnsupportedReason != "" || plan.Round(pr.Prob(good)) < o.opts.MinConfidence {
		return podMove{}, false
	}
	to := pr.LikeliestOf(good)
	return podMove{pod, from, to}, to != cluster.NoNode
}

// harmsNoGoal reports whether a move worsens no goal.
func (o *emptyingSearch) harmsNoGoal(pod cluster.PodID, from, to cluster.NodeID) bool {
	for _, x := range o.goals {
		if x.affectedBy(pod, from, to) && o.change(x, pod, from, to) > 0 {
			return false
		}
	}
	return true
}
