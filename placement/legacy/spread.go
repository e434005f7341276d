package legacy

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// NewCounters returns the pod counters of a class. As in schedulers with a legacy Policy, owners
// are found by their selectors instead of by owner reference.
func NewCounters(w *model.Cluster, c *model.EquivalenceClass) cycle.LegacyCounters {
	p := cycle.LegacyCounters{Zones: regionAndZone(w)}
	all := labels.NewSelector()
	for _, s := range w.Services[c.Namespace] {
		sel := labels.SelectorFromSet(s.Spec.Selector)
		if len(s.Spec.Selector) == 0 || !sel.Matches(c.Labels) {
			continue
		}
		if p.Service == nil {
			p.Service = w.SpreadCounter(c.Namespace, sel)
		}
		all = addRequirements(all, sel)
	}
	for _, sel := range ownerSelectors(w, c.Namespace) {
		if !sel.Empty() && sel.Matches(c.Labels) {
			all = addRequirements(all, sel)
		}
	}
	p.Selected = w.SpreadCounter(c.Namespace, all)
	return p
}

func addRequirements(a, b labels.Selector) labels.Selector {
	reqs, _ := b.Requirements()
	return a.Add(reqs...)
}

// ownerSelectors returns the selectors of the namespace's ReplicationControllers, ReplicaSets and
// StatefulSets.
func ownerSelectors(w *model.Cluster, namespace string) []labels.Selector {
	o := w.Snap.Objects
	if o == nil {
		return nil
	}
	var list []labels.Selector
	add := func(ns string, s *metav1.LabelSelector) {
		if sel, err := metav1.LabelSelectorAsSelector(s); ns == namespace && err == nil {
			list = append(list, sel)
		}
	}
	for _, x := range o.ReplicationControllers {
		if x.Namespace == namespace && len(x.Spec.Selector) > 0 {
			list = append(list, labels.SelectorFromSet(x.Spec.Selector))
		}
	}
	for _, x := range o.ReplicaSets {
		add(x.Namespace, x.Spec.Selector)
	}
	for _, x := range o.StatefulSets {
		add(x.Namespace, x.Spec.Selector)
	}
	return list
}

// regionAndZone returns the topology in which nodes with the same region and zone form a domain.
// Nodes without both labels belong to no domain.
func regionAndZone(w *model.Cluster) *model.Topology {
	return w.TopologyBy("region and zone", func(n *cluster.Node) (string, bool) { // blanks cannot be in a label key
		region := labelOrLegacy(n, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion)
		zone := labelOrLegacy(n, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone)
		return region + "\x00" + zone, region != "" || zone != ""
	})
}

func labelOrLegacy(n *cluster.Node, key, older string) string {
	if v, ok := n.Label(key); ok {
		return v
	}
	v, _ := n.Label(older)
	return v
}

// selectorSpread is int(node/3 + 2 zone/3) of
//
//	node = 10 (maxN - n) / maxN    zone = 10 (maxZ - z) / maxZ
//
// where n and z are the owner's pods on the node and in its zone, feasible nodes only; 10 where the
// maximum is 0. A node without a zone gets only the node part. The computation is exact, in
// integers.
func selectorSpread(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	c := r.Replacement.Legacy
	zones := r.Scratch.ResetCounts(r.FilterSlots, c.Zones.Size)
	var maxN, maxZ int64
	for _, n := range feasible {
		maxN = max(maxN, int64(c.Selected.CountOn(n)))
		if z := c.Zones.Domain[n]; z != model.NoDomain {
			zones[z] += c.Selected.CountOn(n)
			maxZ = max(maxZ, int64(zones[z]))
		}
	}
	for i, n := range feasible {
		node, nodeOf := unusedFraction(int64(c.Selected.CountOn(n)), maxN)
		z := c.Zones.Domain[n]
		if z == model.NoDomain {
			out[i] = scheduler.MaxLegacyScore * node / nodeOf
			continue
		}
		zone, zoneOf := unusedFraction(int64(zones[z]), maxZ)
		out[i] = scheduler.MaxLegacyScore * (node*zoneOf + 2*zone*nodeOf) / (3 * nodeOf * zoneOf)
	}
}

// unusedFraction returns the fraction (most - n) / most; 1 if most is 0.
func unusedFraction(n, most int64) (part, whole int64) {
	if most == 0 {
		return 1, 1
	}
	return most - n, most
}

// serviceAntiAffinity gives a node 10 (N - N_label) / N. N counts the pods of the service on all
// feasible nodes, N_label those on feasible nodes with the same label value. Every node gets 10 if
// N is 0. A node without the label gets 0.
func serviceAntiAffinity(r *cycle.Attempt, key string, feasible []cluster.NodeID, out []int64) {
	topo, service := r.Model.TopologyOf(key), r.Replacement.Legacy.Service
	byValue := r.Scratch.ResetCounts(r.FilterSlots, topo.Size)
	var all int64
	for _, n := range feasible {
		if service == nil {
			break
		}
		all += int64(service.CountOn(n))
		if x := topo.Domain[n]; x != model.NoDomain {
			byValue[x] += service.CountOn(n)
		}
	}
	for i, n := range feasible {
		switch x := topo.Domain[n]; {
		case x == model.NoDomain:
			out[i] = 0
		case all == 0:
			out[i] = scheduler.MaxLegacyScore
		default:
			out[i] = scheduler.MaxLegacyScore * (all - int64(byValue[x])) / all
		}
	}
}
