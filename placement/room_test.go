package placement

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// roomModel has an empty node b, on which pod x-0 of node a fits with 2 of 10 CPUs, and pods of several sizes on a.
func roomModel(t *testing.T, edit func(*snapshotBuilder)) *ClusterModel {
	t.Helper()
	b := newSnapshotBuilder()
	b.node("a", "")
	b.node("b", "")
	b.app("x", 2000, nil, "a")
	b.app("half", 500, nil, "a", "a")
	b.app("four", 4000, nil, "a", "a", "a")
	b.app("nine", 9000, nil, "a")
	if edit != nil {
		edit(b)
	}
	return b.model(t)
}

func onNode(name string, pods *int64, cpu string) func(*snapshotBuilder) {
	return func(b *snapshotBuilder) {
		i := slices.IndexFunc(b.objects.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		n := b.objects.Nodes[i]
		n.Status.Allocatable = n.Status.Allocatable.DeepCopy()
		if pods != nil {
			n.Status.Allocatable["pods"] = *resource.NewQuantity(*pods, resource.DecimalSI)
		}
		if cpu != "" {
			n.Status.Allocatable["cpu"] = resource.MustParse(cpu)
		}
	}
}

// TestLeastToFill counts the replacements of other pods that leave x-0 no room on node b.
func TestLeastToFill(t *testing.T) {
	one, three := int64(1), int64(3)
	for _, c := range []struct {
		name          string
		edit          func(*snapshotBuilder)
		others        []string
		want, atLeast int64
	}{
		{"no others", nil, nil, 1, 0},
		{"one takes all", nil, []string{"nine-0"}, 1, 1},
		{"two do not suffice", nil, []string{"four-0", "four-1"}, 3, 3},
		{"three do", nil, []string{"four-0", "four-1", "four-2"}, 3, 3},
		{"the largest first", nil, []string{"half-0", "half-1", "nine-0"}, 1, 1},
		{"small ones never suffice", nil, []string{"half-0", "half-1"}, 3, 17},
		{"room for x-0 alone", onNode("b", nil, "2"), []string{"half-0"}, 1, 1},
		{"a place for one pod", onNode("b", &one, ""), []string{"half-0", "half-1"}, 1, 1},
		{"places for three pods", onNode("b", &three, ""), []string{"half-0", "half-1", "four-0"}, 3, 3},
		{"x-0 requests nothing", func(b *snapshotBuilder) { removeRequests(b.pod("x-0")) }, []string{"nine-0"}, 2, 110},
		{"only memory is short", func(b *snapshotBuilder) { b.app("m", 0, requestMemory("9Gi"), "a") }, []string{"m-0"}, 1, 1},
		{"another resource of the others", func(b *snapshotBuilder) { b.app("m", 0, requestMemory("9Gi"), "a"); removeMemory(b.pod("x-0")) },
			[]string{"m-0"}, 2, 110},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := roomModel(t, c.edit)
			x, b := podID(t, m, "x-0"), nodeID(t, m, "b")
			var others []cluster.PodID
			largest := cluster.Resources{}
			for _, name := range c.others {
				o := podID(t, m, name)
				others = append(others, o)
				r := RequestsOf(m, o)
				largest.MilliCPU, largest.MemoryBytes = max(largest.MilliCPU, r.MilliCPU), max(largest.MemoryBytes, r.MemoryBytes)
			}
			if got := LeastToFill(m, b, x, others); int64(got) != c.want {
				t.Errorf("LeastToFill is %d, want %d", got, c.want)
			}
			if c.atLeast == 0 {
				return
			}
			if got := AtLeastToFill(m, b, x, &largest); got != c.atLeast {
				t.Errorf("AtLeastToFill is %d, want %d", got, c.atLeast)
			}
		})
	}
}

func removeRequests(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = nil }

func removeMemory(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Requests, "memory") }

func requestMemory(amount string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse(amount)}
	}
}

// TestExcludeEachOther checks which pairs of pods may not fit on one node, however large it is. Then one other
// replacement may fill the node of a pod, in the view of AtLeastToFill.
func TestExcludeEachOther(t *testing.T) {
	port := func(number int32) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: number, HostPort: number, Protocol: corev1.ProtocolTCP}}
		}
	}
	apartFrom := func(app string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: hostKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
		}
	}
	for _, c := range []struct {
		name string
		p, q func(*corev1.PodSpec)
		want bool
	}{
		{"nothing in common", nil, nil, false},
		{"one host port", port(80), port(80), true},
		{"different host ports", port(80), port(81), false},
		{"anti-affinity of the first", apartFrom("q"), nil, true},
		{"anti-affinity of the second", nil, apartFrom("p"), true},
		{"anti-affinity to others", apartFrom("r"), apartFrom("r"), false},
		{"volumes", func(s *corev1.PodSpec) { s.Volumes = claimVolumes("c") }, func(s *corev1.PodSpec) { s.Volumes = claimVolumes("d") }, true},
		{"a volume of one", func(s *corev1.PodSpec) { s.Volumes = claimVolumes("c") }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "")
			b.node("b", "")
			b.boundClaim("c", nil)
			b.boundClaim("d", nil)
			b.csiNode("a", 9)
			b.csiNode("b", 9)
			b.app("p", 1000, c.p, "a")
			b.app("q", 1000, c.q, "a")
			m := b.model(t)
			p, q := podID(t, m, "p-0"), podID(t, m, "q-0")
			if got := ExcludeEachOther(m, p, q); got != c.want || ExcludeEachOther(m, q, p) != c.want {
				t.Errorf("got %t, in reverse %t, want %t", got, ExcludeEachOther(m, q, p), c.want)
			}
			if got := AtLeastToFill(m, nodeID(t, m, "b"), p, RequestsOf(m, q)); c.want && got != 1 || got < 1 {
				t.Errorf("AtLeastToFill is %d", got)
			}
		})
	}
}
