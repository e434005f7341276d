package summary

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const released = "registry.k8s.io/descheduler/descheduler:v0.36.0"

// runningPod returns a pod with one container. Labels are pairs of key and value.
func runningPod(namespace, name, image string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}},
		Spec: podSpec(image)}
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func podSpec(image string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}
}

// owned makes an object of kind and name the controller of the pod.
func owned(p *corev1.Pod, apiVersion, kind, name string) *corev1.Pod {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u", Controller: ptr.To(true)}}
	return p
}

func deployment(image string, replicas int32) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "d"}}
	d.Spec.Replicas, d.Spec.Template.Spec = &replicas, podSpec(image)
	return d
}

func cronJob(image string, suspend *bool) *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "level", UID: "c"}}
	c.Spec.Suspend, c.Spec.JobTemplate.Spec.Template.Spec = suspend, podSpec(image)
	return c
}

// ofCron returns a Job of the CronJob level.
func ofCron() *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "level-1", UID: "u", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "batch/v1", Kind: "CronJob", Name: "level", UID: "c", Controller: ptr.To(true)}}}}
}

// TestOtherDeschedulersAreNamed checks that the plan names each other descheduler and the object that runs it, such as
// a Deployment. The plan for the redacted snapshot must name the same objects.
func TestOtherDeschedulersAreNamed(t *testing.T) {
	ended := runningPod("ops", "d", released)
	ended.Status.Phase = corev1.PodSucceeded
	for name, c := range map[string]struct {
		objects cluster.Objects
		want    string
	}{
		"none": {cluster.Objects{Pods: []*corev1.Pod{runningPod("shop", "web", "nginx:1"),
			runningPod("shop", "x", "example.org/descheduler-policy-ui:1")}}, ""},
		"by image":  {cluster.Objects{Pods: []*corev1.Pod{runningPod("ops", "d", released)}}, "descheduler (Pod ops/d)"},
		"by digest": {cluster.Objects{Pods: []*corev1.Pod{runningPod("ops", "d", "descheduler@sha256:0")}}, "descheduler (Pod ops/d)"},
		"by another image": {cluster.Objects{Pods: []*corev1.Pod{runningPod("k", "d", "ghcr.io/koordinator-sh/koord-descheduler:v1.7")}},
			"koord-descheduler (Pod k/d)"},
		"by label":   {cluster.Objects{Pods: []*corev1.Pod{runningPod("ops", "d", "mirror/ds:1", nameLabel, "descheduler")}}, "descheduler (Pod ops/d)"},
		"app label":  {cluster.Objects{Pods: []*corev1.Pod{runningPod("ops", "d", "mirror/ds:1", "app", "descheduler")}}, "descheduler (Pod ops/d)"},
		"ended":      {cluster.Objects{Pods: []*corev1.Pod{ended}}, ""},
		"deployment": {cluster.Objects{Deployments: []*appsv1.Deployment{deployment(released, 1)}}, "descheduler (Deployment ops/d)"},
		"with its pod": {cluster.Objects{Deployments: []*appsv1.Deployment{deployment(released, 1)},
			Pods: []*corev1.Pod{owned(runningPod("ops", "d-1", released), "apps/v1", "Deployment", "d")}}, "descheduler (Deployment ops/d)"},
		"stopping": {cluster.Objects{Deployments: []*appsv1.Deployment{deployment(released, 0)},
			Pods: []*corev1.Pod{owned(runningPod("ops", "d-1", released), "apps/v1", "Deployment", "d")}}, "descheduler (Deployment ops/d)"},
		"stopped":   {cluster.Objects{Deployments: []*appsv1.Deployment{deployment(released, 0)}}, ""},
		"cron":      {cluster.Objects{CronJobs: []*batchv1.CronJob{cronJob(released, nil)}}, "descheduler (CronJob ops/level)"},
		"suspended": {cluster.Objects{CronJobs: []*batchv1.CronJob{cronJob(released, ptr.To(true))}}, ""},
		"suspended, and its last Job runs": {cluster.Objects{CronJobs: []*batchv1.CronJob{cronJob(released, ptr.To(true))},
			Jobs: []*batchv1.Job{ofCron()},
			Pods: []*corev1.Pod{owned(runningPod("ops", "level-1-x", released), "batch/v1", "Job", "level-1")}}, "descheduler (CronJob ops/level)"},
		"several": {cluster.Objects{CronJobs: []*batchv1.CronJob{cronJob(released, nil)}, Pods: []*corev1.Pod{runningPod("a", "d", released)}},
			"descheduler (Pod a/d), descheduler (CronJob ops/level)"},
	} {
		c.objects.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}
		for i, o := range []*cluster.Objects{&c.objects, cluster.Redact(&c.objects)} {
			s := must.Get(cluster.New(o))(t)
			var got []string
			for _, o := range OtherDeschedulersIn(s) {
				got = append(got, o.String())
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s, redacted %t: %q, want %q", name, i == 1, text, c.want)
			}
		}
	}
}

// TestOtherReleasesAreNamed checks that the plan names releases of Evenkeel if there are several.
func TestOtherReleasesAreNamed(t *testing.T) {
	of := func(namespace, name, release string) *corev1.Pod {
		return runningPod(namespace, name, "evenkeel", nameLabel, "evenkeel", instanceLabel, release)
	}
	var all []*corev1.Pod
	for i := range 5 {
		all = append(all, of(fmt.Sprint("n", i), "p", "r"))
	}
	for name, c := range map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"two replicas":  {[]*corev1.Pod{of("ek", "a-1", "a"), of("ek", "a-2", "a")}, ""},
		"two releases":  {[]*corev1.Pod{of("ek", "a-1", "a"), of("test", "b", "b")}, "evenkeel runs as 2 releases (ek/a, test/b): "},
		"five releases": {slices.Clone(all), "evenkeel runs as 5 releases (n0/r, n1/r, n2/r and 2 more): "},
	} {
		s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Pods: c.pods}))(t)
		got := strings.Join(otherReleasesInput(s, "0s").Problems, "; ")
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
