package impact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// Advisor finds what capacity and which replicas would help, by planning again on changed clusters.
type Advisor struct {
	Input
	// Replan plans on a changed cluster, without the limits of a pass. It returns false if the time is over.
	Replan func(*cluster.Snapshot) (plan.Plan, bool)
	// MaxPlans bounds the number of plans.
	MaxPlans int
	plans    int
	stopped  bool
}

// replan plans on the changed cluster. It returns false if the search must end.
func (a *Advisor) replan(change plan.Change) (p plan.Plan, x plan.WhatIf, ok bool) {
	if a.stopped = a.stopped || a.plans >= a.MaxPlans; a.stopped {
		return p, x, false
	}
	s, x, err := Apply(a.Snapshot, a.Options.Placement, a.Options.Guards.Scope.Marks, change)
	if err != nil {
		return p, x, false
	}
	a.plans++
	p, ok = a.Replan(s)
	a.stopped = !ok
	return p, x, ok
}

// goalKey identifies a goal in several plans.
type goalKey struct {
	strategy             string
	kind                 plan.GoalKind
	subject              string
	group, key, resource string
	from                 string
}

// unmet returns the goals that are unmet after the plan and its proposals.
func unmet(p *plan.Plan) map[goalKey]bool {
	out := map[goalKey]bool{}
	add := func(p *plan.Plan) {
		for i := range p.Goals {
			if g := &p.Goals[i]; p.After.Excess[g.ID] > 0 {
				out[goalKey{g.Strategy, g.Kind, g.Subject.String(), g.Group, g.TopologyKey, g.Resource, g.From}] = true
			}
		}
	}
	add(p)
	for i := range p.Proposals {
		add(&p.Proposals[i].Plan)
	}
	return out
}

// outcome is what a change leaves.
type outcome struct {
	unmet   map[goalKey]bool
	pending map[plan.PodRef]bool
}

func newOutcome(p *plan.Plan, x *plan.WhatIf) outcome {
	out := outcome{unmet(p), map[plan.PodRef]bool{}}
	for _, f := range x.Pods {
		if f.To == "" {
			out.pending[f.Pod] = true
		}
	}
	return out
}

// gain counts the goals and the Pending pods of the outcome now that the other outcome does not have.
func (o outcome) gain(then outcome) (goals, pods int) {
	for g := range o.unmet {
		if !then.unmet[g] {
			goals++
		}
	}
	for p := range o.pending {
		if !then.pending[p] {
			pods++
		}
	}
	return goals, pods
}

// maxNodesOfAdvice bounds the number of nodes that an advice adds.
const maxNodesOfAdvice = 64

// Capacity tries new nodes for the goals that stay unmet, and for the pods that stay Pending: first one node in each of
// the fullest zones, then more of the best kind, until more do not help. Then it looks for the least number of these
// that helps as much.
func (a *Advisor) Capacity() plan.Advice {
	p, x, ok := a.replan(plan.Change{})
	now := newOutcome(&p, &x)
	out := plan.Advice{Capacity: []plan.CapacityAdvice{}, UnmetGoals: len(now.unmet), PendingPods: len(now.pending)}
	if ok && len(now.unmet)+len(now.pending) > 0 {
		if best, found := a.search(now); found {
			best.UnmetGoals, best.PendingPods = out.UnmetGoals, out.PendingPods
			out.Capacity = append(out.Capacity, best)
		}
	}
	out.Plans, out.Stopped = a.plans, a.stopped
	return out
}

func (a *Advisor) search(now outcome) (best plan.CapacityAdvice, found bool) {
	try := func(kind plan.AddedNodes, n int) (c plan.CapacityAdvice, ok bool) {
		kind.Count = n
		p, x, ok := a.replan(plan.Change{Added: []plan.AddedNodes{kind}})
		c = plan.CapacityAdvice{Nodes: kind, Pool: poolOf(a.Snapshot.NodeByName(kind.Like))}
		if ok {
			c.Goals, c.Pods = now.gain(newOutcome(&p, &x))
		}
		return c, ok
	}
	helps := func(c plan.CapacityAdvice) int { return c.Goals + c.Pods }
	for _, kind := range a.kinds() {
		if c, ok := try(kind, 1); ok && (best.Nodes.Count == 0 || helps(c) > helps(best)) {
			best = c
		}
	}
	if best.Nodes.Count == 0 {
		return best, false
	}
	fewer := 0 // so many nodes are not enough for what best does
	for n := 2; n <= maxNodesOfAdvice; n *= 2 {
		c, ok := try(best.Nodes, n)
		if !ok || helps(c) <= helps(best) && helps(best) > 0 {
			break
		}
		if helps(c) > helps(best) {
			best, fewer = c, n/2
		}
	}
	for best.Nodes.Count-fewer > 1 {
		n := (best.Nodes.Count + fewer) / 2
		switch c, ok := try(best.Nodes, n); {
		case !ok:
			best.FewerUntested = true
			return best, helps(best) > 0
		case helps(c) >= helps(best):
			best = c
		default:
			fewer = n
		}
	}
	return best, helps(best) > 0
}

// maxKinds bounds the kinds of nodes that an advice compares.
const maxKinds = 3

// kinds returns the most frequent kind of node of each of the zones in which pods request the largest share of the CPU.
func (a *Advisor) kinds() (kinds []plan.AddedNodes) {
	share, zones := map[string]float64{}, limits.ZonesOf(a.Snapshot)
	total := map[string]float64{}
	for i := range a.Snapshot.Nodes {
		n := &a.Snapshot.Nodes[i]
		share[zones[i]] += float64(n.Requested.MilliCPU)
		total[zones[i]] += float64(max(1, n.Allocatable.MilliCPU))
	}
	for z := range share {
		share[z] /= total[z]
	}
	fullest := slices.SortedFunc(maps.Keys(share), func(x, y string) int {
		return cmp.Or(cmp.Compare(share[y], share[x]), cmp.Compare(x, y))
	})
	for _, z := range fullest {
		if like := a.mostFrequent(func(n cluster.NodeID) bool { return zones[n] == z }); like != "" && len(kinds) < maxKinds {
			kinds = append(kinds, plan.AddedNodes{Like: like, Zone: z})
		}
	}
	return kinds
}

// mostFrequent returns a node of the most frequent kind of nodes in scope: those of one pool, instance type and size.
func (a *Advisor) mostFrequent(isIn func(cluster.NodeID) bool) (like string) {
	count, first := map[string]int{}, map[string]string{}
	most := ""
	for i := range a.Snapshot.Nodes {
		n := &a.Snapshot.Nodes[i]
		if !isIn(n.ID) || !n.Ready || n.Object.DeletionTimestamp != nil || !a.Options.Guards.Scope.HasNode(n) {
			continue
		}
		size := n.Object.Status.Allocatable
		kind := strings.Join([]string{poolOf(n), n.Object.Labels[corev1.LabelInstanceTypeStable], size.Cpu().String(), size.Memory().String()}, " ")
		if count[kind]++; first[kind] == "" {
			first[kind] = n.Name
		}
		if count[kind] > count[most] {
			most = kind
		}
	}
	return first[most]
}

// poolOf returns the label that names the pool of the node, such as karpenter.sh/nodepool=general, or "".
func poolOf(n *cluster.Node) string {
	for _, key := range cluster.PoolLabels {
		if value, has := n.Label(key); has {
			return key + "=" + value
		}
	}
	return ""
}
