package oracle

import (
	"fmt"
	"math/rand"

	"github.com/evenkeel-project/evenkeel/cluster"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var keys = []string{corev1.LabelHostname, corev1.LabelTopologyZone, "rack"}

// generator deals one random cluster.
type generator struct {
	*rand.Rand
	o cluster.Objects
}

func (g *generator) chance(p float64) bool     { return g.Float64() < p }
func (g *generator) one(list ...string) string { return list[g.Intn(len(list))] }

func generate(seed int64) *cluster.Objects {
	g := &generator{Rand: rand.New(rand.NewSource(seed))}
	g.o.ServerVersion = "1.37"
	for i := range 2 {
		g.o.Namespaces = append(g.o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("ns%d", i), Labels: map[string]string{"team": g.one("x", "y")}}})
	}
	for i := range 2 + g.Intn(10) {
		g.node(i)
	}
	for i := range 2 + g.Intn(6) {
		g.app(i)
	}
	return &g.o
}

func (g *generator) node(i int) {
	cpu := fmt.Sprint(1 + g.Intn(8))
	rl := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(fmt.Sprintf("%dMi", 1000+g.Intn(8000))),
		"pods": resource.MustParse(fmt.Sprint(4 + g.Intn(20))), "ephemeral-storage": resource.MustParse("10Gi")}
	if g.chance(0.3) {
		rl["example.com/gpu"] = resource.MustParse("2")
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"disk": g.one("ssd", "hdd")}},
		Status: corev1.NodeStatus{Allocatable: rl, Capacity: rl, Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "True"}}}}
	if !g.chance(0.08) {
		n.Labels[keys[0]] = n.Name
	}
	if !g.chance(0.15) {
		n.Labels[keys[1]] = g.one("a", "b", "c")
	}
	if g.chance(0.7) {
		n.Labels[keys[2]] = g.one("", "r1", "r2")
	}
	for g.chance(0.25) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: g.one("k1", "k2"), Value: g.one("v1", "v2"),
			Effect: corev1.TaintEffect(g.one("NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"))})
	}
	n.Spec.Unschedulable = g.chance(0.05)
	sizes := map[string]int64{"img0:latest": 300 << 20, "img1:v1": 2000 << 20, "img2:v1": 40 << 20}
	for _, name := range []string{"img0:latest", "img1:v1", "img2:v1"} {
		if g.chance(0.3) {
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{name}, SizeBytes: sizes[name]})
		}
	}
	g.o.Nodes = append(g.o.Nodes, n)
}

func (g *generator) selector() *metav1.LabelSelector {
	switch g.Intn(8) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return nil
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}}
	case 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a0", "a1"}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.one("a0", "a1", "a2", "a3")}}
}

func (g *generator) term() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: keys[g.Intn(3)], LabelSelector: g.selector()}
	if g.chance(0.2) {
		t.Namespaces = []string{g.one("ns0", "ns1")}
	}
	switch g.Intn(8) {
	case 0:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": g.one("x", "y")}}
	}
	return t
}

func (g *generator) affinity() *corev1.Affinity {
	a := &corev1.Affinity{}
	if g.chance(0.35) {
		a.PodAffinity = &corev1.PodAffinity{}
		for g.chance(0.35) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, g.term())
		}
		for g.chance(0.5) {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.WeightedPodAffinityTerm{Weight: int32(1 + g.Intn(100)), PodAffinityTerm: g.term()})
		}
	}
	if g.chance(0.35) {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		for g.chance(0.35) {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, g.term())
		}
		for g.chance(0.5) {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.WeightedPodAffinityTerm{Weight: int32(1 + g.Intn(100)), PodAffinityTerm: g.term()})
		}
	}
	disk := func(v string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{v}}}}
	}
	if g.chance(0.3) {
		a.NodeAffinity = &corev1.NodeAffinity{}
		if g.chance(0.4) {
			t := disk(g.one("ssd", "hdd"))
			if g.chance(0.3) {
				t.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n00"}}}
			}
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{t}}
		}
		for g.chance(0.6) {
			a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(1 + g.Intn(50)), Preference: disk(g.one("ssd", "hdd"))})
		}
	}
	return a
}

func (g *generator) spread() (out []corev1.TopologySpreadConstraint) {
	seen := map[string]bool{}
	for g.chance(0.6) {
		c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + g.Intn(4)), TopologyKey: keys[g.Intn(3)], LabelSelector: g.selector(),
			WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(g.one("DoNotSchedule", "ScheduleAnyway"))}
		if id := c.TopologyKey + string(c.WhenUnsatisfiable); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.chance(0.2) {
			m := int32(1 + g.Intn(4))
			c.MinDomains = &m
		}
		policy := func() *corev1.NodeInclusionPolicy {
			if g.chance(0.6) {
				return nil
			}
			p := corev1.NodeInclusionPolicy(g.one("Honor", "Ignore"))
			return &p
		}
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = policy(), policy()
		if c.LabelSelector != nil && g.chance(0.2) {
			c.MatchLabelKeys = []string{"tier"}
		}
		out = append(out, c)
	}
	return out
}

func (g *generator) spec() corev1.PodSpec {
	spec := corev1.PodSpec{Tolerations: nil}
	for i := range 1 + g.Intn(2) {
		c := corev1.Container{Name: fmt.Sprint("c", i), Image: g.one("img0", "img1:v1", "img2:v1", "none")}
		c.Resources.Requests = corev1.ResourceList{}
		if g.chance(0.7) {
			c.Resources.Requests["cpu"] = *resource.NewMilliQuantity(int64(50+g.Intn(900)), resource.DecimalSI)
		}
		if g.chance(0.7) {
			c.Resources.Requests["memory"] = *resource.NewQuantity(int64(10+g.Intn(900))<<20, resource.BinarySI)
		}
		if g.chance(0.1) {
			c.Resources.Requests["ephemeral-storage"] = resource.MustParse("3Gi")
		}
		if g.chance(0.1) {
			c.Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			c.Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		}
		spec.Containers = append(spec.Containers, c)
	}
	if g.chance(0.15) {
		spec.InitContainers = []corev1.Container{{Name: "i", Image: "img2:v1", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("900m")}}}}
	}
	if g.chance(0.15) {
		spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("70m")}
	}
	if g.chance(0.1) {
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	for g.chance(0.4) {
		t := corev1.Toleration{Key: g.one("k1", "k2", corev1.TaintNodeUnschedulable), Operator: "Exists", Effect: corev1.TaintEffect(g.one("", "NoSchedule", "PreferNoSchedule"))}
		if g.chance(0.4) {
			t.Operator, t.Value = "Equal", g.one("v1", "v2")
		}
		spec.Tolerations = append(spec.Tolerations, t)
	}
	if g.chance(0.6) {
		spec.Affinity = g.affinity()
	}
	if g.chance(0.4) {
		spec.TopologySpreadConstraints = g.spread()
	}
	return spec
}

// app adds an owner of some kind, maybe a Service, and pods on random nodes,
// some of them terminating or still unbound.
func (g *generator) app(i int) {
	name, ns := fmt.Sprintf("a%d", i), g.one("ns0", "ns1")
	l := map[string]string{"app": name}
	if g.chance(0.5) {
		l["tier"] = g.one("web", "db")
	}
	spec, yes := g.spec(), true
	tpl := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: l}, Spec: spec}
	meta := metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("own-" + name)}
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Name: name, UID: meta.UID, Controller: &yes}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	switch g.Intn(4) {
	case 0:
		ref.Kind = "StatefulSet"
		g.o.StatefulSets = append(g.o.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: sel, Template: tpl}})
	case 1:
		ref.APIVersion, ref.Kind = "v1", "ReplicationController"
		g.o.ReplicationControllers = append(g.o.ReplicationControllers, &corev1.ReplicationController{ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Selector: sel.MatchLabels, Template: &tpl}})
	case 2:
		ref.APIVersion, ref.Kind = "example.com/v1", "Thing"
	default:
		ref.Kind = "ReplicaSet"
		g.o.ReplicaSets = append(g.o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: sel, Template: tpl}})
	}
	if g.chance(0.5) {
		g.o.Services = append(g.o.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec: corev1.ServiceSpec{Selector: map[string]string{g.one("app", "app", "tier"): l["app"]}}})
	}
	for k := range 1 + g.Intn(6) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("%s-%d", name, k), UID: types.UID(fmt.Sprintf("%s-%d", name, k)),
			Labels: l, OwnerReferences: []metav1.OwnerReference{ref}}, Spec: *spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Spec.SchedulerName = corev1.DefaultSchedulerName
		if !g.chance(0.05) {
			p.Spec.NodeName = g.o.Nodes[g.Intn(len(g.o.Nodes))].Name
		}
		if g.chance(0.1) {
			now := metav1.Unix(1, 0)
			p.DeletionTimestamp, p.Finalizers = &now, []string{"example.com/wait"}
		}
		g.o.Pods = append(g.o.Pods, p)
	}
}
