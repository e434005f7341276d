package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// resizedSince says of a pod whose spec was changed after it was made, as by a
// resize in place, that its template asks for other resources: which of the two
// the replacement will have cannot be told. A pod as it was admitted comes back
// as it is, whatever admission plugins made of the template.
func (w *World) resizedSince(p *cluster.Pod) string {
	o, ok := w.ownerOf(p)
	if p.Object.Generation <= 1 || !ok || o.template == nil {
		return ""
	}
	c := w.classOf[p.ID]
	if c.wants == nil {
		wants := asks(&corev1.Pod{Spec: *o.template})
		c.wants = &wants
	}
	if equalResources(asks(p.Object), *c.wants) {
		return ""
	}
	return "it was changed after it was made, and its template asks for other resources"
}
