// Package nodeconsolidation states one goal for each node with few requests: the node becomes empty, so that an
// autoscaler or a person can remove it. For all other nodes, it states how full they may become.
//
// The package decides which nodes should be empty, by the requests of their pods, and in which order. It never decides
// whether a pod may leave its node or where a replacement lands.
package nodeconsolidation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy.
type Args struct {
	// Below holds a fraction of allocatable for each resource that counts. A node should be empty
	// if the requests on it are at or below the fraction for all of these resources. The requests
	// of pods that belong to the node do not count, because these pods end with the node.
	Below map[string]float64 `json:"below"`
	// Target holds the fraction of allocatable up to which other nodes may fill. A resource without
	// a target has no limit but the allocatable itself.
	Target map[string]float64 `json:"target"`
	// MaxNodes is the largest number of nodes that one pass empties.
	MaxNodes int `json:"maxNodes"`
	// NumberOfNodes is the number of nodes with few requests that must be exceeded before one is emptied.
	NumberOfNodes int `json:"numberOfNodes"`
	// KeepEmptyFor is how long a hint keeps new pods away from an emptied node, if the evictor uses
	// hints. 0s writes no such hint.
	KeepEmptyFor arg.Duration `json:"keepEmptyFor"`
}

const (
	defaultMaxNodes = 5
	maxKeepEmptyFor = 24 * time.Hour // the longest lifetime of a hint
)

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{MaxNodes: defaultMaxNodes, KeepEmptyFor: arg.Duration(maxKeepEmptyFor)}
	errs := arg.Decode(raw, &a)
	if len(a.Below) == 0 && !arg.Reported(errs, "below") {
		errs = append(errs, arg.Errorf("below", "want at least one resource, such as {cpu: 0.30, memory: 0.30}"))
	}
	errs = slices.Concat(errs, checkFractions("below", a.Below), checkFractions("target", a.Target))
	if a.MaxNodes < 1 {
		errs = append(errs, arg.Errorf("maxNodes", "%d is too small (want 1 or more nodes)", a.MaxNodes))
	}
	if a.KeepEmptyFor > arg.Duration(maxKeepEmptyFor) {
		errs = append(errs, arg.Errorf("keepEmptyFor", "%s is too long (want %s or less)", a.KeepEmptyFor, arg.Duration(maxKeepEmptyFor)))
	}
	if a.NumberOfNodes < 0 {
		errs = append(errs, arg.Errorf("numberOfNodes", "%d is too small (want 0 or more)", a.NumberOfNodes))
	}
	for _, r := range slices.Sorted(maps.Keys(a.Below)) {
		if target, has := a.Target[r]; has && a.Below[r] >= target && len(errs) == 0 {
			errs = append(errs, arg.Errorf("below."+r, "%s is not below target.%s, which is %s (want a smaller fraction)",
				plain(a.Below[r]), r, plain(target)))
		}
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals, KeepEmptyFor: time.Duration(a.KeepEmptyFor), EmptyNodes: i.emptyNodes}, errs
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func checkFractions(field string, m map[string]float64) (errs []arg.Error) {
	for _, r := range slices.Sorted(maps.Keys(m)) {
		errs = append(errs, arg.Resource(field+"."+r, r)...)
		errs = append(errs, arg.Fraction(field+"."+r, m[r])...)
	}
	return errs
}

// candidate is a node that should be empty.
type candidate struct {
	node *cluster.Node
	pods []cluster.PodID
	// fullest is the largest share that is requested of a resource in Below.
	fullest float64
}

// goals returns one unmet NodeEmpty goal for each node that should be empty, the emptiest first. The
// replacements may land on each node but those that are empty already. If
// there are more than NumberOfNodes, goals also returns a NodeBelow goal for each node and each
// resource with a target. These goals limit moves, and no pod moves for them.
func (c *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	amounts := c.amounts(s)
	var found []candidate
	var targets []bool
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if full, is := c.isUnderUtilized(s, amounts, n); is {
			if pods := podsToLeave(s, n); len(pods) > 0 {
				found = append(found, candidate{n, pods, full})
				continue
			}
			if targets == nil {
				targets = slices.Repeat([]bool{true}, len(s.Nodes))
			}
			targets[i] = false // a replacement there would exchange one empty node for another
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.fullest, b.fullest), cmp.Compare(len(a.pods), len(b.pods)))
	})
	if len(found) == 0 || len(found) <= c.args.NumberOfNodes {
		return nil
	}
	goals := make([]plan.Goal, len(found))
	for i, x := range found {
		goals[i] = c.goal(plan.NodeEmpty, x.node)
		goals[i].Pods, goals[i].MaxNodes, goals[i].Reason = x.pods, c.args.MaxNodes, c.reason(s, amounts, x.node)
		goals[i].Targets = targets
	}
	return append(goals, c.targets(s, amounts)...)
}

// emptyNodes returns the nodes that have no pods that must leave, and that the strategy would empty if a pod landed
// there.
func (c *configuredStrategy) emptyNodes(s *cluster.Snapshot) (out []cluster.NodeID) {
	amounts := c.amounts(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if _, is := c.isUnderUtilized(s, amounts, n); is && len(podsToLeave(s, n)) == 0 {
			out = append(out, n.ID)
		}
	}
	return out
}

// isUnderUtilized reports whether the node should be empty if pods can leave it, and how full it
// is. The node must be in scope, Ready and not cordoned, and no annotation may exclude it. A node
// that is not removed when it is empty stays: one of the control plane, or one that an annotation
// keeps, of the node or of a pod that belongs to it. A node that lacks a resource of Below does not count.
func (c *configuredStrategy) isUnderUtilized(s *cluster.Snapshot, amounts map[string]*cluster.Amounts, n *cluster.Node) (fullest float64, is bool) {
	if !n.Ready || n.Object.Spec.Unschedulable || !c.scope.HasNode(n) || len(annotation.OfNode(n).Exclude) > 0 ||
		isControlPlane(n) {
		return 0, false
	}
	if _, kept := annotation.KeepsNode(s, n); kept {
		return 0, false
	}
	for r, below := range c.args.Below {
		total := amounts[r].Total(n.ID)
		if total <= 0 {
			return 0, false
		}
		used := requested(s, amounts[r], n)
		if float64(used) > below*float64(total)+rounding {
			return 0, false
		}
		fullest = max(fullest, float64(used)/float64(total))
	}
	return fullest, true
}

// requested returns what the pods on the node request, without the pods that belong to it.
func requested(s *cluster.Snapshot, a *cluster.Amounts, n *cluster.Node) int64 {
	used, _, _ := a.NodeUsed(n.ID)
	for _, id := range n.Pods {
		if s.Pods[id].BelongsToNode() {
			used -= a.Contribution(id, n.ID)
		}
	}
	return max(0, used)
}

// isControlPlane reports whether the node runs the control plane, so no autoscaler removes it.
func isControlPlane(n *cluster.Node) bool {
	_, is := n.Label("node-role.kubernetes.io/control-plane")
	return is
}

// rounding keeps floating-point errors from making 3000m more than 0.3 of 10000m.
const rounding = 1e-6

// podsToLeave returns the pods of the node without those that belong to it and those that already terminate.
func podsToLeave(s *cluster.Snapshot, n *cluster.Node) (out []cluster.PodID) {
	for _, id := range n.Pods {
		if p := &s.Pods[id]; !p.Terminating && !p.BelongsToNode() {
			out = append(out, id)
		}
	}
	return out
}

func (c *configuredStrategy) reason(s *cluster.Snapshot, amounts map[string]*cluster.Amounts, n *cluster.Node) plan.Reason {
	var each, limits []string
	for _, r := range slices.Sorted(maps.Keys(c.args.Below)) {
		used := requested(s, amounts[r], n)
		share, limit := percent.Pair(float64(used)/float64(amounts[r].Total(n.ID)), c.args.Below[r])
		each, limits = append(each, share+" of its "+r), append(limits, limit)
	}
	return plan.Reason{Code: plan.NodeUnderUtilized, Message: fmt.Sprintf("pods on %s request %s, not above %s",
		n.Name, strings.Join(each, " and "), strings.Join(slices.Compact(limits), " and "))}
}

// amounts returns what the pods request, for each resource of Below and Target.
func (c *configuredStrategy) amounts(s *cluster.Snapshot) map[string]*cluster.Amounts {
	m := map[string]*cluster.Amounts{}
	for _, fractions := range []map[string]float64{c.args.Below, c.args.Target} {
		for r := range fractions {
			m[r] = s.Amounts(cluster.Measure{Resource: r}, cluster.UsageRequirements{})
		}
	}
	return m
}

// targets returns the goals that limit how full other nodes become.
func (c *configuredStrategy) targets(s *cluster.Snapshot, amounts map[string]*cluster.Amounts) (goals []plan.Goal) {
	for _, r := range slices.Sorted(maps.Keys(c.args.Target)) {
		for i := range s.Nodes {
			if amounts[r].Total(s.Nodes[i].ID) <= 0 {
				continue
			}
			g := c.goal(plan.NodeBelow, &s.Nodes[i])
			g.Resource, g.Limit, g.Amounts, g.Constraint, g.EveryNode = r, c.args.Target[r], amounts[r], true, true
			goals = append(goals, g)
		}
	}
	return goals
}

func (c *configuredStrategy) goal(kind plan.GoalKind, n *cluster.Node) plan.Goal {
	return plan.Goal{Strategy: c.name, Kind: kind, Weight: 1, Node: n.ID,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)}}
}
