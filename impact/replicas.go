package impact

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxFurtherReplicas bounds the replicas beyond the least number that counting allows.
const maxFurtherReplicas = 4

// CheckReplicas plans again with the numbers of replicas that the impact advises. If the plan does not bring the
// category, because the scheduler or the planner does not reach an even spread, it tries more. It marks the numbers
// that it found in this way.
func (a *Advisor) CheckReplicas(x *plan.Impact) {
	m := newMeasure(&a.Input, x.Zones)
	for i := range x.Workloads {
		w := &x.Workloads[i]
		if w.Remedy.Kind != plan.RemedyReplicas {
			continue
		}
		for n := w.Remedy.Replicas; n <= w.Remedy.Replicas+maxFurtherReplicas; n++ {
			brings, ok := a.bringsCategory(m, w, n)
			if !ok {
				break
			}
			if brings {
				w.Remedy.Replicas, w.Remedy.Checked = n, true
				break
			}
		}
	}
	x.Advice.Plans, x.Advice.Stopped = a.plans, a.stopped
}

// bringsCategory reports whether a plan with so many replicas of the workload brings the category of its remedy. ok is
// false if no plan could be made.
func (a *Advisor) bringsCategory(m *measure, w *plan.WorkloadImpact, replicas int) (brings, ok bool) {
	key := workloadKey{w.Namespace, w.Kind, w.Name}
	of := m.workloads[key]
	ref := plan.ObjectRef{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name, UID: of.UID}
	p, _, ok := a.replan(plan.Change{Replicas: []plan.AddedReplicas{{Workload: ref, Count: replicas - w.Replicas}}})
	if !ok {
		return false, false
	}
	total, most := 0, 0
	for i := range p.After.Workloads {
		if st := &p.After.Workloads[i]; (workloadKey{st.Namespace, st.Kind, st.Name}) == key {
			for _, n := range st.Zones {
				total, most = total+n, max(most, n)
			}
		}
	}
	u := 0.0
	if w.Utilization != nil {
		u = *w.Utilization * float64(w.Replicas) / float64(replicas)
	}
	return total == replicas && m.effect(total, most, u, w.Utilization != nil).Category >= w.Remedy.Category, true
}

// addReplicas adds Pending replicas of a workload, and raises the numbers of its controllers.
func (c *changed) addReplicas(a plan.AddedReplicas) error {
	i := slices.IndexFunc(c.from.Workloads, func(w cluster.Workload) bool {
		return w.Namespace == a.Workload.Namespace && w.Kind == a.Workload.Kind && w.Name == a.Workload.Name
	})
	if i < 0 {
		return fmt.Errorf("there is no workload %s", a.Workload)
	}
	w := &c.from.Workloads[i]
	var like *cluster.Pod
	for _, id := range w.Pods {
		if p := &c.from.Pods[id]; p.Node != cluster.NoNode && !p.Terminating {
			like = p
		}
	}
	if like == nil {
		return fmt.Errorf("workload %s has no pod", a.Workload)
	}
	for n := range a.Count {
		pod := like.Object.DeepCopy()
		pod.Name = fmt.Sprintf("%s-new-%d", like.Object.Name, n+1)
		pod.UID, pod.Spec.NodeName = types.UID("what-if/pod/"+pod.Namespace+"/"+pod.Name), ""
		c.out.Pods = append(c.out.Pods, pod)
		c.left[pod.Namespace+"/"+pod.Name] = pod
	}
	for _, owner := range like.Owners {
		c.scale(owner, int32(a.Count))
	}
	return nil
}

// scale raises the replicas of a controller, as if the new ones were available.
func (c *changed) scale(owner metav1.Object, by int32) {
	raise := func(replicas *int32, counts ...*int32) *int32 {
		for _, n := range counts {
			*n += by
		}
		return ptr.To(ptr.Deref(replicas, 1) + by)
	}
	switch o := owner.(type) {
	case *appsv1.Deployment:
		d := o.DeepCopy()
		d.Spec.Replicas = raise(d.Spec.Replicas, &d.Status.Replicas, &d.Status.UpdatedReplicas, &d.Status.ReadyReplicas, &d.Status.AvailableReplicas)
		c.out.Deployments = replaced(c.out.Deployments, o, d)
	case *appsv1.ReplicaSet:
		r := o.DeepCopy()
		r.Spec.Replicas = raise(r.Spec.Replicas, &r.Status.Replicas, &r.Status.ReadyReplicas, &r.Status.AvailableReplicas)
		c.out.ReplicaSets = replaced(c.out.ReplicaSets, o, r)
	case *appsv1.StatefulSet:
		s := o.DeepCopy()
		s.Spec.Replicas = raise(s.Spec.Replicas, &s.Status.Replicas, &s.Status.CurrentReplicas, &s.Status.ReadyReplicas, &s.Status.AvailableReplicas)
		c.out.StatefulSets = replaced(c.out.StatefulSets, o, s)
	case *corev1.ReplicationController:
		r := o.DeepCopy()
		r.Spec.Replicas = raise(r.Spec.Replicas, &r.Status.Replicas, &r.Status.ReadyReplicas, &r.Status.AvailableReplicas)
		c.out.ReplicationControllers = replaced(c.out.ReplicationControllers, o, r)
	}
}

// replaced returns a copy of the list with another object in place of old.
func replaced[T comparable](list []T, old, with T) []T {
	out := slices.Clone(list)
	if i := slices.Index(out, old); i >= 0 {
		out[i] = with
	}
	return out
}
