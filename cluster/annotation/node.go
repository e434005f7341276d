package annotation

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
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
// pod belongs to the node. The Cluster Autoscaler ignores such pods. The kind are all pods that belong to their node,
// with true or with a duration that has not passed since their start; an unreadable value counts as true. Other pods
// with the annotation are not evicted, which is a reason of its own.
func KeepsNode(s *cluster.Snapshot, n *cluster.Node) (pod *cluster.Pod, keeps bool) {
	if slices.ContainsFunc(keptNodeKeys, func(key string) bool {
		value, has := n.Object.Annotations[key]
		return has && value != "false"
	}) {
		return nil, true
	}
	for _, id := range n.Pods {
		if p := &s.Pods[id]; !p.Terminating && p.BelongsToNode() && isKeptByKarpenter(p, s.TakenAt) {
			return p, true
		}
	}
	return nil, false
}

func isKeptByKarpenter(p *cluster.Pod, now time.Time) bool {
	var r Pod
	r.readKarpenterKeys(object{"the pod", p.Object})
	start, known := p.Started()
	return len(r.Problems) > 0 || slices.ContainsFunc(r.Protections, func(x Protection) bool {
		return x.For == 0 || !known || now.Before(start.Add(x.For))
	})
}

// OfNode reads the requests on a node. If an exclude value cannot be read, the node is
// excluded.
func OfNode(n *cluster.Node) Node {
	var r Node
	if !hasKnownKey(n.Object) {
		return r
	}
	o := object{"node " + n.Name, n.Object}
	r.Problems = o.unknownKeys(nodeKeys, podKeys)
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
