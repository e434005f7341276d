package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// denseNodeCPU is the allocatable CPU of a node of Dense, in milliCPU.
const denseNodeCPU = 4000

// Dense returns a cluster of 4 to 12 small nodes, most of which are 80 to 98 % full. Workloads have
// host ports, required anti-affinity, required topology spread and grace periods of up to an hour.
// Their pods are placed at random, so their spread is uneven.
func Dense(r *rand.Rand) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	addNamespace(o, "shop")
	zones := 2 + r.IntN(2)
	free := make([]int64, 4+r.IntN(9))
	for i := range free {
		n := bigNode(fmt.Sprintf("n%02d", i), fmt.Sprintf("z%d", i%zones))
		n.Status.Allocatable["cpu"] = *resource.NewMilliQuantity(denseNodeCPU, resource.DecimalSI)
		o.Nodes = append(o.Nodes, n)
		percent := int64(80 + r.IntN(19))
		if r.IntN(6) == 0 {
			percent = int64(r.IntN(60))
		}
		free[i] = denseNodeCPU * percent / 100
	}
	for i, failures := 0, 0; failures < 5; i++ {
		if !addDenseApp(o, r, free, fmt.Sprintf("w%02d", i)) {
			failures++
		}
	}
	return o
}

// addDenseApp adds a Deployment with at most 5 pods on random nodes. It returns false if no pod fits.
func addDenseApp(o *cluster.Objects, r *rand.Rand, free []int64, name string) bool {
	cpu := pickRandom(r, int64(300), 300, 500, 700, 900, 1300, 1900)
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: new(pickRandom(r, int64(30), 600, 3600)),
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/c:v1", Resources: requests(cpu, 64<<20)}}}
	apart := false // at most one pod of the workload fits on a node
	app := map[string]string{"app": name}
	switch r.IntN(6) {
	case 0:
		spec.Containers[0].Ports, apart = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8000 + int32(r.IntN(3))}}, true
	case 1, 2:
		spec.Affinity, apart = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: "kubernetes.io/hostname", LabelSelector: matchLabels(app)}}}}, true
	case 3:
		spec.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, app)
		spec.TopologySpreadConstraints[0].MaxSkew = 2
	}
	var nodes []string
	for range 2 + r.IntN(4) {
		n := r.IntN(len(free))
		if node := o.Nodes[n].Name; free[n] >= cpu && !(apart && (slices.Contains(nodes, node) || portTaken(o, spec.Containers[0].Ports, node))) {
			free[n] -= cpu
			nodes = append(nodes, node)
		}
	}
	rs := addDeployment(o, "shop", name, "x", int32(len(nodes)), spec)
	for i, node := range nodes {
		addPod(o, rs, fmt.Sprintf("%s-x-%d", name, i), node)
	}
	return len(nodes) > 0
}

// portTaken reports whether a pod on the node has the same host port.
func portTaken(o *cluster.Objects, ports []corev1.ContainerPort, node string) bool {
	return len(ports) > 0 && slices.ContainsFunc(o.Pods, func(p *corev1.Pod) bool {
		other := p.Spec.Containers[0].Ports
		return p.Spec.NodeName == node && len(other) > 0 && other[0].HostPort == ports[0].HostPort
	})
}

// RelateDense changes the pods of a cluster of Dense, so that workloads depend on each other. For
// "spread", the required spread constraints count the pods of all workloads with a constraint. For
// "affinity", half of the workloads require a pod of another one in their zone. For
// "anti-affinity", half of the workloads accept no pod of another one on their node. Any other name
// changes nothing.
func RelateDense(r *rand.Rand, o *cluster.Objects, how string) {
	for i, d := range o.Deployments {
		template := &o.ReplicaSets[i].Spec.Template
		template.Labels = maps.Clone(template.Labels)
		relateDenseApp(r, template, how)
		d.Spec.Template = *template.DeepCopy()
		for _, p := range o.Pods {
			if p.OwnerReferences[0].Name == o.ReplicaSets[i].Name {
				node := p.Spec.NodeName
				p.Labels, p.Spec = template.Labels, *template.Spec.DeepCopy()
				p.Spec.NodeName = node
			}
		}
	}
}

func relateDenseApp(r *rand.Rand, template *corev1.PodTemplateSpec, how string) {
	related := r.IntN(2) == 0
	other := matchLabels(map[string]string{"app": fmt.Sprintf("w%02d", r.IntN(8))})
	switch {
	case how == "spread":
		for i := range template.Spec.TopologySpreadConstraints {
			template.Labels["tier"] = "x"
			c := &template.Spec.TopologySpreadConstraints[i]
			c.MaxSkew, c.LabelSelector = 1, matchLabels(map[string]string{"tier": "x"})
		}
	case how == "affinity" && related:
		template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: zoneKey, LabelSelector: other}}}}
	case how == "anti-affinity" && related:
		template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: "kubernetes.io/hostname", LabelSelector: other}}}}
	}
}
