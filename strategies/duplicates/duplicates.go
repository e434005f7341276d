// Package duplicates states one goal for each group of equal pods: they do not crowd on a few nodes.
//
// The package decides which pods form a group, on which nodes the group can run, and how many of its pods may share a
// node. It never selects the pods to move.
package duplicates

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// Args are the arguments of the strategy.
type Args struct {
	// OwnerKinds selects groups by the kinds of their owner and of its workload.
	OwnerKinds podfilter.OwnerKinds `json:"ownerKinds"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	var a Args
	errs := arg.Decode(raw, &a)
	if !arg.Reported(errs, "ownerKinds") {
		errs = append(errs, a.OwnerKinds.Check("ownerKinds")...)
	}
	d := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: d.goals, Requirements: requirements}, errs
}

// goals returns one CountAtMost goal, met or not, for each group of at least two pods that can run on at least two
// nodes. The limit is the number of pods divided by the number of nodes, rounded up.
func (d *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	f := newFinder(s, d.scope)
	var goals []plan.Goal
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if !d.scope.HasNamespace(s, w.Namespace) || w.BelongsToNodes(s) {
			continue // such as a DaemonSet, of which each node runs its own pod
		}
		for _, pods := range f.groups(w.Pods) {
			if g, ok := d.goal(f, w, pods); ok && d.args.OwnerKinds.Match(s, &s.Pods[pods[0]]) {
				goals = append(goals, g)
			}
		}
	}
	return goals
}

// requirements describes the groups for which goals states goals.
const requirements = "two running pods of one owner in scope with the same images that can run on at least two nodes with the label " + corev1.LabelHostname

// goal returns the goal of one group. The limit also counts pods that are not bound yet, so that it does not fall
// between an eviction and the start of the replacement.
func (d *configuredStrategy) goal(f *finder, w *cluster.Workload, group []cluster.PodID) (plan.Goal, bool) {
	pods := topology.RunningPods(f.snapshot, group)
	inScope := func(id cluster.PodID) bool { return d.scope.HasPod(f.snapshot, &f.snapshot.Pods[id]) }
	if len(pods) < 2 || !slices.ContainsFunc(pods, inScope) {
		return plan.Goal{}, false
	}
	feasible := f.hosts.ReachableBy(f.topologies.Representatives(pods))
	nodes := len(feasible.Values)
	if nodes < 2 {
		return plan.Goal{}, false
	}
	total := f.inScope(group)
	limit := max(1, (total+nodes-1)/nodes)
	return plan.Goal{
		Strategy: d.name, Kind: plan.CountAtMost, TopologyKey: corev1.LabelHostname, Limit: float64(limit), Weight: 1,
		Subject: plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID},
		Pods:    pods, Domains: feasible.Values, NotCounted: f.outOfScope,
		Reason: plan.Reason{Code: plan.TooManyDuplicates, Message: f.message(w.Name, pods, limit, total, nodes)},
	}, true
}
