// Package nodeload states one goal for each node and resource: the node stays at or below a fraction of its
// allocatable. The arguments contain the fraction itself, or the deviation from the mean of all nodes.
//
// The package decides whether a node exceeds its limit, by the requests of its pods or by measured usage. It never
// selects the pods that leave the node.
package nodeload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Args are the arguments of the strategy: exactly one of Target and Deviation.
type Args struct {
	// Basis is requests or load.
	Basis     string             `json:"basis"`
	Target    map[string]float64 `json:"target"`
	Deviation map[string]float64 `json:"deviation"`
	// For is the number of consecutive samples above the level before a pod may leave the node.
	For int `json:"for"`
	// Selector is a label selector for the pods that count. If it is empty, all pods count. With basis load and no
	// selector, system processes on the node count too.
	Selector string `json:"selector"`
}

// Strategy is the strategy with its arguments.
type Strategy struct {
	name     string
	args     Args
	scope    cluster.Scope
	selector labels.Selector // nil selects all pods
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (*Strategy, []arg.Error) {
	a := Args{Basis: string(plan.BasisRequests), For: 1}
	errs := arg.Decode(raw, &a)
	fail := func(path, message string) { errs = append(errs, arg.Error{Path: path, Message: message}) }
	l := &Strategy{name: name, args: a, scope: scope}
	if a.Basis != string(plan.BasisRequests) && a.Basis != string(plan.BasisLoad) {
		fail("basis", fmt.Sprintf("%q is unknown (want requests or load)", a.Basis))
	}
	switch {
	case a.For < 1:
		fail("for", fmt.Sprintf("%d is too small (want 1 or more samples)", a.For))
	case a.For > 1 && !l.usesLoad():
		fail("for", "counts samples of usage, but basis is requests (want basis: load, or for: 1)")
	}
	if (len(a.Target) == 0) == (len(a.Deviation) == 0) {
		fail("", "want either target or deviation, with at least one resource, such as target: {cpu: 0.80}")
	}
	sel, err := labels.Parse(a.Selector)
	switch {
	case err != nil:
		fail("selector", fmt.Sprintf("%q is not a label selector: %v", a.Selector, err))
	case !sel.Empty():
		l.selector = sel
	}
	if a.For > 1 && l.selector != nil {
		fail("for", "counts samples of whole nodes, but selector counts only some of their pods; "+
			"the combination is not supported (want for: 1, or no selector)")
	}
	errs = append(errs, l.checkFractions("target", a.Target)...)
	return l, append(errs, l.checkFractions("deviation", a.Deviation)...)
}

func (l *Strategy) checkFractions(field string, m map[string]float64) []arg.Error {
	var errs []arg.Error
	for _, r := range slices.Sorted(maps.Keys(m)) {
		path := field + "." + r
		switch {
		case !l.usesLoad(): // with basis load, any resource that the source measures is allowed
			errs = append(errs, arg.Resource(path, r)...)
		case r == cluster.MemoryAvailable:
			errs = append(errs, arg.Error{Path: path, Message: "is free memory, not used memory (want memory, or a hint rule with below)"})
		}
		errs = append(errs, arg.Fraction(path, m[r])...)
	}
	return errs
}

// usesLoad reports whether the strategy uses measured usage instead of requests.
func (l *Strategy) usesLoad() bool { return l.args.Basis == string(plan.BasisLoad) }

// UsageNeeds returns the resources of the arguments with basis load, and nothing with basis requests.
func (l *Strategy) UsageNeeds() arg.UsageNeeds {
	if !l.usesLoad() {
		return arg.UsageNeeds{}
	}
	n := arg.UsageNeeds{Required: true, Resources: l.resources(), Field: "target"}
	if len(l.args.Deviation) > 0 {
		n.Field = "deviation"
	}
	if l.args.For > 1 {
		for _, r := range n.Resources {
			n.Watches = append(n.Watches, arg.Watch{
				Name: l.name, Resource: r, Target: l.args.Target[r], Deviation: l.args.Deviation[r], For: l.args.For,
			})
		}
	}
	return n
}

// resources returns the resources that have a target or a deviation, sorted.
func (l *Strategy) resources() []string {
	all := map[string]float64{}
	maps.Copy(all, l.args.Target)
	maps.Copy(all, l.args.Deviation)
	return slices.Sorted(maps.Keys(all))
}

// Goals returns one NodeBelow goal for each Ready node in scope and each resource, met or not. Nodes that an annotation
// excludes have no goal. With basis load, a node has a goal only if its usage is known. If the usage of too few nodes
// is known, Goals returns no goals.
func (l *Strategy) Goals(s *cluster.Snapshot) []plan.Goal {
	nodes, amounts := l.nodesInScope(s), map[string]*cluster.Amounts{}
	for _, r := range l.resources() {
		a := s.Amounts(cluster.Measure{ByUsage: l.usesLoad(), Resource: r, Pods: l.selector}, l.scope.Usage)
		if l.usesLoad() && !a.CoverageSufficient(l.scope) {
			return nil
		}
		amounts[r] = a
	}
	goals := make([]plan.Goal, 0, len(amounts)*len(nodes))
	marks := l.usageMarks(s)
	for _, r := range l.resources() {
		limit, ok := l.limit(nodes, amounts[r])
		for _, n := range nodes {
			if used, sure, known := amounts[r].NodeUsed(n.ID); ok && known && amounts[r].Total(n.ID) > 0 {
				goals = append(goals, l.goal(n, amounts[r], limit, used, sure, marks))
			}
		}
	}
	return goals
}

// Requirements describes the nodes for which Goals states goals.
func (l *Strategy) Requirements() string {
	out := "a Ready node with " + strings.Join(l.resources(), " or ") + ", in scope and not excluded"
	if !l.usesLoad() {
		return out
	}
	out += ", with known usage"
	if least := l.scope.Usage.MinCoverage; least > 0 {
		out += fmt.Sprintf(", on at least %v of the nodes in scope (load.minCoverage)", least)
	}
	return out
}

func (l *Strategy) nodesInScope(s *cluster.Snapshot) []*cluster.Node {
	var nodes []*cluster.Node
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Ready && l.scope.HasNode(n) && len(annotation.OfNode(n).Exclude) == 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// goal returns the goal of one node. used includes the estimated usage of pods without samples, and sure does not.
func (l *Strategy) goal(n *cluster.Node, a *cluster.Amounts, limit float64, used, sure int64, marks markIndex) plan.Goal {
	total, resource := float64(a.Total(n.ID)), a.Measure.Resource
	g := plan.Goal{
		Strategy: l.name, Kind: plan.NodeBelow, Resource: resource, Limit: limit, Weight: 1, Node: n.ID, Amounts: a,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)},
	}
	subject, verb := "pods on "+n.Name, "request"
	if l.selector != nil {
		subject += " that are " + l.selector.String()
	}
	if l.usesLoad() {
		g.Basis = plan.BasisLoad
		if verb = "use"; l.selector == nil {
			subject, verb = n.Name, "uses"
		}
		if over, least := limit*total+roundingTolerance, used-a.Uncertain(n.ID); float64(used) > over {
			g.WaitReason = l.waitReason(marks[markKey{n.Name, resource}], float64(least) > over, float64(sure) > over)
			g.Constraint = g.WaitReason != ""
			if float64(least) > over {
				used = least
			}
		}
	}
	share, above := percent.Pair(float64(used)/total, limit)
	g.Reason = plan.Reason{Code: plan.NodeOverUtilized, Message: fmt.Sprintf(
		"%s %s %s of its %s, above %s", subject, verb, share, resource, above)}
	return g
}

// roundingTolerance keeps floating-point errors from making 9000m exceed 0.9 of 10000m.
const roundingTolerance = 1e-6

// limit returns the fraction that a node must not exceed, or false if the fraction cannot be computed. The mean is the
// total usage divided by the total allocatable of all nodes.
func (l *Strategy) limit(nodes []*cluster.Node, a *cluster.Amounts) (float64, bool) {
	resource := a.Measure.Resource
	if len(l.args.Target) > 0 {
		return l.args.Target[resource], true
	}
	var sum, total float64
	for _, n := range nodes {
		used, _, known := a.NodeUsed(n.ID)
		if allocatable := a.Total(n.ID); known && allocatable > 0 {
			sum += float64(used)
			total += float64(allocatable)
		}
	}
	if total == 0 {
		return 0, false
	}
	return min(1, sum/total+l.args.Deviation[resource]), true
}

// markIndex contains, by node and resource, the number of consecutive samples above the level of this strategy.
type markIndex map[markKey]*cluster.Mark

type markKey struct{ node, resource string }

func (l *Strategy) usageMarks(s *cluster.Snapshot) markIndex {
	out := markIndex{}
	if s.Usage == nil {
		return out
	}
	for i := range s.Usage.Raw.Marks {
		if m := &s.Usage.Raw.Marks[i]; m.Watch == l.name {
			out[markKey{m.Node, m.Resource}] = m
		}
	}
	return out
}

// waitReason returns the reason why no pod may leave a node above its limit yet, or "". If agreed is false, the window
// and the newest sample do not both exceed the limit, perhaps because pods have left. If sure is false, the node
// exceeds the limit only with the estimated usage of pods that have no sample. Otherwise the node may need more
// consecutive samples above the limit.
func (l *Strategy) waitReason(m *cluster.Mark, agreed, sure bool) string {
	switch {
	case !agreed:
		return "above its target only by usage of pods that may have left: the window, or the range of a rate, includes time before they left"
	case !sure:
		return "above its target only by the estimated usage of pods that started after the last sample"
	case l.args.For == 1 || m != nil && m.Hot:
		return ""
	case m == nil:
		return fmt.Sprintf("above its target in 0 of %d samples in a row", l.args.For)
	}
	again := ""
	if m.CountRestarted {
		again = ", counted since this process started"
	}
	return fmt.Sprintf("above its target in %d of %d samples in a row%s", m.Samples, l.args.For, again)
}
