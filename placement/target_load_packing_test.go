package placement

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

var measurementTime = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (b *snapshotBuilder) metrics(node, cpu string) {
	b.objects.NodeMetrics = append(b.objects.NodeMetrics, &metricsv1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: node},
		Timestamp: metav1.NewTime(measurementTime), Usage: corev1.ResourceList{"cpu": resource.MustParse(cpu)}})
}

// TestTargetLoadPacking puts x-0 on node a and checks the scores of a, b and c. Each node has 4
// cpus; a uses 20 %, b uses 50 %, and c has no measurement.
func TestTargetLoadPacking(t *testing.T) {
	requests := func(request, limit string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			r := &s.Containers[0].Resources
			if request != "" {
				r.Requests = corev1.ResourceList{"cpu": resource.MustParse(request)}
			}
			if limit != "" {
				r.Limits = corev1.ResourceList{"cpu": resource.MustParse(limit)}
			}
		}
	}
	overhead := func(s *corev1.PodSpec) {
		requests("", "300m")(s)
		s.Overhead = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	}
	bound := func(before time.Duration) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.app("y", 0, requests("", "400m"), "a")
			b.pod("y-0").Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(measurementTime.Add(-before))}}
		}
	}
	cases := []struct {
		name string
		spec func(*corev1.PodSpec)
		edit func(*snapshotBuilder)
		a, b int64
	}{
		{"a limit", requests("100m", "400m"), nil, 85, 27}, // 30 and 60 %
		{"a request", requests("200m", ""), nil, 81, 28},   // 300m: 27.5 and 57.5 %
		{"neither", requests("", ""), nil, 37, 17},         // 1000m: 45 and 75 %, above the target
		{"overhead", overhead, nil, 85, 27},                // 400m
		{"a pod bound after it", requests("", "400m"), bound(-time.Second), 100, 27},
		{"a pod bound 59s before", requests("", "400m"), bound(59 * time.Second), 100, 27},
		{"a pod bound 60s before", requests("", "400m"), bound(60 * time.Second), 85, 27},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			for _, n := range []string{"a", "b", "c"} {
				b.node(n, "z"+n, func(n *corev1.Node) {
					n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4")}
				})
			}
			b.metrics("a", "800m")
			b.metrics("b", "2")
			b.app("x", 0, c.spec, "a")
			if c.edit != nil {
				c.edit(b)
			}
			w := b.modelWithProfile(t, packingProfile())
			for node, want := range map[string]int64{"a": c.a, "b": c.b, "c": 0} {
				if got := scoreOf(t, explainNode(t, w, "x-0", node, true), scheduler.PackingName); got != want {
					t.Errorf("%s: %d, want %d", node, got, want)
				}
			}
		})
	}
}

// TestPackingFollowsMoves checks that the expected usage of a moved pod counts on its new node
// until the pod moves back.
func TestPackingFollowsMoves(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.metrics("a", "1")
	b.metrics("b", "1")
	b.app("x", 0, nil, "a")
	b.app("y", 0, nil, "a")
	w := b.modelWithProfile(t, packingProfile())
	score := func() string {
		return fmt.Sprint(scoreOf(t, explainNode(t, w, "x-0", "a", true), scheduler.PackingName), scoreOf(t, explainNode(t, w, "x-0", "b", true), scheduler.PackingName))
	}
	if got := score(); got != "70 70" { // 2 of 10 cpus
		t.Errorf("before the move: %s, want 70 70", got)
	}
	w.Cluster.Move(podID(t, w, "y-0"), nodeID(t, w, "b"))
	if got := score(); got != "70 85" { // the measurement of a still contains y-0
		t.Errorf("after the move: %s, want 70 85", got)
	}
	w.Cluster.Move(podID(t, w, "y-0"), nodeID(t, w, "a"))
	if got := score(); got != "70 70" {
		t.Errorf("after the move back: %s, want 70 70", got)
	}
}

func TestPackingNeedsMeasurements(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 100, nil, "a")
	w := b.modelWithProfile(t, packingProfile())
	if why, ok := w.Supported(podID(t, w, "x-0")); ok || !strings.Contains(why, "neither NodeMetrics nor Usage") {
		t.Errorf("Supported returned %v, %q; want false and the missing metrics", ok, why)
	}
}
