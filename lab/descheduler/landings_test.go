package descheduler

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// replaced is a cluster after evictions, and where the replacements are.
type replaced struct {
	o *cluster.Objects
	// landings are the replacements by name. A replacement that stays Pending has no node.
	landings map[string]landing
}

type landing struct{ from, to string }

// replace evicts pods in order, and places each replacement as the model of the scheduler does,
// before the next eviction. At the end it places the pods that are Pending, if a node takes them
// now. A pod that has ended gets no replacement. A replacement has the name of its pod.
func replace(t *testing.T, r *rand.Rand, o *cluster.Objects, opts placement.Options, evicted []string) replaced {
	t.Helper()
	s, err := cluster.New(o)
	check(t, err)
	m := placement.NewClusterModel(s, opts)
	out, gone := replaced{landings: map[string]landing{}}, map[string]bool{}
	place := func(p *corev1.Pod) {
		id := s.PodByUID(string(p.UID)).ID
		to := draw(r, m.Predict(id))
		m.Cluster.Move(id, to)
		l := landing{from: p.Spec.NodeName}
		if to != cluster.NoNode {
			l.to = s.Nodes[to].Name
		}
		out.landings[p.Name] = l
	}
	for _, name := range evicted {
		i := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool { return p.Name == name })
		if gone[name] = true; !ended(o.Pods[i]) {
			place(o.Pods[i])
		}
	}
	for _, p := range o.Pods {
		if l, moved := out.landings[p.Name]; moved && l.to == "" || p.Spec.NodeName == "" {
			place(p)
		}
	}
	after := *o
	after.Pods = nil
	for _, p := range o.Pods {
		if l, moved := out.landings[p.Name]; moved {
			after.Pods = append(after.Pods, replacement(p, l.to, o.TakenAt))
		} else if !gone[p.Name] {
			after.Pods = append(after.Pods, p)
		}
	}
	out.o = &after
	return out
}

// draw returns the node on which a replacement lands, by the predicted probabilities.
func draw(r *rand.Rand, pr prediction.Prediction) cluster.NodeID {
	st := pr.Terminating
	if r.Float64() < pr.WeightGone {
		st = pr.Gone
	}
	x := r.Float64()
	for i, n := range st.Winners {
		if x -= st.WinnerProb(i); x < 0 || i == len(st.Winners)-1 {
			return n
		}
	}
	return cluster.NoNode
}

// replacement returns the replacement of a pod on a node, or Pending without a node.
func replacement(p *corev1.Pod, node string, now time.Time) *corev1.Pod {
	c := p.DeepCopy()
	c.UID, c.CreationTimestamp, c.Spec.NodeName = types.UID(c.Name+"-new"), metav1.NewTime(now), node
	if c.Status = running(c.CreationTimestamp); node == "" {
		c.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled,
			Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: c.CreationTimestamp}}}
	}
	return c
}

// withPendingBack returns the cluster with each Pending pod where it was at first: an eviction
// whose replacement stays Pending repairs nothing.
func withPendingBack(first, o *cluster.Objects) *cluster.Objects {
	out := *o
	out.Pods = slices.Clone(o.Pods)
	for i, p := range out.Pods {
		if p.Spec.NodeName == "" {
			out.Pods[i] = first.Pods[slices.IndexFunc(first.Pods, func(q *corev1.Pod) bool { return q.Name == p.Name })]
		}
	}
	return &out
}
