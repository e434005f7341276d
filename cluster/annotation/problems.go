package annotation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Problems lists every request in the snapshot that cannot be read, each once,
// sorted. O(pods x keys).
func Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	return NewMemory().Problems(s, loc)
}

// Problems is Problems with what is remembered.
func (m *Memory) Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	if loc == nil {
		loc = time.UTC
	}
	var out []Problem
	seen := map[metav1.Object]bool{}
	add := func(o object) {
		if seen[o.meta] || len(o.meta.GetAnnotations())+len(o.meta.GetLabels()) == 0 {
			return
		}
		seen[o.meta] = true
		out = append(out, problemsOf(o, loc)...)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if m.carries(s, p) {
			own := object{"pod " + p.Object.Namespace + "/" + p.Object.Name, p.Object}
			out = append(out, problemsOf(own, loc)...)
			var foreign Pod
			foreign.foreign(own)
			out = append(out, foreign.Problems...)
		}
		if !m.asksAbove(s, p) {
			continue
		}
		for _, o := range carriers(s, p)[1:] {
			add(o)
		}
	}
	for i := range s.Nodes {
		out = append(out, m.OfNode(s, cluster.NodeID(i)).Problems...)
	}
	sortProblems(out)
	return slices.Compact(out)
}

// problemsOf reads the requests of one object alone.
func problemsOf(o object, loc *time.Location) []Problem {
	var p Pod
	p.evict(o)
	p.hold(o, DoNotDisrupt)
	p.window(o, loc)
	var w Workload
	w.read(o)
	return slices.Concat(p.Problems, w.Problems, o.unknown(podKeys, nodeKeys))
}
