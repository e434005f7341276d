package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// cause is what keeps pods of an unmet goal: a code, and words for it that follow
// "are".
type cause struct {
	code  plan.Code
	words string
}

// mostBlockers bounds what is said in all, where samples are bounded too.
const mostBlockers = 200

// blockers says, for each goal that the plan leaves with excess, what keeps how many
// of its pods, the most frequent cause first.
func (p *proof) blockers() []plan.Blocker {
	out := []plan.Blocker{}
	for g, goal := range p.goals.list {
		if goal.Constraint || p.goals.excess(g) == 0 {
			continue
		}
		if len(out) >= mostBlockers && p.p.opts.SamplesPerCode >= 0 {
			break
		}
		counts, all := map[cause]int{}, 0
		for _, id := range p.podsOf(g) {
			if !p.s.Pods[id].Terminal {
				all++
			}
			if r, ok := p.refused.of(id); ok {
				counts[p.cause(g, id, r.reason.Code)]++
			}
		}
		var causes []cause
		for x := range counts {
			causes = append(causes, x)
		}
		slices.SortFunc(causes, func(a, b cause) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(string(a.code), string(b.code)), strings.Compare(a.words, b.words))
		})
		for _, x := range causes {
			out = append(out, plan.Blocker{Code: x.code, Detail: fmt.Sprintf("%s (%s): %s %s", stays(goal), goal.ID, ofPods(counts[x], all), x.words)})
		}
	}
	return out
}

// stays says what a goal that is not met leaves.
func stays(g plan.Goal) string {
	if g.Kind == plan.NodeBelow {
		return fmt.Sprintf("%s stays above %.2f of its %s", g.Subject.Name, g.Limit, g.Resource)
	}
	return fmt.Sprintf("%s stays skewed by more than %d over %s", g.Subject, int(g.Limit), g.TopologyKey)
}

func ofPods(n, all int) string {
	if n == 1 {
		return fmt.Sprintf("1 of its %s is", pods(all))
	}
	return fmt.Sprintf("%d of its %s are", n, pods(all))
}

// cause says what keeps a pod: what binds it whatever the plan, where that is so, or
// else why the search refused it.
func (p *proof) cause(g int, id cluster.PodID, code plan.Code) cause {
	if words := p.binding(g, id); words != "" {
		return cause{code, words}
	}
	if words := keptBy[code]; words != "" {
		return cause{code, words}
	}
	return cause{code, "kept by a guard: " + string(code)}
}

// binding says what binds a pod that may leave to its node, or where the goal is
// about a group, to its domain; empty: nothing that is proven.
func (p *proof) binding(g int, id cluster.PodID) string {
	if !p.reach.leaves(id) {
		return ""
	}
	others, here, place := p.reach.all, "this node", "node"
	if k, ok := p.start.at[g].(*skew); ok {
		from, counted := k.domain(p.s.Pods[id].Node)
		if !counted {
			return ""
		}
		here, place = p.goals.list[g].Domains[from], "domain"
		nodes := p.reach.byDomain(k).in
		others = slices.Concat(append(nodes[:from:from], nodes[from+1:]...)...)
	} else if zone := p.limits.zone[p.s.Pods[id].Node]; zone != "" {
		here = zone
	}
	switch {
	case p.reach.among(id, others):
		return ""
	case p.pressed(id, others):
		return "" // words of the pressure hint say it
	case p.reach.runs(id, others):
		return "too large for any other " + place + " or its goals, even when every pod that may leave has left"
	case p.reach.selects(id, others) && cluster.HasVolumeClaim(p.s.Pods[id].Object):
		return "pinned by PersistentVolumes in " + here
	}
	return "kept from every other " + place + " by selectors, affinity, taints, cordons or features of nodes"
}

// pressed reports whether a pod could run on one of these nodes were it not for the
// pressure hint there.
func (p *proof) pressed(id cluster.PodID, nodes []cluster.NodeID) bool {
	could, none := p.reach.of(id), cluster.Resources{}
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != p.s.Pods[id].Node && p.s.Nodes[n].Ready && p.goals.pressed[n] && could(n, &none, 0)
	})
}

// keptBy are words for what an operator can change.
var keptBy = map[plan.Code]string{
	plan.NoTargetFits:           "without a node that takes them and leaves no goal worse",
	plan.NodesUnderPressure:     "without a node that takes them but those that carry the pressure hint",
	plan.BenefitTooSmall:        "not worth an eviction: what is above the limit is too little",
	plan.UsageUnknown:           "of unknown use",
	plan.WouldReturn:            "likely to come back, or to land where that helps as little",
	plan.UncertainLanding:       "not sure enough to land where that helps",
	plan.PlacementUnknown:       "of a kind whose landing cannot be foretold",
	plan.PredictionLimitReached: "not tried to the end: the plan was cut short (limits.maxPredictions)",
	plan.BlockedByPDB:           "held by PodDisruptionBudgets",
	plan.MultiplePDBs:           "held by several PodDisruptionBudgets at once",
	plan.PDBNotObserved:         "held by PodDisruptionBudgets that are not up to date",
	plan.WorkloadUnavailable:    "of workloads with too few available pods",
	plan.LimitPerPass:           "beyond limits.perPass",
	plan.LimitPerNode:           "beyond limits.perNode",
	plan.LimitPerNamespace:      "beyond limits.perNamespace",
	plan.LimitPerOwner:          "beyond limits.perOwner",
	plan.LimitPerZone:           "beyond limits.perZone",
	plan.LimitPerHour:           "beyond limits.perHour",
	plan.BackedOff:              "of workloads that rest after a bad landing, or came shortly after evictions of their workloads and may replace what was evicted",
	plan.DoNotDisrupt:           "not to be disrupted, by request",
	plan.EvictNever:             "never to be evicted, by request",
	plan.PreferNoEviction:       "better not evicted, by request",
	plan.OutsideWindow:          "outside their windows",
}
