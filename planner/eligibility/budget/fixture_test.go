package budget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// objects collects objects of one namespace.
type objects struct {
	objects cluster.Objects
	pods    int
}

func newObjects() *objects {
	return &objects{objects: cluster.Objects{TakenAt: now, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}}
}

func objectMeta(kind, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(kind + "-" + name), Labels: map[string]string{"app": "a"}}
}

func ownedBy(m metav1.ObjectMeta, apiVersion, kind string, owner metav1.Object) metav1.ObjectMeta {
	yes := true
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: &yes}}
	return m
}

// addPod adds a pod with the label app=a. The letters of state are r (Ready) and t (terminating). owner
// has the apiVersion, kind and name of its controller.
func (x *objects) addPod(state string, owner ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: objectMeta("pod", fmt.Sprintf("p%02d", x.pods)), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	x.pods++
	if len(owner) == 3 {
		p.ObjectMeta = ownedBy(p.ObjectMeta, owner[0], owner[1], &metav1.ObjectMeta{Name: owner[2], UID: types.UID(owner[1] + "-" + owner[2])})
	}
	if strings.Contains(state, "r") {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if strings.Contains(state, "t") {
		p.DeletionTimestamp = &metav1.Time{Time: now}
	}
	x.objects.Pods = append(x.objects.Pods, p)
	return p
}

// addPods adds one pod of the owner for each word in states.
func (x *objects) addPods(states string, owner ...string) {
	for _, s := range strings.Fields(states) {
		x.addPod(s, owner...)
	}
}

// addDeployment adds a Deployment with its ReplicaSet and pods. The ReplicaSet wants one more pod, as
// during a rolling update.
func (x *objects) addDeployment(name string, replicas int32, states string) {
	more := replicas + 1
	d := &appsv1.Deployment{ObjectMeta: objectMeta("Deployment", name), Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
	rs := &appsv1.ReplicaSet{ObjectMeta: ownedBy(objectMeta("ReplicaSet", name), "apps/v1", "Deployment", d), Spec: appsv1.ReplicaSetSpec{Replicas: &more}}
	x.objects.Deployments = append(x.objects.Deployments, d)
	x.objects.ReplicaSets = append(x.objects.ReplicaSets, rs)
	x.addPods(states, "apps/v1", "ReplicaSet", name)
}

// newPermissivePDB returns a budget for app=a whose status allows 1000 evictions.
func newPermissivePDB(name string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 1},
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1000, CurrentHealthy: 1000, DesiredHealthy: 1}}
}

func parseIntOrPercent(s string) *intstr.IntOrString {
	v := intstr.Parse(s)
	return &v
}

func minAvailable(v string) *policyv1.PodDisruptionBudget {
	b := newPermissivePDB("b")
	b.Spec.MinAvailable = parseIntOrPercent(v)
	return b
}

func maxUnavailable(v string) *policyv1.PodDisruptionBudget {
	b := newPermissivePDB("b")
	b.Spec.MaxUnavailable = parseIntOrPercent(v)
	return b
}

func (x *objects) snapshot(t testing.TB, budgets ...*policyv1.PodDisruptionBudget) *cluster.Snapshot {
	t.Helper()
	o := x.objects
	o.PodDisruptionBudgets = budgets
	s := must.Get(cluster.New(&o))(t)
	return s
}

// evictAllowed evicts every pod whose eviction is allowed. It returns the numbers of Ready and
// unready pods that it evicted.
func evictAllowed(b *Tracker, s *cluster.Snapshot) (ready, unready int) {
	charges := Charges{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if _, ok := b.Allows(p, charges); !ok || p.Terminating {
			continue
		}
		b.Charge(p, charges)
		if p.Ready {
			ready++
		} else {
			unready++
		}
	}
	return ready, unready
}
