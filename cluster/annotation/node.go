package annotation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
)

// Node holds the requests on one node.
type Node struct {
	// Exclude lists the requests to keep the planner away from the node and its pods.
	Exclude []Source
	// DrainFirst makes the planner move the pods of this node before other pods that would help
	// equally.
	DrainFirst bool
	Problems   []Problem
}

// KeepsNode reports whether an annotation forbids the Cluster Autoscaler or Karpenter to remove the node. pod is nil,
// or the pod that has the annotation: Karpenter removes no node with a pod that it must not disrupt, not even if the
// pod belongs to the node. The Cluster Autoscaler ignores such pods. The kind are pods of DaemonSets, static pods and
// mirror pods; other pods with the annotation are not evicted, which is a reason of its own.
func KeepsNode(s *cluster.Snapshot, n *cluster.Node) (pod *cluster.Pod, keeps bool) {
	if slices.ContainsFunc(keptNodeKeys, func(key string) bool {
		value, has := n.Object.Annotations[key]
		return has && value != "false"
	}) {
		return nil, true
	}
	for _, id := range n.Pods {
		if p := &s.Pods[id]; p.Object.Annotations[KarpenterNoDisrupt] == "true" && !p.Terminating && isNodesOwn(p) {
			return p, true
		}
	}
	return nil, false
}

func isNodesOwn(p *cluster.Pod) bool {
	_, mirror := p.Object.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || p.Controller != nil && (p.Controller.Kind == "DaemonSet" || p.Controller.Kind == "Node")
}

// OfNode reads the requests on a node. If an exclude value cannot be read, the node is
// excluded.
func OfNode(n *cluster.Node) Node {
	var r Node
	if !hasKnownKey(n.Object) {
		return r
	}
	o := object{"node " + n.Name, n.Object}
	r.Problems = slices.DeleteFunc(o.unknownKeys(nodeKeys, podKeys), func(p Problem) bool { return hints.IsOwnKey(p.Key) })
	for _, key := range nodeKeys.keys {
		for _, src := range o.requestValues(key) {
			switch {
			case src.Value == "false":
				continue
			case src.Value != "true":
				src = src.truncated()
				r.Problems = append(r.Problems, newProblem(src, wantBool))
			case key == DrainFirst:
				r.DrainFirst = true
			}
			if key == Exclude {
				r.Exclude = append(r.Exclude, src)
			}
		}
	}
	return r
}
