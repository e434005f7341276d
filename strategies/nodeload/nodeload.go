// Package nodeload states one goal for each node and resource: the node stays
// at or below a target fraction of its allocatable, given as such or as a
// deviation from the mean of all nodes.
//
// It decides what is too much on a node. It never picks the pods that leave.
// Utilization is what pods request; use by measured load is not built yet.
package nodeload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/annotation"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Args are the arguments of the strategy: exactly one of Target and Deviation.
type Args struct {
	Basis     string             `json:"basis"`
	Target    map[string]float64 `json:"target"`
	Deviation map[string]float64 `json:"deviation"`
	For       int                `json:"for"`
}

// Load is the strategy with its arguments.
type Load struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New reads the arguments; every mistake is reported.
func New(name string, raw []byte, scope cluster.Scope) (*Load, []arg.Error) {
	a := Args{Basis: "requests", For: 1}
	errs := arg.Decode(raw, &a)
	switch a.Basis {
	case "requests":
	case "load":
		errs = append(errs, arg.Error{Path: "basis", Message: "load is not built yet in this version (want requests)"})
	default:
		errs = append(errs, arg.Error{Path: "basis", Message: fmt.Sprintf("%q is unknown (want requests)", a.Basis)})
	}
	if a.For != 1 {
		errs = append(errs, arg.Error{Path: "for", Message: "counting samples is not built yet in this version (leave it at its default, 1)"})
	}
	if (len(a.Target) == 0) == (len(a.Deviation) == 0) {
		errs = append(errs, arg.Error{Message: "want either target or deviation, with at least one resource, such as target: {cpu: 0.80}"})
	}
	errs = append(errs, checkFractions("target", a.Target)...)
	return &Load{name, a, scope}, append(errs, checkFractions("deviation", a.Deviation)...)
}

func checkFractions(field string, m map[string]float64) []arg.Error {
	var errs []arg.Error
	for _, r := range slices.Sorted(maps.Keys(m)) {
		path := field + "." + r
		errs = append(errs, arg.Resource(path, r)...)
		errs = append(errs, arg.Fraction(path, m[r])...)
	}
	return errs
}

// Goals returns one NodeBelow per ready node in scope and resource, met or not. A
// node that people exclude is not in scope.
func (l *Load) Goals(s *cluster.Snapshot) []plan.Goal {
	var goals []plan.Goal
	nodes := l.inScope(s)
	limits := l.limits(nodes)
	goals = slices.Grow(goals, len(limits)*len(nodes))
	for _, resource := range slices.Sorted(maps.Keys(limits)) {
		for _, n := range nodes {
			if n.Allocatable.Get(resource) > 0 {
				goals = append(goals, l.goal(n, resource, limits[resource]))
			}
		}
	}
	return goals
}

// Needs is what Goals looks for.
func (l *Load) Needs() string {
	resources := slices.Sorted(maps.Keys(l.args.Target))
	resources = append(resources, slices.Sorted(maps.Keys(l.args.Deviation))...)
	return "a Ready node with " + strings.Join(resources, " or ") + ", in scope and not excluded"
}

func (l *Load) inScope(s *cluster.Snapshot) []*cluster.Node {
	var nodes []*cluster.Node
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Ready && l.scope.HasNode(n) && len(annotation.OfNode(n).Exclude) == 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (l *Load) goal(n *cluster.Node, resource string, limit float64) plan.Goal {
	used := float64(n.Requested.Get(resource)) / float64(n.Allocatable.Get(resource))
	return plan.Goal{
		Strategy: l.name, Kind: plan.NodeBelow, Resource: resource, Limit: limit, Weight: 1, Node: n.ID,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)},
		Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: fmt.Sprintf(
			"pods on %s request %.1f %% of its %s, above %.1f %%", n.Name, 100*used, resource, 100*limit)},
	}
}

// limits are the fractions to stay below. The mean is total requested over
// total allocatable, so that a large node weighs as much as it carries.
func (l *Load) limits(nodes []*cluster.Node) map[string]float64 {
	if len(l.args.Target) > 0 {
		return l.args.Target
	}
	limits := make(map[string]float64, len(l.args.Deviation))
	for resource, deviation := range l.args.Deviation {
		var used, total int64
		for _, n := range nodes {
			if has := n.Allocatable.Get(resource); has > 0 {
				used += n.Requested.Get(resource)
				total += has
			}
		}
		if total > 0 {
			limits[resource] = min(1, float64(used)/float64(total)+deviation)
		}
	}
	return limits
}
