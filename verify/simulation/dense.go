package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// denseNodeCPU is the allocatable CPU of a node of Dense, in milliCPU.
const denseNodeCPU = 4000

// Dense returns a cluster of 4 to 12 small nodes, most of which are 80 to 98 % full. Workloads
// have host ports, required anti-affinity, required topology spread and grace periods of up to
// an hour. Their pods are placed at random, so their spread is uneven.
func Dense(r *rand.Rand) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "shop"}})
	zones := 2 + r.IntN(2)
	free := make([]int64, 4+r.IntN(9))
	for i := range free {
		n := bigNode(fmt.Sprintf("n%02d", i), fmt.Sprintf("z%d", i%zones))
		n.Status.Allocatable["cpu"] = *resource.NewMilliQuantity(denseNodeCPU, resource.DecimalSI)
		o.Nodes = append(o.Nodes, n)
		free[i] = denseNodeCPU * int64(80+r.IntN(19)) / 100
		if r.IntN(6) == 0 {
			free[i] = denseNodeCPU * int64(r.IntN(60)) / 100
		}
	}
	for i, left := 0, 40; left > 0; i++ {
		if !denseApp(o, r, free, fmt.Sprintf("w%02d", i)) {
			left -= 8
		}
	}
	return o
}

// denseApp adds a Deployment with 2 to 5 pods on random nodes. It reports whether a pod fitted.
func denseApp(o *cluster.Objects, r *rand.Rand, free []int64, name string) bool {
	labels, yes, grace := map[string]string{"app": name}, true, pick(r, int64(30), 600, 3600)
	cpu := pick(r, int64(300), 300, 500, 700, 900, 1300, 1900)
	c := corev1.Container{Name: "c", Image: "registry.example.com/c:v1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI), "memory": resource.MustParse("64Mi")}}}
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: &grace}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	alone := false // at most one pod of the workload fits on a node
	switch r.IntN(6) {
	case 0:
		c.Ports, alone = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8000 + int32(r.IntN(3))}}, true
	case 1, 2:
		spec.Affinity, alone = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname", LabelSelector: selector}},
		}}, true
	case 3:
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: zoneKey, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
	}
	spec.Containers = []corev1.Container{c}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	uid := types.UID(name)
	start := metav1.NewTime(epoch)
	var pods int32
	for range 2 + r.IntN(4) {
		n := r.IntN(len(free))
		if free[n] < cpu || alone && usesNode(o, name, c.Ports, o.Nodes[n].Name) {
			continue
		}
		free[n] -= cpu
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-x-%d", name, pods), Labels: labels, CreationTimestamp: start,
				UID:             types.UID(fmt.Sprintf("%s-x-%d", name, pods)),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-x", UID: uid + "-x", Controller: &yes}}},
			Spec: *spec.DeepCopy(),
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
		p.Spec.NodeName = o.Nodes[n].Name
		o.Pods = append(o.Pods, p)
		pods++
	}
	o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid},
		Spec: appsv1.DeploymentSpec{Replicas: &pods, Selector: selector, Template: template}})
	o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name + "-x", UID: uid + "-x", Labels: labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: uid, Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &pods, Selector: selector, Template: template}})
	return pods > 0
}

// usesNode reports whether a pod of the workload, or one with the same host port, runs on the
// node.
func usesNode(o *cluster.Objects, app string, ports []corev1.ContainerPort, node string) bool {
	for _, p := range o.Pods {
		if p.Spec.NodeName != node {
			continue
		}
		other := p.Spec.Containers[0].Ports
		if p.Labels["app"] == app || len(ports) > 0 && len(other) > 0 && ports[0].HostPort == other[0].HostPort {
			return true
		}
	}
	return false
}
