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
	// o has the pods whose replacements stay Pending where they were: such an eviction repairs nothing.
	o *cluster.Objects
	// landings are the replacements: their nodes by name, or empty if a replacement stays Pending.
	landings map[string]landing
}

type landing struct{ from, to string }

// replace evicts pods in order, and places each replacement as the model of the scheduler does, before the next
// eviction. A pod that has ended gets no replacement. A replacement has the name of its pod.
func replace(t *testing.T, r *rand.Rand, o *cluster.Objects, opts placement.Options, evicted []string) replaced {
	t.Helper()
	s, err := cluster.New(o)
	check(t, err)
	m := placement.NewClusterModel(s, opts)
	out := replaced{landings: map[string]landing{}}
	gone := map[string]bool{}
	for _, name := range evicted {
		i := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool { return p.Name == name })
		pod := s.PodByUID(string(o.Pods[i].UID)).ID
		if gone[name] = true; ended(o.Pods[i]) {
			continue
		}
		to := draw(r, m.Predict(pod))
		m.Move(pod, to)
		l := landing{from: o.Pods[i].Spec.NodeName}
		if to != cluster.NoNode {
			l.to = s.Nodes[to].Name
		}
		out.landings[name] = l
	}
	after := *o
	after.Pods = nil
	for _, p := range o.Pods {
		if l, moved := out.landings[p.Name]; moved && l.to != "" {
			after.Pods = append(after.Pods, replacement(p, l.to, o.TakenAt))
		} else if moved || !gone[p.Name] {
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

func replacement(p *corev1.Pod, node string, now time.Time) *corev1.Pod {
	c := p.DeepCopy()
	c.UID, c.CreationTimestamp, c.Spec.NodeName = types.UID(c.Name+"-new"), metav1.NewTime(now), node
	c.Status = running(c.CreationTimestamp)
	return c
}
