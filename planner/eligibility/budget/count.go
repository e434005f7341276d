package budget

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// confirmWithin is how long the disruption controller waits for a pod that was
// let go to be deleted, before it counts it as healthy again.
const confirmWithin = 2 * time.Minute

// podCounts is what the disruption controller would write into the status.
type podCounts struct {
	expected, desired, healthy int
	// err is why the controller would fail and allow none.
	err string
	// scaleUnknown: a controller's scale is not in the snapshot.
	scaleUnknown bool
}

func (t podCounts) allowed() int {
	if t.expected <= 0 {
		return 0
	}
	return max(0, t.healthy-t.desired)
}

// countPods applies the rules of the disruption controller to the snapshot.
//
// maxUnavailable: desired = scale - ceil(maxUnavailable of scale), at least 0.
// minAvailable: a number is desired as it is, of the pods there; a percentage is
// rounded up, of the scale. Scale is the sum over the pods' controllers.
func countPods(s *cluster.Snapshot, b *cluster.Budget, now time.Time) podCounts {
	spec := &b.Object.Spec
	t := podCounts{healthy: healthyPods(s, b, now)}
	switch {
	case spec.MaxUnavailable != nil:
		t.addScale(s, b)
		t.desired = max(0, t.expected-t.resolve(spec.MaxUnavailable))
	case spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.Int:
		t.expected, t.desired = len(b.Pods), spec.MinAvailable.IntValue()
	case spec.MinAvailable != nil:
		t.addScale(s, b)
		t.desired = t.resolve(spec.MinAvailable)
	}
	return t
}

// resolve is a number, or a percentage of what is expected, rounded up.
func (t *podCounts) resolve(v *intstr.IntOrString) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, t.expected, true)
	if err != nil && t.err == "" {
		t.err = fmt.Sprintf("%q is neither a number nor a percentage", v.StrVal)
	}
	return n
}

// healthyPods counts the pods that are Ready, are not terminating and have not been
// let go within the last two minutes.
func healthyPods(s *cluster.Snapshot, b *cluster.Budget, now time.Time) int {
	going, n := disruptedPods(b, now), 0
	for _, id := range b.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating && !going[p.Object.Name] {
			n++
		}
	}
	return n
}

// disruptedPods are the pods, by name, that the server has let go and for whose
// deletion the controller still waits.
func disruptedPods(b *cluster.Budget, now time.Time) map[string]bool {
	going := map[string]bool{}
	for name, at := range b.Object.Status.DisruptedPods {
		if at.Add(confirmWithin).After(now) {
			going[name] = true
		}
	}
	return going
}

// addScale sums the desired replicas of the controllers of the budget's pods. Pods
// without a controller add nothing.
func (t *podCounts) addScale(s *cluster.Snapshot, b *cluster.Budget) {
	seen := map[string]bool{}
	for _, id := range b.Pods {
		p := &s.Pods[id]
		if p.Controller == nil {
			continue
		}
		o, replicas, known := scaleOf(p)
		switch {
		case o == nil && builtIn(p.Controller):
			t.err = fmt.Sprintf("%s %s, the controller of its pod %s, is not there or cannot be scaled", p.Controller.Kind, p.Controller.Name, p.Object.Name)
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

// scaleOf finds the controller whose replicas the disruption controller takes:
// the Deployment above a ReplicaSet, else the pod's own controller.
func scaleOf(p *cluster.Pod) (o metav1.Object, replicas int, known bool) {
	if len(p.Owners) == 0 {
		return nil, 0, false
	}
	direct := p.Owners[0]
	switch x := direct.(type) {
	case *appsv1.ReplicaSet:
		if len(p.Owners) > 1 {
			if d, ok := p.Owners[1].(*appsv1.Deployment); ok {
				return d, int(cluster.ReplicasOrDefault(d.Spec.Replicas)), true
			}
		}
		return x, int(cluster.ReplicasOrDefault(x.Spec.Replicas)), true
	case *appsv1.Deployment:
		return x, int(cluster.ReplicasOrDefault(x.Spec.Replicas)), true
	case *appsv1.StatefulSet:
		return x, int(cluster.ReplicasOrDefault(x.Spec.Replicas)), true
	case *corev1.ReplicationController:
		return x, int(cluster.ReplicasOrDefault(x.Spec.Replicas)), true
	}
	return nil, 0, false
}

// builtIn names the controllers of Kubernetes: those that are not found by
// scaleOf are missing, or have no scale, as Jobs and DaemonSets.
func builtIn(c *metav1.OwnerReference) bool {
	group, _, grouped := strings.Cut(c.APIVersion, "/")
	return !grouped || group == "apps" || group == "batch" || group == "extensions"
}
