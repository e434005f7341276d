package eligibility

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// replacementLabels returns the labels of the pod's replacement: the labels of the owner's template and the labels
// that controllers add. If the template is unknown, it returns the pod's own labels.
func replacementLabels(p *cluster.Pod) map[string]string {
	t := guard.PodTemplate(p)
	if t == nil {
		return p.Object.Labels
	}
	out := map[string]string{}
	maps.Copy(out, t.Labels)
	for _, key := range [...]string{
		appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
		batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid",
	} {
		if v, ok := p.Object.Labels[key]; ok {
			out[key] = v
		}
	}
	return out
}
