package eligibility

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestSelectorsOfWorkloads: an unknown or invalid selector is "", because an empty selector would match every pod.
func TestSelectorsOfWorkloads(t *testing.T) {
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	for _, c := range []struct {
		object metav1.Object
		want   string
	}{
		{&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: web}}, "app=web"},
		{&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Selector: web}}, "app=web"},
		{&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Selector: web}}, "app=web"},
		{&batchv1.Job{Spec: batchv1.JobSpec{Selector: web}}, "app=web"},
		{&corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Selector: web.MatchLabels}}, "app=web"},
		{&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: invalid}}, ""},
		{&appsv1.Deployment{}, ""},
		{nil, ""},
	} {
		if got := (&Checker{}).podSelector(&cluster.Workload{Object: c.object}); got != c.want {
			t.Errorf("%T: selector %q, want %q", c.object, got, c.want)
		}
	}
}

// TestSelectorOfAWorkloadThatIsNotInTheSnapshot checks that the selector of a Rollout consists of the labels that the
// pods of its two ReplicaSets share. Without a selector, all pods of the namespace would be read before each eviction.
func TestSelectorOfAWorkloadThatIsNotInTheSnapshot(t *testing.T) {
	pod := func(hash string) cluster.Pod {
		return cluster.Pod{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"app": "web", "tier": "front", "rollouts-pod-template-hash": hash}}}}
	}
	v := &Checker{snapshot: &cluster.Snapshot{Pods: []cluster.Pod{pod("a"), pod("a"), pod("b")}}}
	rollout := &cluster.Workload{Kind: "Rollout", Name: "web", Pods: []cluster.PodID{0, 1, 2}}
	if got, want := v.podSelector(rollout), "app=web,tier=front"; got != want {
		t.Errorf("selector %q, want %q", got, want)
	}
	if got := v.snapshot.Pods[0].Object.Labels["rollouts-pod-template-hash"]; got != "a" {
		t.Error("the labels of a pod in the snapshot have changed")
	}
}
