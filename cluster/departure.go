package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Departure says whether a bound pod leaves its node without an eviction by Evenkeel. Goals count what will be on a
// node; predictions of landings count what is there.
//
// The same holds for every object that shows how the node will be soon: terminating pods, whoever deleted them (a
// scale-down, a drain, preemption), the older pod of a DaemonSet whose update starts the new pod first, pods that have
// ended (they count nowhere), and pods that preemption has nominated for the node, which will arrive. Surplus pods of
// a Deployment's rollout do not belong to it: nobody knows yet which of them leave.
type Departure uint8

const (
	// Stays means that nothing shows that the pod will leave.
	Stays Departure = iota
	// Overdue means that the pod is terminating, and nobody knows when it ends: a finalizer keeps it, or no kubelet ends
	// it. Goals count it as they count uncertain usage: no pod leaves because of it, and no pod takes its room.
	Overdue
	// Leaves means that the pod will be gone. Goals do not count it.
	Leaves
)

// overdueAfter is how long after its grace period a terminating pod is Overdue. It is the time for which pods tolerate
// an unreachable node by default.
const overdueAfter = 5 * time.Minute

// addDepartures sets the Departure of every bound pod, and what leaves each node. It needs TakenAt.
func (b *builder) addDepartures() {
	newest := map[string]PodID{} // by the UID of a DaemonSet, of one node
	for i := range b.s.Nodes {
		n := &b.s.Nodes[i]
		clear(newest)
		for _, id := range n.Pods {
			p := &b.s.Pods[id]
			if p.Terminating {
				b.depart(n, p, b.departure(n, p.Object))
				continue
			}
			if p.Controller == nil || p.Controller.Kind != "DaemonSet" {
				continue
			}
			uid := string(p.Controller.UID)
			if other, twice := newest[uid]; twice {
				older := &b.s.Pods[other]
				if p.Object.CreationTimestamp.Before(&older.Object.CreationTimestamp) {
					p, older = older, p
				}
				b.depart(n, older, Leaves)
			}
			newest[uid] = p.ID
		}
	}
	for i := range b.s.Pods {
		if n := b.s.NominatedNode(&b.s.Pods[i]); n != nil {
			b.s.changesUnderWay = true
		}
	}
}

func (b *builder) departure(n *Node, p *corev1.Pod) Departure {
	if !n.Ready || b.s.TakenAt.Sub(p.DeletionTimestamp.Time) > overdueAfter {
		return Overdue
	}
	return Leaves
}

func (b *builder) depart(n *Node, p *Pod, d Departure) {
	p.Departure, b.s.changesUnderWay = d, true
	if d == Leaves {
		n.Leaving.Add(p.Requests)
		n.LeavingPods++
	}
}

// NominatedNode returns the node on which preemption has made room for the unbound pod, or nil.
func (s *Snapshot) NominatedNode(p *Pod) *Node {
	if p.Node != NoNode || p.Terminal || p.Terminating || p.Object.Status.NominatedNodeName == "" {
		return nil
	}
	return s.NodeByName(p.Object.Status.NominatedNodeName)
}

// unsettle counts an amount that may be on the node later or not: no pod leaves the node because of it, and no pod
// takes its room.
func (a *Amounts) unsettle(n NodeID, amount int64) {
	a.uncertain[n] = BoundedSum(a.uncertain[n], amount)
	a.unsettled[n] = BoundedSum(a.unsettled[n], amount)
}

// countDepartures takes the measured usage of pods that leave off their nodes. If the usage of such a pod is unknown,
// it is uncertain how much of the node's usage will remain.
func (a *Amounts) countDepartures() {
	l, resource := a.snapshot.Usage, a.Measure.Resource
	for i := range a.snapshot.Pods {
		p := &a.snapshot.Pods[i]
		to := p.Node
		if n := a.snapshot.NominatedNode(p); n != nil {
			to = n.ID
		}
		if to == NoNode || p.Terminal || p.Node != NoNode && p.Departure == Stays || !a.countsPod(p) || a.used[to] == unknownAmount {
			continue
		}
		use, quality := l.PodUsed(p.ID, resource)
		if p.Node != NoNode && quality >= Estimated && a.Measure.Pods == nil {
			use = l.PodFrees(p.ID, resource)
		}
		switch {
		case p.Node == NoNode:
			a.used[to] = BoundedSum(a.used[to], use)
			a.unsettle(to, use)
		case quality == Unknown:
			a.unsettle(to, a.used[to]-a.uncertain[to])
			a.certain[to] = 0
		case p.Departure == Overdue:
			a.unsettle(to, use)
			if quality >= Estimated {
				a.certain[to] -= use
			}
		default:
			a.freed[i] = 0
			a.used[to] = max(0, a.used[to]-use)
			if quality >= Estimated {
				a.certain[to] -= use
			}
		}
	}
}
