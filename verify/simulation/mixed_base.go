package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// mixedBase holds the objects of a Mixed cluster and adds those that belong to no
// workload: namespaces, nodes, priority classes, Services and budgets.
type mixedBase struct {
	r            *rand.Rand
	now          time.Time
	o            *cluster.Objects
	free         []int64 // free CPU of each node, in milliCPU
	chanceFactor float64 // scales every chance
}

// chance returns true with probability p times chanceFactor.
func (m *mixedBase) chance(p float64) bool { return m.r.Float64() < p*m.chanceFactor }

func (m *mixedBase) addNamespaces() {
	for i := range 5 {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ns%d", i), UID: types.UID(fmt.Sprintf("ns%d", i)),
			Labels: map[string]string{"team": pickRandom(m.r, "red", "blue")}, Annotations: map[string]string{}}}
		switch {
		case m.chance(0.03):
			ns.DeletionTimestamp, ns.Status.Phase = new(metav1.NewTime(m.now)), corev1.NamespaceTerminating
		case m.chance(0.08):
			m.addRequest(ns.Annotations)
		}
		addNamespaceObject(m.o, ns)
	}
	addNamespace(m.o, "kube-system")
}

// addRequest adds one or two Evenkeel annotations, valid or invalid.
func (m *mixedBase) addRequest(to map[string]string) {
	for range 1 + m.r.IntN(5)/4 {
		kv := pickRandom(m.r, []string{"evict", "never"}, []string{"evict", "prefer"}, []string{"evict", "prefer"}, []string{"evict", "Never"},
			[]string{"do-not-disrupt", "true"}, []string{"do-not-disrupt", "2h"}, []string{"do-not-disrupt", "30m"},
			[]string{"do-not-disrupt", "4 h"},
			[]string{"window", "0 8 * * * 10h"}, []string{"window", "0 18 * * * 14h Europe/Berlin"},
			[]string{"window", "0 0 * * 1-5 12h; 0 12 * * 1-5 12h Asia/Tokyo"},
			[]string{"window", "0 0 * * * 2h Europe/Berlin; 30 2 * * * 3h Europe/Berlin"},
			[]string{"window", "0 8 * * *"}, []string{"evcit", "never"}, []string{"max-skew", "2"}, []string{"max-skew", "none"},
			[]string{"zone-slo", "3"}, []string{"spread-by", "rack"})
		to["evenkeel.io/"+kv[0]] = kv[1]
	}
}

// addForeignAnnotation adds one annotation of another tool.
func (m *mixedBase) addForeignAnnotation(to map[string]string) {
	kv := pickRandom(m.r, []string{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"},
		[]string{"cluster-autoscaler.kubernetes.io/safe-to-evict", "true"},
		[]string{"karpenter.sh/do-not-disrupt", "true"}, []string{"karpenter.sh/do-not-disrupt", "3h"}, []string{"karpenter.sh/do-not-evict",
			"true"},
		[]string{"descheduler.alpha.kubernetes.io/evict", ""}, []string{"descheduler.alpha.kubernetes.io/prefer-no-eviction", ""},
		[]string{"descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"},
		[]string{"descheduler.alpha.kubernetes.io/eviction-in-progress", ""}, []string{"controller.kubernetes.io/pod-deletion-cost", "7"})
	to[kv[0]] = kv[1]
}

func (m *mixedBase) addNodes(n int) {
	for i := range n {
		name := fmt.Sprintf("n%02d", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{},
			Labels: map[string]string{zoneKey: fmt.Sprintf("z%d", i%3), "kubernetes.io/hostname": name, "pool": "general"}}}
		node.Status = readyNode(corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"),
			"pods": resource.MustParse("60")})
		if m.chance(0.18) {
			m.breakNode(node)
		}
		m.o.Nodes = append(m.o.Nodes, node)
		m.free = append(m.free, 7800)
	}
}

func (m *mixedBase) breakNode(n *corev1.Node) {
	taint := func(key, value string) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule})
	}
	switch m.r.IntN(13) {
	case 0:
		n.Spec.Unschedulable = true
		taint("node.kubernetes.io/unschedulable", "")
	case 1:
		n.Status.Conditions[0].Status = pickRandom(m.r, corev1.ConditionFalse, corev1.ConditionUnknown)
		taint("node.kubernetes.io/not-ready", "")
	case 2:
		taint("karpenter.sh/disrupted", "")
	case 3:
		taint("karpenter.sh/disruption", "disrupting")
	case 4:
		taint("ToBeDeletedByClusterAutoscaler", "1767225600")
	case 5:
		n.DeletionTimestamp, n.Finalizers = new(metav1.NewTime(m.now)), []string{"example.com/wait"}
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
	case 12:
		n.Labels["type"] = "virtual-kubelet"
	}
}

func (m *mixedBase) addPriorityClasses() {
	m.o.PriorityClasses = []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high", UID: "pc-high"}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: "batch", UID: "pc-batch"}, Value: -10}}
}

// pickNode returns a node with enough free CPU, and prefers the first nodes. pickNode returns an
// empty string if all nodes are full.
func (m *mixedBase) pickNode(cpu int64) string {
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

func (m *mixedBase) addService(ns, name string, selector map[string]string) {
	m.o.Services = append(m.o.Services,
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("svc-" + ns + name)},
			Spec: corev1.ServiceSpec{Selector: selector}})
}

// mixedApp is one workload of a Mixed cluster.
type mixedApp struct {
	ns, name string
	n        int32
	cpu      int64
	labels   map[string]string // the selector
	template corev1.PodTemplateSpec
	pods     []*corev1.Pod
	meta     []*metav1.ObjectMeta    // of its owners, from the lowest up
	owners   []metav1.OwnerReference // of its pods
}

func (m *mixedCluster) addPod(a *mixedApp, labels map[string]string, name string) *corev1.Pod {
	start := m.base.now.Add(-time.Duration(10+m.base.r.IntN(600)) * time.Minute)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: name, UID: types.UID(a.ns + "-" + name),
		Labels: maps.Clone(labels), Annotations: map[string]string{}, OwnerReferences: slices.Clone(a.owners)},
		Spec: *a.template.Spec.DeepCopy()}
	p.Spec.NodeName = m.base.pickNode(a.cpu)
	if p.Status = readyPod(start); p.Spec.NodeName == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	}
	a.pods = append(a.pods, p)
	m.base.o.Pods = append(m.base.o.Pods, p)
	return p
}

// addPods creates the pods of the workload.
func (m *mixedCluster) addPods(a *mixedApp, labels map[string]string, name string) {
	for i := range a.n {
		m.addPod(a, labels, fmt.Sprintf(name, i))
	}
}

// mixedCluster adds workloads to a Mixed cluster.
type mixedCluster struct {
	base *mixedBase
	apps []*mixedApp
}
