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

// tightNode is the allocatable CPU and memory of a node of Tight, in milliCPU and MiB.
var tightNode = [2]int64{10_000, 10 << 10}

// Tight returns a cluster of few small nodes on which single moves often help no goal. Some nodes
// are short of CPU, others of memory. About half of the pods have no controller, so the planner
// does not move them. A plan needs displaced moves that make room for other pods.
func Tight(r *rand.Rand) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "shop"}})
	for i := range 3 + r.IntN(4) {
		n := bigNode(fmt.Sprintf("n%d", i), fmt.Sprintf("z%d", i%3))
		n.Status.Allocatable["memory"] = *resource.NewQuantity(tightNode[1]<<20, resource.BinarySI)
		o.Nodes = append(o.Nodes, n)
		kind := r.IntN(3) // the scarce resource: CPU, memory or none
		base := [3][2]int64{{5500 + r.Int64N(2500), r.Int64N(2 << 10)}, {r.Int64N(4000), 4<<10 + r.Int64N(2<<10)},
			{r.Int64N(5000), r.Int64N(3 << 10)}}[kind]
		o.Pods = append(o.Pods, tightPod("base-"+n.Name, n.Name, base, nil))
		small := [3][2]int64{{1500 + r.Int64N(2500), 2<<10 + r.Int64N(3<<10)}, {r.Int64N(300), 2<<10 + r.Int64N(3<<10)},
			{r.Int64N(2000), r.Int64N(3 << 10)}}[kind]
		for k := range 1 + r.IntN(2) {
			tightApp(o, fmt.Sprintf("app-%s-%d", n.Name, k), n.Name, small)
		}
	}
	return o
}

// tightApp adds a Deployment with one pod.
func tightApp(o *cluster.Objects, name, node string, asks [2]int64) {
	yes, one := true, int32(1)
	pod := tightPod(name+"-x-0", node, asks, []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-x",
		UID: types.UID("rs-" + name), Controller: &yes}})
	pod.Labels = map[string]string{"app": name, "pod-template-hash": "x"}
	spec := *pod.Spec.DeepCopy()
	spec.NodeName = ""
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: spec}
	o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name,
		UID: types.UID("deploy-" + name)},
		Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: selector, Template: template}})
	o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name + "-x",
		UID: types.UID("rs-" + name), Labels: pod.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID("deploy-" + name),
			Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &one, Selector: selector, Template: template}})
	o.Pods = append(o.Pods, pod)
}

func tightPod(name, node string, asks [2]int64, owners []metav1.OwnerReference) *corev1.Pod {
	start, grace := metav1.NewTime(epoch), int64(30)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), OwnerReferences: owners, CreationTimestamp: start},
		Spec: corev1.PodSpec{NodeName: node, TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/c:v1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(asks[0], resource.DecimalSI),
					"memory": *resource.NewQuantity(asks[1]<<20, resource.BinarySI)}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

// TightSettings is the configuration for Tight.
const TightSettings = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minReplicas: 1}
limits: {perNamespace: unlimited}
strategies:
- {name: hot, type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.8}}}
`
