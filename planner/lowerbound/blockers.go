package lowerbound

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// A cause explains why pods of an unmet goal are not moved: a code, and the words that follow "are".
type cause struct {
	code  plan.Code
	words string
}

// maxDetails limits the details in one plan, unless SamplesPerCode asks for all rejections.
const maxDetails = 200

// blockers returns the causes for which the pods of each unmet goal are not moved. Each entry has the number of pods
// with that cause, and the most frequent cause comes first. If the search did not look at every pod of the goal, the
// entry says that the number is a minimum.
func (p *proof) blockers() []plan.Blocker {
	out, moved := []plan.Blocker{}, map[cluster.PodID]bool{}
	for _, m := range p.result.Moves {
		moved[m.Pod] = true
	}
	for g, goal := range p.result.End.Goals.Goals {
		if goal.Kind == plan.PodAway || !p.isUnmet(g) {
			continue
		}
		if p.result.Snapshot.Work.Spend(1 + len(p.result.Problem.PodsOf(g))) {
			break
		}
		if len(out) >= maxDetails && p.result.Options.SamplesPerCode >= 0 {
			break
		}
		counts, all, explained := map[cause]int{}, 0, 0
		for _, id := range p.result.Problem.PodsOf(g) {
			r, rejected := p.result.Account.Rejections.Of(id)
			if pod := &p.result.Snapshot.Pods[id]; !pod.Terminal && pod.Departure != cluster.Leaves {
				all++
				if rejected || moved[id] {
					explained++
				}
			}
			if rejected {
				counts[cause{r.Reason.Code, cmp.Or(p.provenCause(g, id), wordsOf(r.Reason))}]++
			}
		}
		for _, x := range sortedCauses(counts) {
			out = append(out, plan.Blocker{Code: x.code, Detail: fmt.Sprintf("%s (%s): %s%d of its %s %s %s",
				describeUnmetGoal(goal), goal.ID, atLeastText(explained < all), counts[x], plural.Count(all, "pod"), plural.Choose(counts[x], "is", "are"), x.words)})
		}
	}
	return append(out, p.podBlockers(moved)...)
}

// isUnmet reports whether the plan asks for goal g and leaves it unmet.
func (p *proof) isUnmet(g int) bool {
	goal := &p.result.End.Goals.Goals[g]
	return !goal.Constraint && p.result.End.Goals.Excess(g) > 0 && (!goal.Soft || goal.ID != "")
}

// sortedCauses returns the causes, the most frequent first.
func sortedCauses(counts map[cause]int) []cause {
	return slices.SortedFunc(maps.Keys(counts), func(a, b cause) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(string(a.code), string(b.code)), strings.Compare(a.words, b.words))
	})
}

// atLeastText returns the words before a number that is a minimum because the search did not look at all pods.
func atLeastText(minimum bool) string {
	if minimum {
		return "at least "
	}
	return ""
}

// wordsOf returns the words of the cause of a rejection.
func wordsOf(r plan.Reason) string {
	return cmp.Or(limitWords(r), causeWords[r.Code], "kept by a guard: "+string(r.Code))
}

func describeUnmetGoal(g plan.Goal) string {
	switch g.Kind {
	case plan.NodeBelow:
		return fmt.Sprintf("%s stays above %s of its %s", g.Subject.Name, percent.Of(g.Limit), g.Resource)
	case plan.CountAtMost:
		return fmt.Sprintf("%s keeps more than %s on a value of %s", g.Subject, plural.Count(int(g.Limit), "pod"), g.TopologyKey)
	case plan.PodAway:
		return fmt.Sprintf("%s stays on %s", g.Subject, g.From)
	case plan.NodeEmpty:
		return g.Subject.Name + " is not emptied"
	case plan.PodsApart:
		return fmt.Sprintf("%s stays in conflict with anti-affinity", g.Subject)
	}
	return fmt.Sprintf("%s stays skewed by more than %d over %s", g.Subject, int(g.Limit), g.TopologyKey)
}

// provenCause returns the proven reason why an evictable pod cannot leave its node, or its domain for a group goal.
// If nothing is proven, the result is "".
func (p *proof) provenCause(g int, id cluster.PodID) string {
	if !p.reach.mayLeave(id) {
		return ""
	}
	others, here, place := p.reach.all, "this node", "node"
	if k, ok := p.start.Measures[g].(*goal.CountMeasure); ok {
		if from, counted := k.DomainIndex(p.result.Snapshot.Pods[id].Node); !counted || k.Domains.NodesIn(from) > 1 {
			return "" // nothing is known about the other domains
		}
	}
	if k, ok := p.start.Measures[g].(*goal.SkewMeasure); ok {
		from, counted := k.DomainIndex(p.result.Snapshot.Pods[id].Node)
		if !counted {
			return ""
		}
		here, place = p.result.End.Goals.Goals[g].Domains[from], "domain"
		others = p.reach.outsideDomain(k, from)
	} else if zone := p.result.Account.Limits.Zones[p.result.Snapshot.Pods[id].Node]; zone != "" {
		here = zone
	}
	switch {
	case p.reach.canRunOnAny(id, others):
		return ""
	case p.onlyRefused(id, others):
		return "" // causeWords describes the rules of package target
	case p.reach.runsIfEmpty(id, others):
		return "too large for any other " + place + " or its goals, even when every pod that may leave has left"
	case p.reach.runsWithoutVolumes(id, others):
		if why := tooLarge(p, id, others); why != "" {
			return why + " every other " + place + " that selectors, affinity and taints allow"
		}
		if cluster.HasVolumeClaim(p.result.Snapshot.Pods[id].Object) {
			return "pinned by PersistentVolumes in " + here
		}
	}
	return "kept from every other " + place + " by selectors, affinity, taints, cordons or features of nodes"
}

// tooLarge returns the beginning of a clause if the allocatable resources keep the pod from those of the nodes that its
// spec allows, even if they are empty. Otherwise, it returns "".
func tooLarge(p *proof, pod cluster.PodID, nodes []cluster.NodeID) string {
	none, allowsPods := cluster.Resources{}, false
	runs := filter.CanRunFunc(p.result.Snapshot.Pods[pod].Object)
	fits := p.reach.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool {
		node := &p.result.Snapshot.Nodes[n]
		if !runs(node) {
			return false
		}
		allowsPods = allowsPods || node.AllowedPods > 0
		return filter.Fits(node, &p.result.Snapshot.Pods[pod].Requests, &none, 0)
	})
	switch {
	case fits:
		return ""
	case allowsPods:
		return "larger than the allocatable resources of"
	}
	return "without a node, because allocatable pods is 0 on"
}

// onlyRefused reports whether the pod could run on one of these nodes if it might be sent there.
func (p *proof) onlyRefused(id cluster.PodID, nodes []cluster.NodeID) bool {
	could, none, may := p.reach.couldRun(id), cluster.Resources{}, p.result.End.MayTake(id)
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != p.result.Snapshot.Pods[id].Node && p.result.Snapshot.Nodes[n].Ready && !may[n] && could(n, &none, 0)
	})
}

// limitWords names the limit of a window or of a strategy that keeps a pod. The result is "" for other reasons.
func limitWords(r plan.Reason) string {
	if !strings.HasPrefix(causeWords[r.Code], beyond) {
		return ""
	}
	if key := limits.NarrowKey(r); key != "" {
		return beyond + key
	}
	return ""
}

// beyond begins the words about limits.
const beyond = "beyond "

// causeWords describes the causes that an operator can change.
var causeWords = map[plan.Code]string{
	plan.NoTargetFits:           "without a node that takes them and leaves no goal worse",
	plan.NodesUnderPressure:     "without a node that takes them but those that carry the pressure hint",
	plan.OnlyVirtualNodes:       "without a node that takes them but virtual ones",
	plan.OnlyCordonedNodes:      "without a node that takes them but cordoned ones",
	plan.VolumeInUse:            "bound to their node by a volume that another pod uses there",
	plan.OnlyLeavingNodes:       "without a node that takes them but those that are removed, drained, or about to be",
	plan.OnlyUnhealthyNodes:     "without a node that takes them but those under pressure, marked bad, or not ready for pods",
	plan.OnlyRefusingNodes:      "without a node that takes them but those whose kubelet refuses them",
	plan.OnlyUnprovenPlatforms:  "without a node that takes them but those of an architecture or operating system where they do not run",
	plan.BenefitTooSmall:        "not worth an eviction: what is above the limit is too little",
	plan.UsageUnknown:           "of unknown use",
	plan.WouldReturn:            "likely to come back, or to land where that helps as little",
	plan.UncertainLanding:       "not sure enough to land where that helps",
	plan.WaitsForNextPass:       "without a predicted place for their replacements, until a later pass",
	plan.PlacementUnknown:       "of a kind whose landing cannot be predicted",
	plan.AlreadyPlanned:         "moved by automatic strategies already",
	plan.NodeNotEmptied:         "on a node that is emptied only as a whole",
	plan.Discarded:              "discarded by a person",
	plan.PredictionLimitReached: "not tried to the end: the plan was cut short (limits.maxPredictions)",
	plan.PlanTimeReached:        "not tried to the end: the plan was cut short (limits.maxPlanTime)",
	plan.BlockedByPDB:           "held by PodDisruptionBudgets",
	plan.MultiplePDBs:           "held by several PodDisruptionBudgets at once",
	plan.PDBNotObserved:         "held by PodDisruptionBudgets that are not up to date",
	plan.WorkloadUnavailable:    "of workloads with too few available pods",
	plan.LimitPerPass:           beyond + "limits.perPass",
	plan.LimitPerNode:           beyond + "limits.perNode",
	plan.LimitPerNamespace:      beyond + "limits.perNamespace",
	plan.LimitPerOwner:          beyond + "limits.perOwner",
	plan.LimitPerZone:           beyond + "limits.perZone",
	plan.LimitMaxNodes:          beyond + "maxNodes",
	plan.LimitPerHour:           beyond + "limits.perHour",
	plan.BackedOff:              "of workloads that rest after a bad landing, or came shortly after evictions of their workloads and may replace what was evicted",
	plan.DoNotDisrupt:           "not to be disrupted, by request",
	plan.EvictNever:             "never to be evicted, by request",
	plan.PreferNoEviction:       "better not evicted, by request",
	plan.OutsideWindow:          "outside their windows",
}
