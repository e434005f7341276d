package annotation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Problems lists every unreadable request in the snapshot once, sorted. It takes O(pods x
// keys).
func Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	return NewCache().Problems(s, loc)
}

// Problems returns the same as the function Problems and uses the cache.
func (m *Cache) Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
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
		out = append(out, objectProblems(o, loc)...)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if m.hasOwnRequests(s, p) {
			own := object{"pod " + p.Object.Namespace + "/" + p.Object.Name, p.Object}
			out = append(out, objectProblems(own, loc)...)
			var foreign Pod
			foreign.readForeignKeys(own)
			out = append(out, foreign.Problems...)
		}
		if !m.inheritsRequests(s, p) {
			continue
		}
		for _, o := range requestObjects(s, p)[1:] {
			add(o)
		}
	}
	for i := range s.Nodes {
		out = append(out, m.OfNode(s, cluster.NodeID(i)).Problems...)
	}
	sortProblems(out)
	return slices.Compact(out)
}

// objectProblems returns the problems of the requests on one object.
func objectProblems(o object, loc *time.Location) []Problem {
	var p Pod
	p.readEvict(o)
	p.readProtection(o, DoNotDisrupt)
	p.readWindows(o, loc)
	var w Workload
	w.readObject(o)
	return slices.Concat(p.Problems, w.Problems, o.unknownKeys(podKeys, nodeKeys))
}
