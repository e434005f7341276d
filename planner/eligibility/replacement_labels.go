package eligibility

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// replacementLabels are the labels of a pod's replacement: the labels of the owner's template and the labels that
// controllers add. If the template is unknown, they are the pod's own labels. They implement labels.Labels.
type replacementLabels struct{ pod, template map[string]string }

func newReplacementLabels(p *cluster.Pod) replacementLabels {
	if t := guard.PodTemplate(p); t != nil {
		return replacementLabels{p.Object.Labels, t.Labels}
	}
	return replacementLabels{nil, p.Object.Labels}
}

// controllerLabels are the labels that controllers add.
var controllerLabels = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid",
}

func (l replacementLabels) Lookup(key string) (value string, has bool) {
	if slices.Contains(controllerLabels, key) {
		value, has = l.pod[key]
	}
	if !has {
		value, has = l.template[key]
	}
	return value, has
}

func (l replacementLabels) Has(key string) bool {
	_, has := l.Lookup(key)
	return has
}

func (l replacementLabels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
