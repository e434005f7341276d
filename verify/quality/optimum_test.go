package quality

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// tolerance is the largest difference at which two sums of shares count as equal.
const tolerance = 1e-9

// TestSmallPlansAreOptimal compares plans for up to 10 nodes and 40 pods with the best sequence of
// evictions, found by exhaustive search. The best sequence leaves the least excess and, among
// equals, has the fewest evictions. The test also replays the plan and checks every move.
func TestSmallPlansAreOptimal(t *testing.T) {
	from, to := seedRange(120, 500)
	testSmallPlans(t, from, to, 0.028, func(seed int) problem { return randomProblem(t, seed, 3, 10, 8+seed*7%33) })
}

// TestSmallPlansOfEachKind is TestSmallPlansAreOptimal for goals of one kind, alone and together
// with goals of strategies.
func TestSmallPlansOfEachKind(t *testing.T) {
	for _, kind := range []plan.GoalKind{plan.PodAway, plan.CountAtMost, plan.SkewAtMost} {
		for _, together := range []bool{false, true} {
			if together && kind == plan.SkewAtMost {
				continue // the strategies state goals of this kind
			}
			t.Run(fmt.Sprintf("%s, together %v", kind, together), func(t *testing.T) {
				from, to := seedRange(60, 300)
				testSmallPlans(t, from, to, 0.05, func(seed int) problem {
					p := randomProblem(t, seed, 3, 8, 8+seed*7%21)
					stated := simulation.RandomGoals(rand.New(rand.NewPCG(uint64(seed), 18)), p.s, kind)
					if together {
						stated = append(stated, p.goals()...)
					}
					p.stated = append([]plan.Goal{}, stated...)
					return p
				})
			})
		}
	}
}

// TestSmallPlansKeepPodsApart is TestSmallPlansOfEachKind for workloads that declare required anti-affinity. Unless
// otherNamespaces is true, the pods that a term selects in other namespaces do not leave for the goal.
func TestSmallPlansKeepPodsApart(t *testing.T) {
	for _, args := range []string{"{}", `{"otherNamespaces": true}`} {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, together %v", args, together), func(t *testing.T) {
				from, to := seedRange(60, 300)
				testSmallPlans(t, from, to, 0.05, func(seed int) problem {
					p := changedProblem(t, seed, 3, 8, 8+seed*7%21, simulation.AddAntiAffinity)
					apart, errs := strategies.New("apart", "InterPodAntiAffinity", []byte(args), cluster.Scope{})
					if len(errs) > 0 {
						t.Fatal(errs)
					}
					stated := apart.Goals(p.s)
					if together {
						stated = append(stated, p.goals()...)
					}
					p.stated = append([]plan.Goal{}, stated...)
					return p
				})
			})
		}
	}
}

// testSmallPlans compares plans with the best sequences. At most the share wanted of the decided plans may not be
// optimal.
func testSmallPlans(t *testing.T, from, to int, wanted float64, problemOf func(seed int) problem) {
	t.Helper()
	limit := 300
	if *longRun {
		limit = 30_000
	}
	var tally struct{ equal, worse, undecided, idle, states, chained int }
	kinds := map[string]int{}
	for seed := from; seed < to; seed++ {
		p := problemOf(seed)
		pl := p.plan()
		g := newExhaustiveSearch(p)
		best := score{g.excess(), 0}
		if best.excess == 0 {
			tally.idle++
		}
		mine, chained := applyPlanChecked(t, seed, g, pl)
		tally.chained += chained
		o := exploreStates(p, mine, limit)
		tally.states += o.states
		if b := pl.Bound; o.best.excess <= mine.excess+tolerance && o.best.evictions < b.MinForPlan ||
			o.best.excess <= b.Residual+rounding && o.best.evictions < b.MinEvictions {
			t.Errorf("seed %d: %d evictions leave %.3f, but the bounds are %d for the plan, %d for all goals with %.3f left", seed,
				o.best.evictions, o.best.excess, b.MinForPlan, b.MinEvictions, b.Residual)
		}
		switch {
		case o.best.better(mine):
			tally.worse++
			kinds[mine.describeAdvantage(o.best)]++
			t.Logf("seed %d (%d nodes, %d pods): the plan leaves %.3f of %.3f with %d evictions; the best leaves %.3f with %d:\n"+
				"    the plan %s\n    the best %s", seed,
				len(p.s.Nodes), len(p.s.Pods), mine.excess, best.excess, mine.evictions, o.best.excess, o.best.evictions,
				formatMoves(p, podMoves(p, pl)), formatMoves(p, o.steps))
		case o.cut:
			tally.undecided++
			t.Logf("seed %d (%d nodes, %d pods): the search reached its limit of states (%d); %.3f with %d evictions may be the best", seed,
				len(p.s.Nodes), len(p.s.Pods), o.states, mine.excess, mine.evictions)
		default:
			tally.equal++
		}
		if *only >= 0 {
			logPlan(t, pl)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("the best has %s: %d", k, kinds[k])
	}
	t.Logf("%d clusters: %d plans are optimal (%d without goals), %d are not, %d undecided; %d states; %d displaced moves",
		to-from, tally.equal, tally.idle, tally.worse, tally.undecided, tally.states, tally.chained)
	decided := max(1, tally.equal+tally.worse)
	checkCriterion(t, "share of decided small plans that are not optimal", float64(tally.worse)/float64(decided), wanted)
}

// score is the remaining excess and the number of evictions.
type score struct {
	excess    float64
	evictions int
}

func (a score) better(b score) bool {
	return a.excess < b.excess-tolerance || a.excess <= b.excess+tolerance && a.evictions < b.evictions
}

func podMoves(p problem, pl plan.Plan) (out []podMove) {
	for _, m := range pl.Moves {
		out = append(out, podMove{p.s.PodByUID(m.Pod.UID).ID, p.s.NodeByName(m.From).ID, p.s.NodeByName(m.To).ID})
	}
	return out
}

func formatMoves(p problem, steps []podMove) string {
	var out []string
	for _, h := range steps {
		pod := &p.s.Pods[h.pod]
		out = append(out, fmt.Sprintf("%s(%dm,%dMi) %s->%s", pod.Object.Name, pod.Requests.MilliCPU, pod.Requests.MemoryBytes>>20,
			p.s.Nodes[h.from].Name, p.s.Nodes[h.to].Name))
	}
	return strings.Join(out, ", ")
}

// describeAdvantage describes in which respect score b is better than score a.
func (a score) describeAdvantage(b score) string {
	switch {
	case a.excess <= b.excess+tolerance:
		return "fewer evictions, no less excess"
	case b.evictions <= a.evictions:
		return "less excess, no more evictions"
	}
	return "less excess, more evictions"
}

// applyPlanChecked executes a plan and checks each move: no goal may be worse after it. chained counts the moves that
// improve no goal on their own, because they may be part of a chain.
func applyPlanChecked(t *testing.T, seed int, g *exhaustiveSearch, pl plan.Plan) (at score, chained int) {
	t.Helper()
	for _, m := range pl.Moves {
		before := g.goalExcesses()
		pod := g.s.PodByUID(m.Pod.UID)
		if !g.mayEvict[pod.ID] || g.moved[pod.ID] {
			t.Errorf("seed %d: guards or budgets forbid evicting %s, or it has moved already", seed, pod.Object.Name)
		}
		if h, ok := g.predictedMove(pod.ID); !ok || g.s.Nodes[h.to].Name != m.To {
			chained++
		}
		g.applyMove(podMove{pod.ID, g.s.NodeByName(m.From).ID, g.s.NodeByName(m.To).ID})
		for i, x := range g.goals {
			if x.excess() > before[i] {
				t.Errorf("seed %d: goal %s %s is worse after step %d of wave %d: %s from %s to %s", seed, x.goal.Subject.Name,
					x.goal.Resource, m.Step, m.Wave, m.Pod.Name, m.From, m.To)
			}
		}
	}
	return score{g.excess(), len(pl.Moves)}, chained
}

// searchResult is the best result of a search.
type searchResult struct {
	best   score
	steps  []podMove
	states int
	cut    bool // the search reached its limit of states
}

// exploreStates searches for a score better than mine, which is the plan's, one eviction at a time.
// exploreStates drops a state whose lower bound is not better than the best score. The first search follows only
// the most promising states; the second search follows all states, up to the limit.
func exploreStates(p problem, mine score, limit int) searchResult {
	narrow := searchResult{best: mine}
	narrow.search(newExhaustiveSearch(p), limit, 30)
	o := searchResult{best: narrow.best, steps: narrow.steps, states: narrow.states}
	o.search(newExhaustiveSearch(p), limit, 0)
	return o
}

// searchNode is a state from which the search continues.
type searchNode struct {
	steps []podMove
	at    score
}

// search adds one eviction at a time. width limits the number of states that the search follows at
// each depth; 0 means all states, up to limit.
func (o *searchResult) search(g *exhaustiveSearch, limit, width int) {
	seen := map[string]bool{}
	for level := []searchNode{{}}; len(level) > 0; {
		var next []searchNode
		for _, from := range level {
			for _, h := range from.steps {
				g.applyMove(h)
			}
			next = append(next, o.expand(g, seen)...)
			for range from.steps {
				g.undoMove()
			}
			if width == 0 && len(seen) > limit {
				o.cut = true
				return
			}
		}
		if width > 0 && len(next) > width {
			slices.SortStableFunc(next, func(a, b searchNode) int { return cmp.Compare(a.at.excess, b.at.excess) })
			next = next[:width]
		}
		level = next
	}
}

// expand tries each allowed move, and returns the new states that may lead to a better score.
func (o *searchResult) expand(g *exhaustiveSearch, seen map[string]bool) (out []searchNode) {
	for _, h := range g.allowedMoves(o.best) {
		g.applyMove(h)
		if key := g.stateKey(); !seen[key] {
			seen[key] = true
			o.states++
			at := score{g.excess(), len(g.steps)}
			if at.better(o.best) {
				o.best, o.steps = at, slices.Clone(g.steps)
			}
			if g.lowerBound().better(o.best) {
				out = append(out, searchNode{slices.Clone(g.steps), at})
			}
		}
		g.undoMove()
	}
	return out
}

// allowedMoves returns the moves that the rules allow in this state.
func (g *exhaustiveSearch) allowedMoves(best score) (out []podMove) {
	if !g.lowerBound().better(best) {
		return nil
	}
	for i := range g.s.Pods {
		if h, ok := g.predictedMove(cluster.PodID(i)); ok {
			out = append(out, h)
		}
	}
	return out
}

// lowerBound returns the best score that any continuation of this state can reach. lowerBound assumes that every
// pod that has not moved yet can leave without worsening a goal, and counts the fewest such evictions.
func (g *exhaustiveSearch) lowerBound() score {
	var left float64
	nodes, groups := map[cluster.NodeID]int{}, map[plan.GoalKind]int{} // the goals of these kinds share no pods
	conflicts, degrees := 0, map[cluster.PodID]int{}                   // goals of PodsApart may share pods
	for _, x := range g.goals {
		have := x.excess()
		if have == 0 {
			continue
		}
		if x.goal.Kind == plan.PodsApart {
			conflicts += g.addConflicts(x, have, degrees, &left)
			continue
		}
		if x.goal.Kind != plan.NodeBelow {
			able := 0
			for p := range x.member {
				if !g.moved[p] && g.evictionHelps(p, x) {
					able++
				}
			}
			can := min(have, int64(able))
			groups[x.goal.Kind] += int(can)
			left += x.goal.Weight * float64(have-can) / float64(x.initial)
			continue
		}
		n, rest := g.fewestEvictions(x, have)
		nodes[x.goal.Node] = max(nodes[x.goal.Node], n)
		left += x.goal.Weight * float64(rest) / float64(x.initial)
	}
	all := 0
	for _, n := range nodes {
		all += n
	}
	groups[plan.PodsApart] = fewestPods(degrees, conflicts)
	for _, n := range groups {
		all = max(all, n)
	}
	return score{left, len(g.steps) + all}
}

// addConflicts adds the conflicts of a goal that evictions can end to the degrees of the pods that
// may leave, and returns their number. It adds the share of the others to left.
func (g *exhaustiveSearch) addConflicts(x *goalState, have int64, degrees map[cluster.PodID]int, left *float64) int {
	can := 0
	for i, c := range x.goal.Conflicts {
		if !x.isTogether(i) {
			continue
		}
		helped := false
		for _, p := range c.Pods {
			if !g.moved[p] && g.evictionHelps(p, x) {
				degrees[p]++
				helped = true
			}
		}
		if helped {
			can++
		}
	}
	*left += x.goal.Weight * float64(have-int64(can)) / float64(x.initial)
	return can
}

// fewestPods returns the fewest pods whose degrees together reach the number of conflicts.
func fewestPods(degrees map[cluster.PodID]int, conflicts int) (n int) {
	sizes := slices.Sorted(maps.Values(degrees))
	for ; conflicts > 0; n++ {
		conflicts -= sizes[len(sizes)-1-n]
	}
	return n
}

// fewestEvictions counts the largest evictable pods on a goal's node that together request an amount.
// fewestEvictions also returns the part of the amount that these pods do not cover.
func (g *exhaustiveSearch) fewestEvictions(x *goalState, amount int64) (n int, rest int64) {
	var sizes []int64
	for _, p := range g.s.Nodes[x.goal.Node].Pods {
		if !g.moved[p] && g.evictionHelps(p, x) {
			sizes = append(sizes, g.s.Pods[p].Requests.Get(x.goal.Resource))
		}
	}
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	for rest = amount; n < len(sizes) && rest > 0 && sizes[n] > 0; n++ {
		rest -= sizes[n]
	}
	return n, max(0, rest)
}
