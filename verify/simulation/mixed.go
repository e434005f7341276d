package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// mostPods bounds a Mixed cluster.
const mostPods = 160

// Mixed is a small cluster with something of everything that guards, requests of
// people and budgets are about: all kinds of owners and their troubles, budgets
// of all shapes, Services, annotations, node states. Part of its nodes are
// crowded, so that there is something to do. In three of four clusters half or
// more of the oddities are left out, so that plans are not only refusals.
// One in five is taken in a night in which clocks are moved.
func Mixed(r *rand.Rand) *cluster.Objects {
	now := epoch.Add(time.Duration(r.IntN(14*24*60)) * time.Minute)
	if nights := Nights(); r.IntN(5) == 0 {
		now = nights[r.IntN(len(nights))].Add(time.Duration(r.IntN(6*60)) * time.Minute)
	}
	return MixedAt(r, now)
}

// Nights are when the clocks of Berlin and of Lord Howe, which moves its own by
// half an hour, are moved in 2026: within four hours from these times.
func Nights() []time.Time {
	return []time.Time{
		time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC),
		time.Date(2026, 4, 4, 13, 0, 0, 0, time.UTC), time.Date(2026, 10, 3, 13, 0, 0, 0, time.UTC),
	}
}

// MixedAt is a Mixed cluster at a time.
func MixedAt(r *rand.Rand, now time.Time) *cluster.Objects {
	m := &mixedCluster{r: r, now: now, o: &cluster.Objects{TakenAt: now, ServerVersion: "1.37"}}
	m.isCalm = pick(r, 1, 0.5, 0.25, 0.1)
	m.namespaces()
	m.nodes(4 + r.IntN(17))
	m.classes()
	for i := 0; i < 6+r.IntN(16) && len(m.o.Pods) < mostPods-12; i++ {
		m.workload(i)
	}
	m.singles()
	m.protect()
	m.addRequiredPeers()
	return m.o
}

// addRequiredPeers adds, in one of three clusters, a pod that requires one of a workload on its
// host. What it draws leaves the rest of the cluster as it is.
func (m *mixedCluster) addRequiredPeers() {
	r := rand.New(rand.NewPCG(uint64(m.now.Unix()), uint64(len(m.o.Pods))))
	if len(m.apps) == 0 || r.IntN(3) > 0 {
		return
	}
	a := m.apps[r.IntN(len(m.apps))]
	if len(a.pods) == 0 || a.pods[0].Spec.NodeName == "" {
		return
	}
	with := a.pods[0]
	term := corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: a.labels}, Namespaces: []string{a.ns}, TopologyKey: "kubernetes.io/hostname"}
	m.o.Pods = append(m.o.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "clings", UID: "clings", CreationTimestamp: with.CreationTimestamp, Labels: map[string]string{"clings": "yes"}},
		Spec: corev1.PodSpec{NodeName: with.Spec.NodeName, SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/clings:v1"}},
			Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	})
}

// mixedCluster makes one cluster.
type mixedCluster struct {
	r    *rand.Rand
	now  time.Time
	o    *cluster.Objects
	free []int64 // milliCPU per node
	isCalm float64 // factor of all chances
	apps []*mixedApp
}

// chance is true so often, less in calm clusters.
func (m *mixedCluster) chance(p float64) bool { return m.r.Float64() < p*m.isCalm }

// pick draws one of several.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (m *mixedCluster) namespaces() {
	for i := range 5 {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ns%d", i), UID: types.UID(fmt.Sprintf("ns%d", i)),
			Labels: map[string]string{"team": pick(m.r, "red", "blue")}, Annotations: map[string]string{}}}
		switch {
		case m.chance(0.03):
			gone := metav1.NewTime(m.now)
			ns.DeletionTimestamp, ns.Status.Phase = &gone, corev1.NamespaceTerminating
		case m.chance(0.08):
			m.request(ns.Annotations)
		}
		m.o.Namespaces = append(m.o.Namespaces, ns)
	}
	m.o.Namespaces = append(m.o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "kube-system"}})
}

// request puts one annotation of a person, sensible or not.
func (m *mixedCluster) request(to map[string]string) {
	for range 1 + m.r.IntN(5)/4 {
		kv := pick(m.r, []string{"evict", "never"}, []string{"evict", "prefer"}, []string{"evict", "prefer"}, []string{"evict", "Never"},
			[]string{"do-not-disrupt", "true"}, []string{"do-not-disrupt", "2h"}, []string{"do-not-disrupt", "30m"}, []string{"do-not-disrupt", "4 h"},
			[]string{"window", "0 8 * * * 10h"}, []string{"window", "0 18 * * * 14h Europe/Berlin"}, []string{"window", "0 0 * * 1-5 12h; 0 12 * * 1-5 12h Asia/Tokyo"},
			[]string{"window", "0 0 * * * 2h Europe/Berlin; 30 2 * * * 3h Europe/Berlin"},
			[]string{"window", "0 8 * * *"}, []string{"evcit", "never"}, []string{"max-skew", "2"}, []string{"max-skew", "none"}, []string{"zone-slo", "3"}, []string{"spread-by", "rack"})
		to["evenkeel.io/"+kv[0]] = kv[1]
	}
}

// foreign puts one annotation that others read.
func (m *mixedCluster) foreign(to map[string]string) {
	kv := pick(m.r, []string{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}, []string{"cluster-autoscaler.kubernetes.io/safe-to-evict", "true"},
		[]string{"karpenter.sh/do-not-disrupt", "true"}, []string{"karpenter.sh/do-not-disrupt", "3h"}, []string{"karpenter.sh/do-not-evict", "true"},
		[]string{"descheduler.alpha.kubernetes.io/evict", ""}, []string{"descheduler.alpha.kubernetes.io/prefer-no-eviction", ""},
		[]string{"descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"},
		[]string{"descheduler.alpha.kubernetes.io/eviction-in-progress", ""}, []string{"controller.kubernetes.io/pod-deletion-cost", "7"})
	to[kv[0]] = kv[1]
}

func (m *mixedCluster) nodes(n int) {
	for i := range n {
		name := fmt.Sprintf("n%02d", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{},
			Labels: map[string]string{zoneKey: fmt.Sprintf("z%d", i%3), "kubernetes.io/hostname": name, "pool": "general"}}}
		node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("60")}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if m.chance(0.18) {
			m.breakNode(node)
		}
		m.o.Nodes = append(m.o.Nodes, node)
		m.free = append(m.free, 7800)
	}
}

func (m *mixedCluster) breakNode(n *corev1.Node) {
	taint := func(key, value string, effect corev1.TaintEffect) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
	switch m.r.IntN(12) {
	case 0:
		n.Spec.Unschedulable = true
		taint("node.kubernetes.io/unschedulable", "", corev1.TaintEffectNoSchedule)
	case 1:
		n.Status.Conditions[0].Status = pick(m.r, corev1.ConditionFalse, corev1.ConditionUnknown)
		taint("node.kubernetes.io/not-ready", "", corev1.TaintEffectNoSchedule)
	case 2:
		taint("karpenter.sh/disrupted", "", corev1.TaintEffectNoSchedule)
	case 3:
		taint("karpenter.sh/disruption", "disrupting", corev1.TaintEffectNoSchedule)
	case 4:
		taint("ToBeDeletedByClusterAutoscaler", "1767225600", corev1.TaintEffectNoSchedule)
	case 5:
		gone := metav1.NewTime(m.now)
		n.DeletionTimestamp, n.Finalizers = &gone, []string{"example.com/wait"}
	case 6:
		n.Annotations["evenkeel.io/exclude"] = "true"
	case 7:
		n.Annotations["evenkeel.io/exclude"] = "yes"
	case 8:
		n.Annotations["evenkeel.io/drain-first"] = "true"
	case 9:
		n.Annotations["evenkeel.io/exlude"] = "true"
	case 10:
		n.Labels["pool"] = "special"
	case 11:
		delete(n.Labels, zoneKey)
	}
}

func (m *mixedCluster) classes() {
	m.o.PriorityClasses = []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high", UID: "pc-high"}, Value: 1000}, {ObjectMeta: metav1.ObjectMeta{Name: "batch", UID: "pc-batch"}, Value: -10}}
}

// place finds a node with room, the first ones more often; "" when all are full.
func (m *mixedCluster) place(cpu int64) string {
	n := int(float64(len(m.free)) * m.r.Float64() * m.r.Float64())
	for range m.free {
		if m.free[n] >= cpu {
			m.free[n] -= cpu
			return m.o.Nodes[n].Name
		}
		n = (n + 1) % len(m.free)
	}
	return ""
}
