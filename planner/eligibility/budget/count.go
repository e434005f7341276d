package budget

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// confirmWithin is the time for which the disruption controller waits for the deletion of an evicted pod. After this
// time the controller counts the pod as healthy again.
const confirmWithin = 2 * time.Minute

// podCounts are the numbers that the disruption controller would write into the status.
type podCounts struct {
	expected, desired, healthy int
	err                        string // why the disruption controller would allow no evictions
	scaleUnknown               bool   // the snapshot lacks the scale of a controller
}

// allowed returns the value for disruptionsAllowed.
func (t podCounts) allowed() int {
	if t.expected <= 0 {
		return 0
	}
	return max(0, t.healthy-t.desired)
}

// countPods applies the rules of the disruption controller to the snapshot.
//
// With maxUnavailable, desired = max(0, scale - ceil(maxUnavailable of scale)). With minAvailable as a number, desired
// is that number. With minAvailable as a percentage, desired = ceil(minAvailable of scale). The scale is the sum of the
// desired replicas of the pods' controllers.
func countPods(s *cluster.Snapshot, b *cluster.Budget, now time.Time) podCounts {
	spec := &b.Object.Spec
	t := podCounts{healthy: healthyPods(s, b, now)}
	switch {
	case spec.MaxUnavailable != nil:
		t.addScale(s, b)
		t.desired = max(0, t.expected-t.scaledValue(spec.MaxUnavailable))
	case spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.Int:
		t.expected, t.desired = len(b.Pods), spec.MinAvailable.IntValue()
	case spec.MinAvailable != nil:
		t.addScale(s, b)
		t.desired = t.scaledValue(spec.MinAvailable)
	}
	return t
}

// forbiddingSetting returns the setting of a budget that requires all pods, however many there are, or "".
func forbiddingSetting(spec *policyv1.PodDisruptionBudgetSpec) string {
	all := podCounts{expected: 100}
	switch {
	case spec.MaxUnavailable != nil && all.scaledValue(spec.MaxUnavailable) <= 0 && all.err == "":
		return "maxUnavailable: " + spec.MaxUnavailable.String()
	case spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.String && all.scaledValue(spec.MinAvailable) >= all.expected:
		return "minAvailable: " + spec.MinAvailable.String()
	}
	return ""
}

// scaledValue returns a number, or a percentage of the expected pods, rounded up.
func (t *podCounts) scaledValue(v *intstr.IntOrString) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, t.expected, true)
	if err != nil && t.err == "" {
		t.err = fmt.Sprintf("%q is neither a number nor a percentage", v.StrVal)
	}
	return n
}

// healthyPods counts the pods that are Ready, not terminating, and not evicted in the last two minutes.
func healthyPods(s *cluster.Snapshot, b *cluster.Budget, now time.Time) int {
	disrupted, n := disruptedPods(b, now), 0
	for _, id := range b.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating && !disrupted[p.Object.Name] {
			n++
		}
	}
	return n
}

// disruptedPods returns the names of evicted pods whose deletion the disruption controller awaits.
func disruptedPods(b *cluster.Budget, now time.Time) map[string]bool {
	disrupted := map[string]bool{}
	for name, at := range b.Object.Status.DisruptedPods {
		if at.Add(confirmWithin).After(now) {
			disrupted[name] = true
		}
	}
	return disrupted
}

// addScale sums the desired replicas of the controllers of the budget's pods. Pods without a controller add nothing.
func (t *podCounts) addScale(s *cluster.Snapshot, b *cluster.Budget) {
	seen := map[string]bool{}
	for _, id := range b.Pods {
		p := &s.Pods[id]
		if p.Controller == nil {
			continue
		}
		o, replicas, known := scaleOf(p)
		switch {
		case o == nil && isBuiltInKind(p.Controller):
			t.err = fmt.Sprintf("%s %s, the controller of pod %s, does not exist or has no scale",
				p.Controller.Kind, p.Controller.Name, p.Object.Name)
			return
		case !known:
			t.scaleUnknown = true
			return
		}
		key := fmt.Sprintf("%T/%s/%s", o, o.GetName(), o.GetUID())
		if !seen[key] {
			seen[key] = true
			t.expected += replicas
		}
	}
}

// scaleOf returns the controller whose replicas the disruption controller uses: the Deployment of a
// ReplicaSet, or the pod's direct controller. known is false for other kinds.
func scaleOf(p *cluster.Pod) (o metav1.Object, replicas int, known bool) {
	if len(p.Owners) == 0 {
		return nil, 0, false
	}
	o = p.Owners[0]
	if _, ok := o.(*appsv1.ReplicaSet); ok && len(p.Owners) > 1 {
		if d, ok := p.Owners[1].(*appsv1.Deployment); ok {
			o = d
		}
	}
	var desired *int32
	switch x := o.(type) {
	case *appsv1.ReplicaSet:
		desired = x.Spec.Replicas
	case *appsv1.Deployment:
		desired = x.Spec.Replicas
	case *appsv1.StatefulSet:
		desired = x.Spec.Replicas
	case *corev1.ReplicationController:
		desired = x.Spec.Replicas
	default:
		return nil, 0, false
	}
	return o, int(cluster.ReplicasOrDefault(desired)), true
}

// isBuiltInKind reports whether the kind is part of Kubernetes. If scaleOf does not find such a controller, the
// controller does not exist or has no scale, like a Job or a DaemonSet.
func isBuiltInKind(c *metav1.OwnerReference) bool {
	group, _, grouped := strings.Cut(c.APIVersion, "/")
	return !grouped || group == "apps" || group == "batch" || group == "extensions"
}
