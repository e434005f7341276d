package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	corev1 "k8s.io/api/core/v1"
)

// unsupportedTemplate says of a pod whose spec was changed after it was made, as by a
// resize in place, that its template asks for other resources: which of the two
// the replacement will have cannot be told. A pod as it was admitted comes back
// as it is, whatever admission plugins made of the template.
func (w *ClusterModel) unsupportedTemplate(p *cluster.Pod) string {
	o, ok := w.OwnerOf(p)
	if p.Object.Generation <= 1 || !ok || o.Template == nil {
		return ""
	}
	c := w.PodClass[p.ID]
	if c.TemplateRequests == nil {
		wants := model.RequestsOfTemplate(&corev1.Pod{Spec: *o.Template})
		c.TemplateRequests = &wants
	}
	if model.EqualResources(model.RequestsOfTemplate(p.Object), *c.TemplateRequests) {
		return ""
	}
	return "it was changed after it was made, and its template asks for other resources"
}
