package breaker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
)

// startTime is how long a node may take to become Ready for the first time. Until then it starts: it has no pods to
// lose, and it does not show that the cluster gets worse. A node with a start-up taint that is Ready counts as Ready.
const startTime = 10 * time.Minute

// registrationTime is longer than the time between the creation of a Node and the first condition that its kubelet
// writes, with the difference of their clocks.
const registrationTime = 30 * time.Second

// neverReady reports whether the node has not been Ready since it was created. Its condition then dates from its
// creation, or the kubelet has written none. Without the time of its creation, the node may have been Ready.
func neverReady(n *corev1.Node) bool {
	created := n.CreationTimestamp.Time
	if created.IsZero() || cluster.NodeReady(n) {
		return false
	}
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 || n.Status.Conditions[i].Reason == "NodeStatusNeverUpdated" {
		return true
	}
	since := n.Status.Conditions[i].LastTransitionTime.Time
	return since.IsZero() || since.Sub(created) <= registrationTime
}

// isStarting reports whether the node was created lately and has never been Ready.
func isStarting(n *corev1.Node, now time.Time) bool {
	return neverReady(n) && now.Sub(n.CreationTimestamp.Time).Abs() < startTime
}

// LooksLost reports whether a node that is deleted in this state was lost, as opposed to removed on
// purpose: it is not virtual, not Ready but was Ready before, not cordoned, and nothing drains or removes it. The cloud
// controller manager deletes the Node of a machine that no longer exists, but only if the node is
// not Ready. Autoscalers mark a node before they remove it, and otherwise delete only Ready nodes.
func LooksLost(n *corev1.Node) bool {
	_, leaves := nodemarks.Table{}.First(n, nodemarks.Removing, nodemarks.Draining)
	return cluster.VirtualKind(n) == "" && !cluster.NodeReady(n) && !neverReady(n) && !n.Spec.Unschedulable && !leaves
}

// RecordUnready adds the nodes of a snapshot that look lost to those of earlier passes, and removes the entries that no
// later pass needs. deleted contains the nodes whose deletion was seen, even between the passes. An entry whose node is
// not in the snapshot is a lost node.
func RecordUnready(earlier []plan.UnreadyNode, deleted []cluster.DeletedNode, s *cluster.Snapshot) []plan.UnreadyNode {
	lastSeen := map[string]plan.UnreadyNode{}
	for _, n := range earlier {
		lastSeen[n.Name] = n
	}
	for _, d := range deleted {
		delete(lastSeen, d.Name)
		if d.Lost {
			lastSeen[d.Name] = plan.UnreadyNode{Name: d.Name, Seen: d.At.UTC(), Nodes: d.Nodes}
		}
	}
	all := countMachines(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		delete(lastSeen, n.Name)
		if LooksLost(n.Object) {
			lastSeen[n.Name] = plan.UnreadyNode{Name: n.Name, Seen: s.TakenAt.UTC(), Nodes: all}
		}
	}
	maps.DeleteFunc(lastSeen, func(_ string, n plan.UnreadyNode) bool { return !isRecent(n, s) })
	out := slices.SortedFunc(maps.Values(lastSeen), func(a, b plan.UnreadyNode) int { return cmp.Compare(a.Name, b.Name) })
	return out[:min(len(out), plan.MaxUnreadyNodes)]
}

// goneNodes returns how many lost nodes were not replaced, and since when nodes are gone. Other nodes that the cluster
// gained since a loss are replacements.
func goneNodes(s *cluster.Snapshot, lastSeen []plan.UnreadyNode) (gone int, since time.Time) {
	lost, before := 0, 0
	for _, n := range lastSeen {
		if s.NodeByName(n.Name) != nil || !isRecent(n, s) {
			continue
		}
		if lost++; lost == 1 || n.Seen.Before(since) {
			since = n.Seen
		}
		before = max(before, n.Nodes)
	}
	return min(lost, max(0, before-countMachines(s))), since
}

// countMachines returns the number of nodes that are neither virtual nor starting. Virtual nodes come and go with their
// pods, and a starting node may never be Ready, so they neither replace a lost node nor count as one.
func countMachines(s *cluster.Snapshot) (count int) {
	for i := range s.Nodes {
		if n := s.Nodes[i].Object; cluster.VirtualKind(n) == "" && !isStarting(n, s.TakenAt) {
			count++
		}
	}
	return count
}

// isRecent reports whether the node was last seen so recently that it may count as gone. Later, the smaller cluster is
// normal. A time after the snapshot means that the clock was set back.
func isRecent(n plan.UnreadyNode, s *cluster.Snapshot) bool {
	return s.TakenAt.Sub(n.Seen).Abs() <= cluster.DeletedNodeWindow
}
