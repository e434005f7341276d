package placement

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// usageOf adds a measurement of cpu with its deviation, in milliCPU, and of memory, in bytes.
func (b *snapshotBuilder) usageOf(node string, cpu, cpuDeviation, memory int64) {
	if b.objects.Usage == nil {
		b.objects.Usage = &cluster.Usage{APIVersion: "evenkeel.io/v1alpha1", Kind: "Usage", Source: "prometheus", Statistic: "mean", SampledAt: measurementTime}
	}
	b.objects.Usage.Nodes = append(b.objects.Usage.Nodes, cluster.NodeUsage{Name: node, At: measurementTime,
		Used: map[string]int64{"cpu": cpu, "memory": memory}, Deviation: map[string]int64{"cpu": cpuDeviation}})
}

func requesting(cpu, limit string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("0")}
		if limit != "" {
			s.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse(limit)}
		}
	}
}

func fourCPUs(n *corev1.Node) {
	list := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	n.Status.Capacity, n.Status.Allocatable = list, list
}

// TestRiskBalancingScores checks the scores of nodes with a steady, a varying and no measured usage.
func TestRiskBalancingScores(t *testing.T) {
	b := newSnapshotBuilder()
	for _, n := range []string{"steady", "varying", "unmeasured"} {
		b.node(n, "z"+n, fourCPUs)
	}
	b.usageOf("steady", 1600, 0, 0)
	b.usageOf("varying", 1600, 800, 0)
	b.app("x", 0, requesting("800m", ""), "steady")
	w := b.modelWithProfile(t, riskBalancingProfile())
	// The mean is 0.4 + 0.2, and the deviation 0 or 0.2: 1 - 0.3 and 1 - 0.4.
	for node, want := range map[string]int64{"steady": 70, "varying": 60, "unmeasured": 0} {
		if got := scoreOf(t, explainNode(t, w, "x-0", node, true), scheduler.RiskBalancingName); got != want {
			t.Errorf("%s: %d, want %d", node, got, want)
		}
	}
}

// TestLowRiskFollowsMoves checks that the requests and limits of a moved pod count on its new node until it moves back.
func TestLowRiskFollowsMoves(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za", fourCPUs)
	b.node("b", "zb", fourCPUs)
	b.usageOf("a", 0, 0, 0)
	b.usageOf("b", 0, 0, 0)
	b.app("x", 0, requesting("1", "2"), "a")
	b.app("y", 0, requesting("1", "4"), "a")
	args := scheduler.DefaultLowRisk()
	w := b.modelWithProfile(t, newUsageProfile(func(p *scheduler.Profile) { p.LowRisk = &args }))
	scores := func() [2]int64 {
		return [2]int64{scoreOf(t, explainNode(t, w, "x-0", "a", true), scheduler.LowRiskName),
			scoreOf(t, explainNode(t, w, "x-0", "b", true), scheduler.LowRiskName)}
	}
	// With y: requests 2, limits 6 of 4 cpus, so the risk by limits is 2 / 4, of which half counts.
	with, without := int64(75), int64(100)
	if got := scores(); got != [2]int64{with, without} {
		t.Errorf("before the move: %v, want %v", got, [2]int64{with, without})
	}
	w.Cluster.Move(podID(t, w, "y-0"), nodeID(t, w, "b"))
	if got := scores(); got != [2]int64{without, with} {
		t.Errorf("after the move: %v, want %v", got, [2]int64{without, with})
	}
	w.Cluster.Move(podID(t, w, "y-0"), nodeID(t, w, "a"))
	if got := scores(); got != [2]int64{with, without} {
		t.Errorf("after the move back: %v, want %v", got, [2]int64{with, without})
	}
}

// TestRiskScoresNeedMeasurements checks that nothing is predicted without any measurement.
func TestRiskScoresNeedMeasurements(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 100, nil, "a")
	w := b.modelWithProfile(t, riskBalancingProfile())
	if why, ok := w.Supported(podID(t, w, "x-0")); ok {
		t.Errorf("Supported returned true, %q; want false without measurements", why)
	}
}
