package placement

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// Competition is a group of pods without a node that the scheduler places in an unknown order.
type Competition struct {
	model   *ClusterModel
	pods    []cluster.PodID
	unknown int               // number of further pods that compete
	largest cluster.Resources // requests
}

// NewCompetition returns the competition of pods that have no node in the model and whose placement is supported.
// unknown is the number of further pods without a node, whose placement is not.
func NewCompetition(m *ClusterModel, pods []cluster.PodID, unknown int) *Competition {
	c, seen := &Competition{model: m, pods: pods, unknown: unknown}, map[int]bool{}
	for _, p := range pods {
		if n := m.Cluster.ClassNumber(p); !seen[n] {
			seen[n] = true
			c.addLargest(RequestsOf(m, p))
		}
	}
	return c
}

func (c *Competition) addLargest(r *cluster.Resources) {
	l := &c.largest
	l.MilliCPU, l.MemoryBytes = max(l.MilliCPU, r.MilliCPU), max(l.MemoryBytes, r.MemoryBytes)
	l.EphemeralStorageByte = max(l.EphemeralStorageByte, r.EphemeralStorageByte)
	for name, amount := range r.Extended {
		if l.Extended == nil {
			l.Extended = map[corev1.ResourceName]int64{}
		}
		l.Extended[name] = max(l.Extended[name], amount)
	}
}

// maxExactCompetition is the largest number of pods of which NeededToExclude examines each. Of a larger group, it
// assumes that all are as large as the largest.
const maxExactCompetition = 64

// NeededToExclude returns a lower bound on the number of other pods of the competition that must have landed before the
// pod finds no node. It is 0 for a pod that may find none although no other has landed.
//
// A pod finds no node only if each of its nodes is full. For a pod with a required topology spread constraint, it is
// enough that the nodes of the emptiest domain are full.
func (c *Competition) NeededToExclude(p cluster.PodID) int64 {
	m := c.model
	in := m.replacementOf(p)
	anti := len(in.InterPod.Anti) + len(in.InterPod.ExistingAnti)
	switch {
	case len(in.InterPod.Required) > 0 || len(in.Volumes.ExclusiveClaims) > 0 || len(in.Spread.Hard) > 1,
		anti > 0 && (len(in.Spread.Hard) > 0 || c.separatesDomains(p)):
		return 0
	}
	refused := m.rejections(in, p)
	fits := func(n int) bool {
		return refused[n] == "" || refused[n] == scheduler.PodTopologySpread && in.Spread.HardKeyNodes[n] && (in.FeaturesOK == nil || in.FeaturesOK[n])
	}
	if len(in.Spread.Hard) == 0 {
		return c.neededToFill(p, func(n int) bool { return refused[n] == "" })
	}
	hard := &in.Spread.Hard[0]
	if len(hard.Domains) == 0 || hard.MinDomains > len(hard.Domains) {
		return 0
	}
	least := int64(math.MaxInt64)
	for _, d := range hard.Domains {
		least = min(least, c.neededToFill(p, func(n int) bool { return hard.Topology.Domain[n] == d && fits(n) }))
	}
	return least
}

// separatesDomains reports whether required anti-affinity may keep pods apart in domains of several nodes.
func (c *Competition) separatesDomains(p cluster.PodID) bool {
	in := c.model.replacementOf(p)
	for _, terms := range [...][]cycle.TermWithTopology{in.InterPod.Anti, in.InterPod.ExistingAnti} {
		if slices.ContainsFunc(terms, func(t cycle.TermWithTopology) bool { return !t.Topology.OneNodePerDomain }) {
			return true
		}
	}
	return false
}

// neededToFill returns a lower bound on the number of others that leave no room for the pod on any of the nodes. A pod
// that excludes it takes a node alone, so each of them may take one of the nodes that most are needed to fill.
func (c *Competition) neededToFill(p cluster.PodID, isPossible func(n int) bool) (needed int64) {
	exact := len(c.pods) <= maxExactCompetition
	var others []cluster.PodID
	excluded := c.unknown
	if exact {
		for _, q := range c.pods {
			if q != p {
				others = append(others, q)
				if ExcludeEachOther(c.model, q, p) {
					excluded++
				}
			}
		}
	}
	var fills []int64
	for n := range c.model.Cluster.Snap.Nodes {
		switch {
		case !isPossible(n):
		case exact:
			fills = append(fills, int64(LeastToFill(c.model, cluster.NodeID(n), p, others)))
		default:
			fills = append(fills, AtLeastToFill(c.model, cluster.NodeID(n), p, &c.largest))
		}
	}
	slices.Sort(fills)
	for i, fill := range fills {
		if i >= len(fills)-excluded {
			fill = 1
		}
		needed += fill
		if needed > int64(len(c.pods)+c.unknown) {
			break
		}
	}
	return needed
}

// rejections returns, by node, the first filter that refuses the node to the replacement; "" for a feasible node.
func (m *ClusterModel) rejections(in *cycle.Replacement, p cluster.PodID) []scheduler.Filter {
	r := cycle.NewAttempt(m.Cluster, &m.scratch, in, p)
	out := make([]scheduler.Filter, len(m.Cluster.Snap.Nodes))
	for n := range out {
		out[n] = filter.RefusedBy(&r, n)
	}
	if len(m.Cluster.Nominated) > 0 {
		for n := range out {
			if out[n] == "" && filter.RefusedWithNominatedPods(&r, cluster.NodeID(n)) != "" {
				out[n] = scheduler.NominatedPods
			}
		}
	}
	return out
}

// Copies returns an upper bound on the number of pods of the class of p that fit into the cluster at the same time,
// wherever the scheduler places other pods. Of a node that refuses the pod now, it counts none, unless pods that land
// later may change that: topology spread and required affinity may let a pod in later. refused counts the nodes that
// take none, by the filter.
func (m *ClusterModel) Copies(p cluster.PodID) (most int64, refused map[scheduler.Filter]int) {
	in := m.replacementOf(p)
	apart := model.PortsConflict(in.Ports, in.Ports)
	for _, t := range in.InterPod.Anti {
		apart = apart || in.Class.CountedBy(t.Pods)
	}
	refused = map[scheduler.Filter]int{}
	for n, f := range m.rejections(in, p) {
		later := f == "" || f == scheduler.NominatedPods || f == scheduler.PodTopologySpread && in.Spread.HardKeyNodes[n] ||
			f == scheduler.InterPodAffinity && len(in.InterPod.Required) > 0
		if !later {
			refused[f]++
			continue
		}
		copies := m.room(cluster.NodeID(n), in.CheckedRequests)
		if apart {
			copies = min(copies, 1)
		}
		most += copies
		if most > int64(len(m.Cluster.Snap.Pods)) {
			return most, refused
		}
	}
	return most, refused
}

// room returns how many pods with these requests the node has room for.
func (m *ClusterModel) room(n cluster.NodeID, requests *cluster.Resources) int64 {
	if requests == nil {
		return math.MaxInt32
	}
	node, used := &m.Cluster.Snap.Nodes[n], &m.Cluster.Requests[n]
	most := max(0, node.AllowedPods-used.Pods)
	for _, name := range requests.Names() {
		if wanted := requests.Get(name); wanted > 0 {
			most = min(most, max(0, node.Allocatable.Get(name)-used.Get(name))/wanted)
		}
	}
	return most
}
