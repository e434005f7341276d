package target

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestNamesOfImages compares names in pods with the names that container runtimes report.
func TestNamesOfImages(t *testing.T) {
	n := &cluster.Node{Object: &corev1.Node{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{
		{Names: []string{"docker.io/library/app@sha256:a1", "docker.io/library/app:latest"}},
		{Names: []string{"registry.example.com:5000/team/web@sha256:b2", "registry.example.com:5000/team/web:v1"}},
	}}}}
	for image, lacks := range map[string]bool{
		"app": false, "library/app:latest": false, "docker.io/library/app": false, "app@sha256:a1": false, "app:v7@sha256:a1": false,
		"app:v7": true, "app@sha256:b2": true, "registry.example.com:5000/team/web:v1": false, "registry.example.com:5000/team/web": true,
		"registry.example.com:5000/team/web:v1@sha256:b2": false,
	} {
		if got := lacksImage(n, image); got != lacks {
			t.Errorf("%s: lacks it %t, want %t", image, got, lacks)
		}
	}
}

// TestImagesUnderAnotherName checks that no node is rejected for a missing image if a Ready pod runs on a node that
// does not list the image: the node then lists it under another name.
func TestImagesUnderAnotherName(t *testing.T) {
	node := func(name, image string) *corev1.Node {
		n := &corev1.Node{}
		n.Name, n.Status.Images = name, []corev1.ContainerImage{{Names: []string{image}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		return n
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Image: "app", ImagePullPolicy: corev1.PullNever}}}}
	pod.Namespace, pod.Name = "shop", "app"
	pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for image, may := range map[string]bool{"localhost/app:latest": true, "docker.io/library/app:latest": false} {
		s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{node("a", image), node("b", "docker.io/library/other:1")}, Pods: []*corev1.Pod{pod}}))(t)
		if got := New(s, cluster.Scope{}, nil).Of(&s.Pods[0]).May[1]; got != may {
			t.Errorf("node a lists %s: may be sent to b %t, want %t", image, got, may)
		}
	}
}
