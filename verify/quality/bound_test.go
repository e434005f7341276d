package quality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/lowerbound"
)

// measurement is how good the plan of one seed is.
type measurement struct {
	seed, nodes, pods int
	evictions         int
	rooms             int // of them make room for another; no bound knows of these
	// stated is the bound that the plan gives, of what it reaches; bound is proven
	// here, of the same, nodes and groups together.
	stated, bound int
	// The share of the goals' excess that is left: out of reach of every plan, as is
	// proven; held, by whom, since no single further eviction helps; and beyond both.
	// plain is what is not proven by a sharper proof either, of pods that could not run
	// on any other node.
	proven, beyond, plain float64
	held                  map[plan.UnmetReason]float64
	// disproved are goals that are said to be held although an eviction would help.
	disproved int
	took      time.Duration
	why       string
	again     int // moves of a plan on the result
	// unmet is the excess beyond the certificate by kind of goal and what its
	// pods met most.
	unmet map[string]float64
}

// rounding is what three figures of a plan, each rounded, can be off by.
const rounding = 2e-4

func (f measurement) ratio() float64 {
	if f.bound == 0 {
		return 1 + float64(f.evictions)
	}
	return float64(f.evictions) / float64(f.bound)
}

// TestPlansAreNearTheBound plans on random clusters of 20 to 200 nodes and
// compares evictions with the fewest that are proven to be needed, and what is
// left with what is certified to stay. A plan on the result must move nothing.
func TestPlansAreNearTheBound(t *testing.T) {
	var all []measurement
	short := !*longRun && *only < 0 && *seeds == 0
	from, to := count(40, 500)
	for seed := from; seed < to; seed++ {
		most := 200
		if short {
			most = 40
		}
		all = append(all, measured(t, seed, most))
	}
	printMeasurements(t, all)
	values := func(of func(measurement) float64) (out []float64) {
		for _, f := range all {
			out = append(out, of(f))
		}
		slices.Sort(out)
		return out
	}
	ratios := values(measurement.ratio)
	over := values(func(f measurement) float64 { return float64(f.evictions) - 1.25*float64(f.bound) - 1 })
	overAlone := values(func(f measurement) float64 { return float64(f.evictions-f.rooms) - 1.25*float64(f.bound) - 1 })
	beyond := values(func(f measurement) float64 { return f.beyond })
	heldIn := values(func(f measurement) float64 { return f.heldIn() })
	t.Logf("goals' worth of excess, mean: %.3f proven out of reach, %.3f held (no single further eviction helps), %.3f beyond both", sum(values(func(f measurement) float64 { return f.proven }))/float64(len(all)), sum(heldIn)/float64(len(all)), sum(beyond)/float64(len(all)))
	criterion(t, "goals said to be held that an eviction would serve", sum(values(func(f measurement) float64 { return float64(f.disproved) })), 0)
	again := values(func(f measurement) float64 { return float64(min(1, f.again)) })
	criterion(t, "evictions / bound, median", at(ratios, 0.5), 1.10)
	if short { // in clusters of up to 40 nodes steps are many
		t.Logf("evictions above 1.25 x bound + 1, 95th percentile: %.3f", at(over, 0.95))
	} else {
		criterion(t, "evictions above 1.25 x bound + 1, 95th percentile", at(over, 0.95), 0)
	}
	criterion(t, "the same without those that make room for others", at(overAlone, 0.95), 0)
	criterion(t, "share of clusters with excess beyond the certificate", 1-below(beyond, 0), 0)
	criterion(t, "goals' worth of excess beyond the certificate, mean", sum(beyond)/float64(len(beyond)), 0)
	criterion(t, "share of clusters where planning again moves something", sum(again)/float64(len(again)), 0)
}

func measured(t *testing.T, seed, most int) measurement {
	p := randomProblem(t, seed, 20, most, 0)
	begun := time.Now()
	pl := p.plan()
	f := measurement{seed: seed, nodes: len(p.s.Nodes), pods: len(p.s.Pods), evictions: len(pl.Moves), stated: pl.Bound.MinForPlan, took: time.Since(begun), unmet: map[string]float64{}, held: map[plan.UnmetReason]float64{}}
	for _, m := range pl.Moves {
		if m.DisplacedFor != nil {
			f.rooms++
		}
	}
	f.bound = max(f.stated, proven(t, p, pl))
	if f.evictions < f.bound {
		t.Errorf("seed %d: %d evictions, fewer than the proven %d", seed, f.evictions, f.bound)
	}
	sharper := unreachableGoals(p, pl)
	for _, g := range pl.Goals {
		if left := pl.After.Excess[g.ID]; g.Excess > 0 && left > 0 {
			residual, h := pl.Bound.ResidualByGoal[g.ID], unmetGoalsOf(pl, g)
			part := g.Weight * max(0, left-residual) / g.Excess
			f.proven += g.Weight * min(left, residual) / g.Excess
			f.held[h.Reason] += g.Weight * h.Excess / g.Excess
			if open := left - residual - h.Excess; open > rounding {
				f.beyond += g.Weight * open / g.Excess
			}
			f.unmet[string(g.Kind)+" "+blocker(pl, g)] += part
			f.plain += g.Weight * max(0, left-max(sharper[g.ID], pl.Bound.ResidualByGoal[g.ID])) / g.Excess
		}
	}
	f.disproved = countDisproved(t, p, pl)
	f.why = unmetReasonOf(pl)
	next := p.after(t, pl).plan()
	if f.again = len(next.Moves); f.again > 0 {
		m := next.Moves[0]
		f.why += fmt.Sprintf("; planned again: %d moves, such as %s from %s to %s (%s), at first %s", f.again, m.Pod.Name, m.From, m.To, m.Reason.Message, standing(pl, m.Pod.UID))
	}
	if *only >= 0 {
		detail(t, pl)
	}
	return f
}

// proven is the fewest evictions that come as near to the goals as the plan does.
// A node needs the largest pods that cover what the plan takes away, a group the
// moves by which the plan brings it nearer; package cover adds them up. A plan
// never makes a goal worse, so that nothing that is needed is needed twice.
func proven(t *testing.T, p problem, pl plan.Plan) int {
	before, after := newExhaustiveSearch(p), newExhaustiveSearch(p)
	played(t, p.seed, after, pl)
	nodes := make([]int, len(p.s.Nodes))
	var groups []int
	group := map[cluster.PodID]int32{}
	for i, x := range before.goals {
		gone := x.excess() - after.goals[i].excess()
		if gone <= 0 {
			continue
		}
		if x.counts == nil {
			n, _ := before.fewestOff(x, gone)
			nodes[x.goal.Node] = max(nodes[x.goal.Node], n)
			continue
		}
		for pod := range x.member {
			group[pod] = int32(len(groups))
		}
		groups = append(groups, int(gone))
	}
	var pods []lowerbound.Pod
	for i := range p.s.Pods {
		if id := cluster.PodID(i); before.mayEvict[id] && len(before.runs[id]) > 0 {
			g, ok := group[id]
			if !ok {
				g = -1
			}
			pods = append(pods, lowerbound.Pod{Node: int32(p.s.Pods[id].Node), Group: g})
		}
	}
	return lowerbound.CountBound(nodes, groups, pods)
}

// unreachableGoals is what goals must keep when every pod that may leave and could run on
// some other node, or in another domain, does: in the goal's unit.
func unreachableGoals(p problem, pl plan.Plan) map[string]float64 {
	out, board := map[string]float64{}, newExhaustiveSearch(p)
	for _, x := range board.goals {
		i := slices.IndexFunc(pl.Goals, func(g plan.Goal) bool {
			return g.Kind == x.goal.Kind && g.Subject == x.goal.Subject && g.Resource == x.goal.Resource
		})
		if i < 0 {
			continue
		}
		if x.counts != nil {
			out[pl.Goals[i].ID] = float64(board.stuckPods(x))
			continue
		}
		n, left := &p.s.Nodes[x.goal.Node], x.excess()
		for _, id := range n.Pods {
			if board.evictionHelps(id, x) {
				left -= p.s.Pods[id].Requests.Get(x.goal.Resource)
			}
		}
		out[pl.Goals[i].ID] = max(0, float64(left)/float64(n.Allocatable.Get(x.goal.Resource)))
	}
	return out
}

// stuckPods is by how much a group stays skewed at least: pods that cannot change
// domain fill one, or those that can may enter none that is emptier.
func (g *exhaustiveSearch) stuckPods(x *gauge) int {
	able := make([]int, len(x.counts))
	enter := make([]int, len(x.counts))
	for p := range x.member {
		d := x.domain[g.s.Pods[p].Node]
		entered := map[int]bool{}
		for _, n := range g.runs[p] {
			if to := x.domain[n]; to >= 0 && to != d && !entered[to] {
				entered[to] = true
				enter[to]++
			}
		}
		if d >= 0 && g.evictionHelps(p, x) {
			able[d]++
		}
	}
	fullest, emptiest := 0, len(x.member)
	for d, c := range x.counts {
		fullest = max(fullest, c-able[d])
		emptiest = min(emptiest, c+enter[d])
	}
	return max(0, fullest-emptiest-int(x.goal.Limit))
}

// standing is what a plan said of a pod.
func standing(pl plan.Plan, uid string) string {
	for _, m := range pl.Moves {
		if m.Pod.UID == uid {
			return "moved from " + m.From
		}
	}
	for _, r := range pl.Rejections.Samples {
		if r.Pod.UID == uid {
			return fmt.Sprintf("refused: %s: %s", r.Reason.Code, r.Reason.Message)
		}
	}
	return "not looked at"
}

// blocker is what most pods of an unmet goal met.
func blocker(pl plan.Plan, g plan.Goal) string {
	for _, b := range pl.Bound.BlockedBy {
		if strings.Contains(b.Detail, "("+g.ID+")") {
			return string(b.Code)
		}
	}
	return "nothing"
}

// unmetReasonOf names what the unmet goals met most.
func unmetReasonOf(pl plan.Plan) string {
	codes := map[plan.Code]int{}
	unmet := 0
	for _, g := range pl.Goals {
		if pl.After.Excess[g.ID] > pl.Bound.ResidualByGoal[g.ID] {
			unmet++
		}
	}
	for _, r := range pl.Rejections.Samples {
		codes[r.Reason.Code]++
	}
	var words []string
	for c, n := range codes {
		words = append(words, fmt.Sprintf("%s %d", c, n))
	}
	slices.SortFunc(words, func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		return cmp.Or(cmp.Compare(len(y[1]), len(x[1])), cmp.Compare(y[1], x[1]), cmp.Compare(a, b))
	})
	return fmt.Sprintf("%d of %d goals unmet; %s", unmet, len(pl.Goals), strings.Join(words[:min(3, len(words))], ", "))
}

func detail(t *testing.T, pl plan.Plan) {
	for _, m := range pl.Moves {
		t.Logf("%3d wave %d %s %s -> %s goals %v benefit %v", m.Step, m.Wave, m.Pod.Name, m.From, m.To, m.Goals, m.Benefit)
	}
	for _, g := range pl.Goals {
		t.Logf("goal %s %s %s %s: excess %v, after %v, certified %v", g.ID, g.Kind, g.Subject.Name, g.Resource, g.Excess, pl.After.Excess[g.ID], pl.Bound.ResidualByGoal[g.ID])
	}
	for _, r := range pl.Rejections.Samples {
		t.Logf("stays: %s on %s: %s: %s", r.Pod.Name, r.Node, r.Reason.Code, r.Reason.Message)
	}
}
