// Package nodeload states one goal for each node and resource: the node stays at or below a fraction of its
// allocatable. The arguments contain the fraction itself, or the deviation from the mean of all nodes.
//
// The package decides whether a node exceeds its limit, by the requests of its pods or by measured usage, and whether
// enough nodes are under-utilized for a move to make sense. It never selects the pods that leave the node, or the nodes
// that take them.
package nodeload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy: exactly one of Target and Deviation.
type Args struct {
	// Basis is requests or load. The resource pods is the number of pods with either.
	Basis string `json:"basis"`
	// Target is the share of allocatable that a node may use, and Deviation the distance above the
	// mean of all nodes, by resource.
	Target    map[string]float64 `json:"target"`
	Deviation map[string]float64 `json:"deviation"`
	// Below and BelowMean define when a node is under-utilized; at most one of them is set. Below
	// is a share of allocatable, and BelowMean a distance below the mean of all nodes. An
	// under-utilized node is below the level in all of these resources.
	Below     map[string]float64 `json:"below"`
	BelowMean map[string]float64 `json:"belowMean"`
	// NumberOfNodes is the number of under-utilized nodes that must be exceeded before a pod may leave a node. Without
	// Below and BelowMean, the number of under-utilized nodes does not matter.
	NumberOfNodes int `json:"numberOfNodes"`
	// For is the number of consecutive samples above the level before a pod may leave the node.
	For int `json:"for"`
	// Selector is a label selector for the pods that count. If it is empty, all pods count. With basis load and no
	// selector, system processes on the node count too.
	Selector string `json:"selector"`
	// When are levels of measured resources of nodes, with basis load. A pod may leave a node only
	// while the node is above all of them. The resources need not be measured for pods.
	When map[string]float64 `json:"when"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name     string
	args     Args
	scope    cluster.Scope
	selector labels.Selector // nil selects all pods
}

// usesLoad reports whether the strategy uses measured usage instead of requests.
func (l *configuredStrategy) usesLoad() bool { return l.args.Basis == string(plan.BasisLoad) }

// measures reports whether the strategy uses measured usage of the resource. The number of pods needs no measurement.
func (l *configuredStrategy) measures(resource string) bool {
	return l.usesLoad() && resource != string(corev1.ResourcePods)
}

// usageNeeds returns the resources of the arguments with basis load, those of When included, and nothing with basis
// requests.
func (l *configuredStrategy) usageNeeds() strategy.UsageNeeds {
	if !l.usesLoad() {
		return strategy.UsageNeeds{}
	}
	n := strategy.UsageNeeds{Required: true, Resources: l.measured(), Paths: map[string]string{}}
	for r := range l.args.When {
		n.Paths[r] = "when." + r
	}
	for _, r := range l.args.resources() {
		if !l.measures(r) {
			continue
		}
		n.Paths[r] = l.args.levelField() + "." + r
		if l.args.For > 1 {
			n.Watches = append(n.Watches, strategy.Watch{
				Name: l.name, Resource: r, Target: l.args.Target[r], Deviation: l.args.Deviation[r], For: l.args.For,
			})
		}
	}
	return n
}

// measured returns the resources whose usage goals reads, sorted.
func (l *configuredStrategy) measured() []string {
	out := slices.DeleteFunc(l.args.resources(), func(r string) bool { return !l.measures(r) })
	out = append(out, sortedKeys(l.args.When)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// sortedKeys returns the keys of the maps together, sorted.
func sortedKeys(all ...map[string]float64) []string {
	union := map[string]float64{}
	for _, m := range all {
		maps.Copy(union, m)
	}
	return slices.Sorted(maps.Keys(union))
}

// goals returns one NodeBelow goal for each Ready node in scope and each resource, met or not. Nodes that an annotation
// excludes have no goal. With basis load, a node has a goal only if its usage is known. If the usage of too few nodes
// is known, goals returns no goals.
func (l *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	nodes, amounts := l.nodesInScope(s), map[string]*cluster.Amounts{}
	for _, r := range l.args.resources() {
		a := s.Amounts(cluster.Measure{ByUsage: l.measures(r), Resource: r, Pods: l.selector}, l.scope.Usage)
		if l.measures(r) && !a.CoverageSufficient(l.scope) {
			return nil
		}
		amounts[r] = a
	}
	signals, ok := l.measureSignals(s, nodes)
	if !ok {
		return nil
	}
	goals := make([]plan.Goal, 0, len(amounts)*len(nodes))
	limits, tooFew := l.measure(nodes, amounts)
	marks := usageMarks(s)
	for _, r := range l.args.resources() {
		limit, ok := limits[r]
		for i, n := range nodes {
			if used, sure, known := amounts[r].NodeUsed(n.ID); ok && known && amounts[r].Total(n.ID) > 0 {
				wait := waits{l.samplesOf(r), marks[markKey{l.name, n.Name, r}], tooFew, ""}
				if signals != nil {
					wait.signal = signals[i]
				}
				goals = append(goals, l.goal(n, amounts[r], limit, used, sure, wait))
			}
		}
	}
	return goals
}

// samplesOf returns how many consecutive samples above the level the resource needs.
func (l *configuredStrategy) samplesOf(resource string) int {
	if !l.measures(resource) {
		return 1
	}
	return l.args.For
}

// requirements describes the nodes for which goals states goals.
func (l *configuredStrategy) requirements() string {
	out := "a Ready node with " + strings.Join(l.args.resources(), " or ") + ", in scope and not excluded"
	if len(l.measured()) == 0 {
		return out
	}
	out += ", with known usage"
	if least := l.scope.Usage.MinCoverage; least > 0 {
		out += fmt.Sprintf(", on at least %v of the nodes in scope (load.minCoverage)", least)
	}
	return out
}

func (l *configuredStrategy) nodesInScope(s *cluster.Snapshot) []*cluster.Node {
	var nodes []*cluster.Node
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Ready && l.scope.HasNode(n) && len(annotation.OfNode(n).Exclude) == 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// whyUnknown says why the strategy knows too little to state a goal about a node in scope: the node is not Ready, or
// its usage is unknown. It returns "" if it knows enough.
func (l *configuredStrategy) whyUnknown(s *cluster.Snapshot, id cluster.NodeID) string {
	n := &s.Nodes[id]
	switch {
	case !l.scope.HasNode(n):
		return ""
	case !n.Ready:
		return fmt.Sprintf("node %s is not Ready, so nobody knows what its pods use", n.Name)
	}
	for _, r := range l.measured() {
		a := s.Amounts(cluster.Measure{ByUsage: true, Resource: r, Pods: l.selector}, l.scope.Usage)
		known, all := a.Coverage(l.scope)
		switch _, _, measured := a.NodeUsed(id); {
		case !a.CoverageSufficient(l.scope):
			return fmt.Sprintf("the usage of %s is known for %d of %d nodes in scope, fewer than load.minCoverage %v requires", r, known, all,
				l.scope.Usage.MinCoverage)
		case !measured:
			return fmt.Sprintf("the usage of %s on %s is unknown: %s", r, n.Name, s.WhyUsageUnknown(id, l.scope.Usage))
		}
	}
	return ""
}

// goal returns the goal of one node. used includes the estimated usage of pods without samples, and sure does not.
func (l *configuredStrategy) goal(n *cluster.Node, a *cluster.Amounts, limit float64, used, sure int64, wait waits) plan.Goal {
	total, resource := float64(a.Total(n.ID)), a.Measure.Resource
	g := plan.Goal{
		Strategy: l.name, Kind: plan.NodeBelow, Resource: resource, Limit: limit, Weight: 1, Node: n.ID, Amounts: a,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)},
	}
	if l.measures(resource) {
		g.Basis = plan.BasisLoad
	}
	if over, least := limit*total+roundingTolerance, used-a.Uncertain(n.ID); float64(used) > over {
		g.Wait = wait.reason(float64(used-a.Unsettled(n.ID)) > over, float64(least) > over, float64(sure) > over)
		if float64(least) > over {
			used = least
		}
	} else {
		g.Wait = wait.lasting()
	}
	g.Constraint = g.Wait.Code != ""
	share, above := percent.Pair(float64(used)/total, limit)
	g.Reason = plan.Reason{Code: plan.NodeOverUtilized, Message: l.message(n.Name, resource, share, above)}
	return g
}

// message describes a node with this share of a resource.
func (l *configuredStrategy) message(node, resource, share, above string) string {
	pods := "pods on " + node
	if l.selector != nil {
		pods += " that are " + l.selector.String()
	}
	switch {
	case resource == string(corev1.ResourcePods):
		return fmt.Sprintf("%s are %s of the number that it allows, above %s", pods, share, above)
	case !l.usesLoad():
		return fmt.Sprintf("%s request %s of its %s, above %s", pods, share, resource, above)
	case l.selector != nil:
		return fmt.Sprintf("%s use %s of its %s, above %s", pods, share, resource, above)
	}
	return fmt.Sprintf("%s uses %s of its %s, above %s", node, share, resource, above)
}
