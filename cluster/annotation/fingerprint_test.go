package annotation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFingerprint checks that a change of a label, a request or the controller changes the
// fingerprint. Annotations that Evenkeel does not read do not change the fingerprint.
func TestFingerprint(t *testing.T) {
	pod := func(change func(p *corev1.Pod)) string {
		yes := true
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}, Annotations: map[string]string{"cni": "x"},
			OwnerReferences: []metav1.OwnerReference{{UID: "u", Controller: &yes}}}}
		change(p)
		return Fingerprint(p)
	}
	before := pod(func(*corev1.Pod) {})
	for name, c := range map[string]struct {
		change func(p *corev1.Pod)
		shows  bool
	}{
		"nothing":          {func(*corev1.Pod) {}, false},
		"another's note":   {func(p *corev1.Pod) { p.Annotations["cni"] = "y" }, false},
		"status":           {func(p *corev1.Pod) { p.ResourceVersion = "7"; p.Status.Phase = corev1.PodRunning }, false},
		"a label":          {func(p *corev1.Pod) { p.Labels["app"] = "b" }, true},
		"a request":        {func(p *corev1.Pod) { p.Annotations[Evict] = "never" }, true},
		"an unknown one":   {func(p *corev1.Pod) { p.Annotations[Prefix+"evcit"] = "never" }, true},
		"a neighbour's":    {func(p *corev1.Pod) { p.Annotations[SafeToEvict] = "false" }, true},
		"its controller":   {func(p *corev1.Pod) { p.OwnerReferences = nil }, true},
		"a label to quote": {func(p *corev1.Pod) { p.Labels = map[string]string{"app\"\"a": ""} }, true},
	} {
		if got := pod(c.change) != before; got != c.shows {
			t.Errorf("%s: fingerprint changed %v, want %v", name, got, c.shows)
		}
	}
}
