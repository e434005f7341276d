// Package simulation generates clusters for tests and benchmarks from a seed. The package never
// makes or judges a plan and is not part of the program.
package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/cluster"
)

const zoneKey = "topology.kubernetes.io/zone"

// settings contains environment variables that give each pod a realistic size of several kilobytes.
var settings = func() []corev1.EnvVar {
	var env []corev1.EnvVar
	for i := range 20 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", i), Value: strings.Repeat("value ", 15)})
	}
	return env
}()

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Crowded returns a cluster in three zones whose Deployments have per pods each. The first nodes
// hold more pods than the others, and every fifth Deployment has a budget.
func Crowded(r *rand.Rand, nodes, deployments, per int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range nodes {
		o.Nodes = append(o.Nodes, bigNode(fmt.Sprintf("n%05d", i), fmt.Sprintf("z%d", i%3)))
	}
	for i := range 10 {
		ns := fmt.Sprintf("ns%d", i)
		o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, UID: types.UID(ns)}})
	}
	free := make([]int64, nodes)
	for i := range free {
		free[i] = 9900
	}
	for d := range deployments {
		app(o, r, free, fmt.Sprintf("ns%d", d%10), fmt.Sprintf("d%05d", d), per, int64(100*(1+d%4)), d)
	}
	return o
}

// bigNode returns a node with 10 CPU and 40Gi.
func bigNode(name, zone string) *corev1.Node {
	has := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("40Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{zoneKey: zone, "kubernetes.io/hostname": name}},
		Status: corev1.NodeStatus{Allocatable: has,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

func app(o *cluster.Objects, r *rand.Rand, free []int64, ns, name string, per int, cpu int64, d int) {
	labels, replicas, yes := map[string]string{"app": name}, int32(per), true
	hashed := map[string]string{"app": name, "pod-template-hash": "x"}
	grace := int64(30)
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/" + name + ":v1", Env: settings,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI),
				"memory": *resource.NewQuantity(cpu<<22, resource.BinarySI)}}}}}
	if d%4 == 0 {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: spec}
	o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name,
		UID: types.UID("deploy-" + name)},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}})
	o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name + "-x", UID: types.UID("rs-" + name), Labels: hashed,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID("deploy-" + name),
				Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed}, Template: template}})
	if d%5 == 1 {
		away := intstr.FromInt32(int32(d % 3))
		o.PodDisruptionBudgets = append(o.PodDisruptionBudgets,
			&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Generation: 1},
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, MaxUnavailable: &away},
				Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: replicas,
					DesiredHealthy: max(0, replicas-away.IntVal),
					ExpectedPods:   replicas, DisruptionsAllowed: min(away.IntVal, replicas)}})
	}
	start := metav1.NewTime(epoch)
	for i := range per {
		n := int(float64(len(free)) * r.Float64() * r.Float64()) // the first nodes get more pods
		for free[n] < cpu {
			n = (n + 1) % len(free)
		}
		free[n] -= cpu
		bound := *spec.DeepCopy()
		bound.NodeName = fmt.Sprintf("n%05d", n)
		pod := fmt.Sprintf("%s-x-%02d", name, i)
		o.Pods = append(o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod, UID: types.UID(pod), Labels: hashed,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-x", UID: types.UID("rs-" + name),
					Controller: &yes}}},
			Spec: bound,
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}})
	}
}

// pick returns a random element.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
