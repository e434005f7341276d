package model

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestReplacedAfterGone checks which controllers create a replacement only after the pod has terminated.
func TestReplacedAfterGone(t *testing.T) {
	failed, early := batchv1.Failed, batchv1.TerminatingOrFailed
	for name, c := range map[string]struct {
		kind string
		job  batchv1.JobSpec
		want bool
	}{
		"a ReplicaSet":                        {kind: "ReplicaSet"},
		"a StatefulSet":                       {kind: "StatefulSet", want: true},
		"a Job":                               {kind: "Job"},
		"a Job that waits for failed pods":    {kind: "Job", job: batchv1.JobSpec{PodReplacementPolicy: &failed}, want: true},
		"a Job with a podFailurePolicy":       {kind: "Job", job: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}}, want: true},
		"such a Job that replaces pods early": {kind: "Job", job: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}, PodReplacementPolicy: &early}},
	} {
		yes, meta := true, metav1.ObjectMeta{Namespace: "shop", Name: "web"}
		version := map[string]string{"Job": "batch/v1"}[c.kind]
		if version == "" {
			version = "apps/v1"
		}
		s := must.Get(cluster.New(&cluster.Objects{
			Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, Jobs: []*batchv1.Job{{ObjectMeta: meta, Spec: c.job}},
			Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: version, Kind: c.kind, Name: "web", Controller: &yes}}},
				Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}}}}}))(t)
		if got := NewCluster(s, nil).ClassList[0].ReplacedAfterGone; got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
