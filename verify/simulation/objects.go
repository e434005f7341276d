package simulation

import (
	"math/rand/v2"
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

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pickRandom returns a random element.
func pickRandom[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// controlledBy returns the owner references of an object with one controller.
func controlledBy(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

func matchLabels(l map[string]string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: l}
}

func addNamespace(o *cluster.Objects, name string) {
	addNamespaceObject(o, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}})
}

// addNamespaceObject adds a namespace without LimitRanges, with its default ServiceAccount.
func addNamespaceObject(o *cluster.Objects, ns *corev1.Namespace) {
	o.Listed = []string{cluster.KindOf[*corev1.LimitRange]()}
	o.Namespaces = append(o.Namespaces, ns)
	o.ServiceAccounts = append(o.ServiceAccounts, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "default"}})
}

// requests returns CPU requests in milliCPU and memory requests in bytes.
func requests(milliCPU, memory int64) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		"memory": *resource.NewQuantity(memory, resource.BinarySI)}}
}

// spreadConstraint returns a topology spread constraint with a maxSkew of 1.
func spreadConstraint(key string, when corev1.UnsatisfiableConstraintAction, l map[string]string) []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: matchLabels(l)}}
}

// readyNode returns the status of a Ready node.
func readyNode(allocatable corev1.ResourceList) corev1.NodeStatus {
	return corev1.NodeStatus{Allocatable: allocatable,
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
}

// readyPod returns the status of a Ready pod.
func readyPod(start time.Time) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, StartTime: new(metav1.NewTime(start)),
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
}

// addDeployment adds a Deployment with a ReplicaSet, whose name ends in hash.
func addDeployment(o *cluster.Objects, ns, name, hash string, replicas int32, spec corev1.PodSpec) *appsv1.ReplicaSet {
	hashed := map[string]string{"app": name, "pod-template-hash": hash}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: spec}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("deploy-" + name)},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: matchLabels(map[string]string{"app": name}), Template: template}}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name + "-" + hash, UID: types.UID("rs-" + name),
		Labels: hashed, OwnerReferences: controlledBy("apps/v1", "Deployment", name, d.UID)},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: matchLabels(hashed), Template: template}}
	o.Deployments, o.ReplicaSets = append(o.Deployments, d), append(o.ReplicaSets, rs)
	return rs
}

// addPod adds a Ready pod of a ReplicaSet on a node.
func addPod(o *cluster.Objects, rs *appsv1.ReplicaSet, name, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: rs.Namespace, Name: name, UID: types.UID(name), Labels: rs.Labels,
		OwnerReferences: controlledBy("apps/v1", "ReplicaSet", rs.Name, rs.UID)},
		Spec: *rs.Spec.Template.Spec.DeepCopy(), Status: readyPod(epoch)}
	p.Spec.NodeName = node
	o.Pods = append(o.Pods, p)
	return p
}

// addBudget adds a budget for a number of healthy pods.
func addBudget(o *cluster.Objects, ns, name string, l map[string]string, healthy, maxUnavailable int32) {
	o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: matchLabels(l), MaxUnavailable: new(intstr.FromInt32(maxUnavailable))},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, CurrentHealthy: healthy, ExpectedPods: healthy,
			DesiredHealthy: max(0, healthy-maxUnavailable), DisruptionsAllowed: min(maxUnavailable, healthy)}})
}
