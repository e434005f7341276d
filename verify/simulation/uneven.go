package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Uneven creates Deployments of 20 pods in ten namespaces, as the benchmarks of the lab do. Every
// fourth Deployment must be spread over three zones.
const (
	unevenPer   = 20
	unevenZones = 3
	unevenFull  = 9900 // requested milliCPU of a full node
)

var unevenCPU = []int64{100, 200, 250, 300, 400} // milliCPU requests of a pod

// Uneven returns a cluster of nodes with 10 CPU and 40Gi. 30 % of the nodes hold 1.7 times
// the mean number of pods, and 30 % hold 0.3 times the mean. There are no budgets.
func Uneven(r *rand.Rand, nodes, pods int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range nodes {
		o.Nodes = append(o.Nodes, bigNode(fmt.Sprintf("n%05d", i), fmt.Sprintf("z%d", i%unevenZones)))
	}
	for i := range 10 {
		ns := fmt.Sprintf("ns%d", i)
		o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, UID: types.UID(ns)}})
	}
	specs := make([]corev1.PodSpec, pods/unevenPer)
	for i := range specs {
		specs[i] = unevenApp(o, i, 0.6+0.4*r.Float64())
	}
	placeUneven(r, o, specs, nodes)
	return o
}

// unevenApp adds a Deployment with its ReplicaSet. memPart is the memory request of its pods as a
// share of 4Gi per CPU.
func unevenApp(o *cluster.Objects, i int, memPart float64) corev1.PodSpec {
	ns, name, yes, replicas, grace := fmt.Sprintf("ns%d", i%10), fmt.Sprintf("d%05d", i), true, int32(unevenPer), int64(30)
	labels := map[string]string{"app": name}
	hashed := map[string]string{"app": name, "pod-template-hash": "seed"}
	cpu := unevenCPU[i%len(unevenCPU)]
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/pause:3.10", Env: settings,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI), "memory": *resource.NewQuantity(int64(float64(cpu)*4.096*memPart)<<20,
					resource.BinarySI)}}}}}
	if i%4 == 0 {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector:     &metav1.LabelSelector{MatchLabels: labels}}}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: spec}
	o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name,
		UID: types.UID("deploy-" + name)},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}})
	o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name + "-seed", UID: types.UID("rs-" + name), Labels: hashed,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID("deploy-" + name),
				Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed}, Template: template}})
	return spec
}

// placeUneven binds the shuffled pods to nodes. Pods that fit no node go to the nodes with an
// average number of pods.
func placeUneven(r *rand.Rand, o *cluster.Objects, specs []corev1.PodSpec, nodes int) {
	type pod struct{ app, ordinal int }
	var all []pod
	for a := range specs {
		for k := range unevenPer {
			all = append(all, pod{a, k})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	put := func(p pod, node int) { unevenPod(o, specs[p.app], p.app, p.ordinal, o.Nodes[node].Name) }
	mean, next, order := float64(len(all))/float64(nodes), 0, r.Perm(nodes)
	for rank, n := range order {
		part := 1.0
		switch at := float64(rank) / float64(nodes); {
		case at < 0.3:
			part = 1.7
		case at >= 0.7:
			part = 0.3
		}
		used := int64(0)
		for k := math.Round(mean * part); k > 0 && next < len(all); k-- {
			cpu := unevenCPU[all[next].app%len(unevenCPU)]
			if used+cpu > unevenFull {
				break
			}
			used += cpu
			put(all[next], n)
			next++
		}
	}
	middling := order[int(0.3*float64(nodes)):int(math.Ceil(0.7*float64(nodes)))]
	for i := next; i < len(all); i++ {
		put(all[i], middling[i%len(middling)])
	}
}

func unevenPod(o *cluster.Objects, spec corev1.PodSpec, app, ordinal int, node string) {
	rs := o.ReplicaSets[app]
	yes, start := true, metav1.NewTime(epoch)
	bound := *spec.DeepCopy()
	bound.NodeName = node
	name := fmt.Sprintf("%s-%02d", rs.Name, ordinal)
	o.Pods = append(o.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: rs.Namespace, Name: name, UID: types.UID(name), Labels: rs.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: rs.Name, UID: rs.UID, Controller: &yes}}},
		Spec: bound,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}})
}
