package controlplane

import (
	"testing"

	"github.com/itchyny/gojq"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestKwokLeavesLocalPods checks that the expression of the stages selects the pods that RunsLocally selects. Otherwise
// two kubelets would manage a pod, or none.
func TestKwokLeavesLocalPods(t *testing.T) {
	query := must.Get(gojq.Parse(localPods))(t)
	fake := map[string]string{Fake: "yes"}
	for _, c := range []struct {
		name        string
		images      []string
		annotations map[string]string
		want        bool
	}{
		{"a pod of Evenkeel", []string{"registry.example.org/evenkeel:1"}, nil, true},
		{"with another annotation", []string{"registry.example.org/evenkeel:1"}, map[string]string{"x": "y"}, true},
		{"with a second container", []string{"proxy", "evenkeel@sha256:1"}, nil, true},
		{"a fake pod", []string{"registry.example.org/evenkeel:1"}, fake, false},
		{"another pod", []string{"registry.example.org/app:1"}, nil, false},
		{"another fake pod", []string{"registry.example.org/app:1"}, fake, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}}
		for _, image := range c.images {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Image: image})
		}
		object := must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(pod))(t)
		result, found := query.Run(object).Next()
		if err, failed := result.(error); failed {
			t.Fatalf("%s: %v", c.name, err)
		}
		if found != c.want || RunsLocally(pod) != c.want {
			t.Errorf("%s: kwok leaves it: %v, the runner runs it: %v, want %v", c.name, found, RunsLocally(pod), c.want)
		}
	}
}
