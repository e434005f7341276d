package topologyspread

import (
	"encoding/binary"
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// goal returns the goal of a constraint. If the constraint has fewer domains than minDomains, the scheduler takes 0 for
// the number of pods in the emptiest domain. Each domain may then have maxSkew pods.
func (f *finder) goal(c *constraint) (plan.Goal, bool) {
	domains := f.domainsOf(c.nodes, c.topologyKey)
	tooFew := len(domains.Values) < c.minDomains
	if len(domains.Values) == 0 || len(domains.Values) == 1 && !tooFew {
		return plan.Goal{}, false
	}
	pods := f.runningPods(c.pods)
	if len(pods) <= c.maxSkew {
		return plan.Goal{}, false
	}
	g := plan.Goal{
		Kind: plan.SkewAtMost, Subject: f.subject(c), TopologyKey: c.topologyKey, Limit: float64(c.maxSkew), Weight: 1,
		Pods: pods, Domains: domains.Values, NotCounted: c.nodes.notCounted,
	}
	allows := fmt.Sprintf("a skew of %d", c.maxSkew)
	if tooFew {
		g.Kind = plan.CountAtMost
		allows = fmt.Sprintf("%d on each, because minDomains is %d", c.maxSkew, c.minDomains)
	}
	f.topologies.Domains(c.topologyKey).Count(f.snapshot, pods, domains, c.nodes.notCounted, func(n *topology.Counter) {
		g.Reason = plan.Reason{Code: plan.SpreadConstraintViolated, Message: fmt.Sprintf("%s has %s of %s; its constraint allows %s",
			f.names(c, pods), n.DomainsText(domains), c.topologyKey, allows)}
	})
	return g, true
}

// runningPods returns the running pods of a set. Sets and goals with the same pods share the slice.
func (f *finder) runningPods(set *podSet) []cluster.PodID {
	if set.first != nil {
		return set.first.running
	}
	f.buffer = f.buffer[:0]
	f.index.ForEachSelected(set.namespace, set.selector, func(p *cluster.Pod) {
		if topology.IsRunning(p) {
			set.running = append(set.running, p.ID)
			f.buffer = binary.AppendUvarint(f.buffer, uint64(p.ID))
		}
	})
	if set.first = f.samePods[string(f.buffer)]; set.first == nil {
		set.first = set
		f.samePods[string(f.buffer)] = set
	}
	set.running = set.first.running
	return set.running
}

// sameGoal identifies the goals that count the same pods on the same nodes and allow the same numbers.
type sameGoal struct {
	pods        *podSet
	nodes       *nodeSet
	topologyKey string
	maxSkew     int
	kind        plan.GoalKind
}

// subject returns the workload of the first pod that declares the constraint, or that pod if it has no workload.
func (f *finder) subject(c *constraint) plan.ObjectRef {
	ref := plan.OwnerRefOf(f.snapshot, c.declaredBy)
	ref.Namespace = c.pods.namespace
	return ref
}

// names returns the name of the subject, and how many other workloads have pods among the counted ones.
func (f *finder) names(c *constraint, pods []cluster.PodID) string {
	own, others := c.declaredBy.Workload, map[cluster.WorkloadID]bool{}
	for _, id := range pods {
		if w := f.snapshot.Pods[id].Workload; w != own {
			others[w] = true
		}
	}
	name := f.subject(c).Name
	if n := len(others); n > 0 {
		name += " with " + plural.Count(n, "other workload")
	}
	return name
}
