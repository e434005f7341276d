package placement

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/filter"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSupported(t *testing.T) {
	volume := func(s corev1.VolumeSource) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: s}}
		}
	}
	cases := []struct {
		name string
		edit func(*snapshotBuilder)
		want string // part of the reason; empty if supported
	}{
		{"a plain pod", func(*snapshotBuilder) {}, ""},
		{"1.36", func(b *snapshotBuilder) { b.objects.ServerVersion = "1.36" }, ""},
		{"the nearest model of an older version", func(b *snapshotBuilder) { b.objects.ServerVersion = "1.20" }, ""},
		{"the nearest model of a newer version", func(b *snapshotBuilder) { b.objects.ServerVersion = "1.99" }, ""},
		{"1.33", func(b *snapshotBuilder) { b.objects.ServerVersion = "1.33" }, ""},
		{"another scheduler", func(b *snapshotBuilder) { b.pod("x-0").Spec.SchedulerName = "trimaran" }, `"trimaran"`},
		{"emptyDir", volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), ""},
		{"projected", volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}), ""},
		{"claim that is not there", volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}), "claim c of volume \"v\" is not in the snapshot"},
		{"csi", volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}), ""},
		{"path of the node", volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}), ""},
		{"host port", func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
		}, ""},
		{"resource claim", func(b *snapshotBuilder) {
			b.pod("x-0").Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c"}}
		}, "resource claims"},
		{"template with gates", func(b *snapshotBuilder) {
			b.objects.ReplicaSets[0].Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
		}, "scheduling gates"},
		{"owner not in the snapshot", func(b *snapshotBuilder) { b.objects.ReplicaSets = []*appsv1.ReplicaSet{} }, "not in the snapshot"},
		{"being resized", func(b *snapshotBuilder) {
			b.pod("x-0").Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue}}
		}, "resized"},
		{"namespace labels known", func(b *snapshotBuilder) { selectNamespaces(b.pod("x-0")) }, ""},
		{"namespace labels unknown", func(b *snapshotBuilder) { selectNamespaces(b.pod("x-0")); b.objects.Namespaces = nil }, "not known"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			b.app("x", 100, nil, "a")
			c.edit(b)
			m := b.model(t)
			why, ok := m.Supported(podID(t, m, "x-0"))
			if ok != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("supported %v: %q, want %q", ok, why, c.want)
			}
			if p := m.Predict(podID(t, m, "x-0")); p.UnsupportedReason != why || (!ok && p.Pending() != 0) {
				t.Errorf("the prediction's UnsupportedReason is %q", p.UnsupportedReason)
			}
		})
	}
}

// TestResizedPodHasItsOwnClass: x-0 shrinks from 600m to 200m, so it still counts with 600m on its
// node, like x-1. The replacement of x-1 requests 600m.
func TestResizedPodHasItsOwnClass(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 600, nil, "a", "a")
	x := b.pod("x-0")
	before := x.Spec.Containers[0].Resources.DeepCopy()
	x.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: before.Requests, Resources: before}}
	x.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("200m")
	x.Generation = 2
	m := b.model(t)
	for pod, want := range map[string]int64{"x-0": 200, "x-1": 600} {
		p := m.Cluster.Snap.Pods[podID(t, m, pod)]
		if got := m.replacementOf(p.ID).Requests.MilliCPU; got != want || p.Requests.MilliCPU != 600 {
			t.Errorf("%s counts with %dm, and its replacement requests %dm; want 600m and %dm", pod, p.Requests.MilliCPU, got, want)
		}
	}
}

func selectNamespaces(p *corev1.Pod) {
	p.Spec.Affinity = antiAffinityTo("y", hostKey)
	p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector =
		&metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
}

func TestCanRun(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("plain", "za")
	b.node("cordoned", "za", cordon)
	b.node("tainted", "za", withTaint(corev1.TaintEffectNoExecute))
	b.node("elsewhere", "zb")
	b.node("notready", "za", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown })
	b.app("x", 100, func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{zoneKey: "za"} }, "cordoned")
	m := b.model(t)
	for i := range m.Cluster.Snap.Nodes {
		n := &m.Cluster.Snap.Nodes[i]
		if got := filter.CanRunFunc(b.pod("x-0"))(n); got != (n.Name == "plain") {
			t.Errorf("%s: %v", n.Name, got)
		}
		if in := m.replacementOf(podID(t, m, "x-0")); in.CanRun[i] != filter.CanRunFunc(b.pod("x-0"))(n) {
			t.Errorf("node %s: the model and filter.CanRunFunc differ", n.Name)
		}
	}
}
