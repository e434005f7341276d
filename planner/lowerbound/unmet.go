package lowerbound

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
)

// unmetGoals returns the unmet goals with the excess that no proof explains, and the weighted sum of that excess.
// unmetGoals reports only goals that the final pass examined. For each of these goals, guards, the placement model or
// other goals rejected every pod that could improve the goal. So no single eviction helps, but two moves together
// might. The list has only goals that the plan lists.
func (p *proof) unmetGoals() (all float64, out []plan.UnmetGoal) {
	listed := p.result.ListedGoals()
	for _, g := range slices.Sorted(slices.Values(p.result.FinalPassGoals)) {
		if p.result.Snapshot.Work.Spend(1 + len(p.result.Problem.PodsOf(g))) {
			break
		}
		goal := p.result.End.Goals.Goals[g]
		left := p.result.End.Goals.ReportedExcess(g) - p.byGoal[goal.ID]
		if p.result.End.Goals.Excess(g) == 0 || left <= 0 || goal.Excess <= 0 {
			continue
		}
		h := plan.UnmetGoal{Goal: goal.ID, Excess: plan.Round(left), Rejections: map[plan.Code]int{}}
		var elsewhere []cluster.PodID
		if !p.countRejections(g, h.Rejections, &elsewhere) {
			continue
		}
		all += float64(goal.Weight * left / goal.Excess)
		if !listed[g] {
			continue
		}
		h.Reason = unmetReason(h.Rejections)
		words := len(out) < maxDetails || p.result.Options.SamplesPerCode < 0
		if h.Detail = p.unmetDetail(g, h); len(elsewhere) > 0 && words {
			h.Detail += p.likelyLandings(g, elsewhere)
		}
		out = append(out, h)
	}
	return plan.Round(all), out
}

// countRejections counts the rejection codes of the pods that could improve goal g. The list elsewhere gets the pods
// whose predicted landing does not help. If the rejection of a pod is not final, countRejections returns false.
func (p *proof) countRejections(g int, codes map[plan.Code]int, elsewhere *[]cluster.PodID) bool {
	for _, id := range p.result.Problem.PodsOf(g) {
		from := p.result.End.Model.Cluster.NodeOf(id)
		helps := from != cluster.NoNode && p.result.End.Goals.CouldImprove(g, id, from)
		if p.result.Snapshot.Pods[id].Terminal { // no node counts it, and it improves only goals that remove it
			helps = p.result.End.Goals.Goals[g].Removal != ""
		}
		if !helps {
			continue
		}
		code, stays := p.rejectionCode(id)
		if !stays {
			return false
		}
		codes[code]++
		if code == plan.WouldReturn || code == plan.UncertainLanding {
			*elsewhere = append(*elsewhere, id)
		}
	}
	return true
}

// rejectionCode returns the code for which a pod is not moved (again). The result is false if no code exists or a
// later pass may lift the rejection.
func (p *proof) rejectionCode(id cluster.PodID) (plan.Code, bool) {
	if made, moved := p.made[id]; moved {
		_, reason, lands := p.result.End.Predict(p.result.End.MoveOf(id, made.Strategy))
		return reason.Code, !lands
	}
	r, refused := p.result.Account.Rejections.Of(id)
	if p.result.Account.Rejections.ByLimit(id) || r.Reason.Code == plan.PredictionLimitReached || r.Reason.Code == plan.PlanTimeReached {
		return "", false // a later pass may allow it
	}
	return r.Reason.Code, refused
}

// unmetReason returns the main reason why a goal is unmet, from the rejection codes. The first match decides:
//   - The scheduler does not reliably choose a node that improves the goal.
//   - A pod may leave, but no node can take it.
//   - No eviction has enough benefit.
//   - Otherwise guards protect the pods.
func unmetReason(codes map[plan.Code]int) plan.UnmetReason {
	switch {
	case codes[plan.WouldReturn]+codes[plan.UncertainLanding]+codes[plan.PlacementUnknown] > 0:
		return plan.UnmetByScheduler
	case codes[plan.NoTargetFits] > 0 || slices.ContainsFunc(target.Rules, func(r target.Rule) bool { return codes[r.Code] > 0 }):
		return plan.UnmetNoTarget
	case codes[plan.BenefitTooSmall] > 0:
		return plan.UnmetBenefitTooSmall
	}
	return plan.UnmetByGuards
}

// unmetDetail returns the sentence with the rejection codes of the goal and their numbers of pods, the most frequent
// first.
func (p *proof) unmetDetail(g int, h plan.UnmetGoal) string {
	codes := slices.SortedFunc(maps.Keys(h.Rejections), func(a, b plan.Code) int {
		return cmp.Or(cmp.Compare(h.Rejections[b], h.Rejections[a]), strings.Compare(string(a), string(b)))
	})
	var each []string
	for _, code := range codes {
		each = append(each, fmt.Sprintf("%s %d", code, h.Rejections[code]))
	}
	return fmt.Sprintf("%s (%s): %s", describeUnmetGoal(p.result.End.Goals.Goals[g]), h.Goal, strings.Join(each, ", "))
}

// likelyLandings returns a clause with the domains or nodes on which the replacements of these pods are too likely to
// land, the most frequent first. If no prediction names a node, the result is "".
func (p *proof) likelyLandings(g int, pods []cluster.PodID) string {
	counts := map[string]int{}
	for _, id := range pods {
		from := p.result.End.Model.Cluster.NodeOf(id)
		accepts := p.result.End.GoalsAccept(id, from)
		to := p.result.End.Model.PredictOdds(id).LikeliestOf(func(n cluster.NodeID) bool { return !accepts(n) })
		if to == cluster.NoNode {
			continue
		}
		verb := "land in "
		if p.placeName(g, to) == p.placeName(g, from) {
			verb = "return to "
		} else if p.result.End.Goals.Goals[g].Kind == plan.NodeBelow || p.result.End.Goals.Goals[g].Kind == plan.PodAway {
			verb = "land on "
		}
		counts[verb+p.placeName(g, to)]++
	}
	places := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var words []string
	for i, x := range places {
		if i == maxPlaces {
			words = append(words, "and so on")
			break
		}
		words = append(words, fmt.Sprintf("%s (%d)", x, counts[x]))
	}
	if len(words) == 0 {
		return ""
	}
	return "; replacements are too likely to " + strings.Join(words, ", ")
}

// placeName returns the name of the node's domain if the goal counts that domain, and otherwise the name of the node.
func (p *proof) placeName(g int, n cluster.NodeID) string {
	if k, ok := p.result.End.Goals.Measures[g].(interface {
		DomainIndex(n cluster.NodeID) (int, bool)
	}); ok {
		if _, counted := k.DomainIndex(n); counted {
			value, _ := p.result.Snapshot.Nodes[n].Label(p.result.End.Goals.Goals[g].TopologyKey)
			return value
		}
	}
	return p.result.Snapshot.Nodes[n].Name
}

// maxPlaces is the largest number of domains or nodes that one detail names.
const maxPlaces = 3
