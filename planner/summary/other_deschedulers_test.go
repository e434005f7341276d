package summary

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestOthersThatMovePodsAreNamed checks that the plan names other programs that move pods.
func TestOthersThatMovePodsAreNamed(t *testing.T) {
	yes := true
	spec := func(image string) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}
	}
	pod := func(namespace, name, image string, labels ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}, Spec: spec(image)}
		for i := 0; i < len(labels); i += 2 {
			p.Labels[labels[i]] = labels[i+1]
		}
		return p
	}
	cron := func(image string, suspend *bool) *batchv1.CronJob {
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "level"}}
		c.Spec.Suspend, c.Spec.JobTemplate.Spec.Template.Spec = suspend, spec(image)
		return c
	}
	ended := pod("ops", "d", "registry.k8s.io/descheduler/descheduler:v0.36.0")
	ended.Status.Phase = corev1.PodSucceeded
	one := func(n string) *corev1.Pod {
		return pod("ek", n, "evenkeel", nameLabel, "evenkeel", instanceLabel, "a")
	}
	for name, c := range map[string]struct {
		pods  []*corev1.Pod
		crons []*batchv1.CronJob
		want  string
	}{
		"nobody": {[]*corev1.Pod{pod("shop", "web", "nginx:1"),
			pod("shop", "x", "example.org/descheduler-policy-ui:1")}, nil, ""},
		"by image": {[]*corev1.Pod{pod("ops", "d", "registry.k8s.io/descheduler/descheduler:v0.36.0")}, nil,
			"a descheduler runs too (pod ops/d): "},
		"by digest": {[]*corev1.Pod{pod("ops", "d", "descheduler@sha256:0")}, nil, "a descheduler runs too (pod ops/d): "},
		"by label": {[]*corev1.Pod{pod("ops", "d", "mirror/ds:1", nameLabel, "descheduler")}, nil,
			"a descheduler runs too (pod ops/d): "},
		"one that has ended":   {[]*corev1.Pod{ended}, nil, ""},
		"now and then":         {nil, []*batchv1.CronJob{cron("k8s/descheduler:1", nil)}, "a descheduler runs too (CronJob ops/level): "},
		"suspended":            {nil, []*batchv1.CronJob{cron("k8s/descheduler:1", &yes)}, ""},
		"two replicas of ours": {[]*corev1.Pod{one("a-1"), one("a-2")}, nil, ""},
		"two releases of ours": {[]*corev1.Pod{one("a-1"), pod("test", "b", "evenkeel", nameLabel, "evenkeel", instanceLabel,
			"b")}, nil, "evenkeel runs as 2 releases (ek/a, test/b): "},
		"more than can be named": {[]*corev1.Pod{pod("a", "d", "descheduler"), pod("b", "d", "descheduler"),
			pod("c", "d", "descheduler"), pod("d", "d", "descheduler")}, nil, "a descheduler runs too (pod a/d, pod b/d, pod c/d and 1 more): "},
	} {
		s, err := cluster.New(&cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Pods: c.pods,
			CronJobs: c.crons})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(otherDeschedulersInput(s, "0s").Problems, "; "); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
