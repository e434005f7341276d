package cluster

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestDepartures checks what goals count of pods that leave by themselves, and of a pod that is nominated for the node.
// Each pod requests 100m, and uses 200m if it is measured; n1 uses 3000m.
func TestDepartures(t *testing.T) {
	terminates := func(after time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: sampleTime.Add(after)} }
	}
	ofDaemonSet := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }
	for _, c := range []struct {
		name             string
		measured         bool
		change           func(*corev1.Pod) // of x, beside y, which stays
		notReady         bool
		requests         string // used-uncertain for cpu
		pods, load, some string // the same by number of pods, by load, and by load of the pods of app x
	}{
		{"stays", true, func(*corev1.Pod) {}, false, "200-0", "2-0", "3000-0", "200-0"},
		{"terminates", true, terminates(time.Minute), false, "100-0", "1-0", "2800-0", "0-0"},
		{"its end is a minute late", true, terminates(-time.Minute), false, "100-0", "1-0", "2800-0", "0-0"},
		{"its end is an hour late", true, terminates(-time.Hour), false, "200-100", "2-1", "3000-200", "200-200"},
		{"the node is not Ready", true, terminates(time.Minute), true, "200-100", "2-1", "3000-200", "200-200"},
		{"terminates, not measured", false, terminates(time.Minute), false, "100-0", "1-0", "3000-3000", "?"},
		{"has ended", false, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false, "100-0", "1-0", "3000-0", "0-0"},
		{"older pod of a DaemonSet", true, func(p *corev1.Pod) { ofDaemonSet(p); p.OwnerReferences[0].UID = "rs-y" }, false,
			"100-0", "1-0", "2800-0", "0-0"},
		{"pod of a DaemonSet, as old as the other", true, func(p *corev1.Pod) {
			ofDaemonSet(p)
			p.OwnerReferences[0].UID, p.CreationTimestamp = "rs-y", metav1.NewTime(sampleTime.Add(-time.Minute))
		}, false, "100-0", "1-0", "2800-0", "0-0"},
		{"only pod of a DaemonSet", true, ofDaemonSet, false, "200-0", "2-0", "3000-0", "200-0"},
		{"nominated", false, func(p *corev1.Pod) { p.Spec.NodeName, p.Status.NominatedNodeName = "", "n1" }, false,
			"200-100", "2-1", "3100-100", "100-100"},
	} {
		u := newUsageFixture("metricsServer", "n1")
		x := u.addPod("x", "x", "n1", 100, -time.Hour)
		y := u.addPod("y", "y", "n1", 100, -time.Hour)
		ofDaemonSet(y)
		x.CreationTimestamp, y.CreationTimestamp = metav1.NewTime(sampleTime.Add(-time.Hour)), metav1.NewTime(sampleTime.Add(-time.Minute))
		u.addNodeUsage("n1", 3000)
		u.addPodUsage("y", "uid-y", "n1", 200)
		if c.measured {
			u.addPodUsage("x", "uid-x", "n1", 200)
		}
		if c.notReady {
			u.o.Nodes[0].Status.Conditions = nil
		}
		c.change(x)
		s := u.snapshot(t)
		for _, of := range []struct {
			m    Measure
			want string
		}{
			{Measure{Resource: "cpu"}, c.requests},
			{Measure{Resource: "pods"}, c.pods},
			{Measure{Resource: "cpu", ByUsage: true}, c.load},
			{Measure{Resource: "cpu", ByUsage: true, Pods: labels.SelectorFromSet(labels.Set{"app": "x"})}, c.some},
		} {
			a, got := s.Amounts(of.m, UsageRequirements{}), "?"
			if used, certain, known := a.NodeUsed(0); known {
				got = fmt.Sprintf("%d-%d", used, a.Uncertain(0))
				if certain > used-a.Uncertain(0) || a.Unsettled(0) != a.Uncertain(0) {
					t.Errorf("%s: %+v: certain %d, unsettled %d", c.name, of.m, certain, a.Unsettled(0))
				}
			}
			if got != of.want {
				t.Errorf("%s: %+v: got %s, want %s", c.name, of.m, got, of.want)
			}
		}
	}
}
