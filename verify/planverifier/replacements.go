package planverifier

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/admission"
)

// replacedPods returns the pods that are not Ready and that a due strategy wants to replace, wherever the replacement
// lands. Such a pod does not count as unavailable for its own eviction. See "Strategies about single pods" in
// docs/reference/strategies.md.
func replacedPods(pods map[string]*corev1.Pod, goals []plan.Goal) map[string]bool {
	out := map[string]bool{}
	for _, g := range goals {
		name := g.Subject.Namespace + "/" + g.Subject.Name
		if p := pods[name]; p != nil && g.Kind == plan.PodAway && g.MayReturn && !g.Constraint && !isTerminal(p) && !hasReadyCondition(p) {
			out[name] = true
		}
	}
	return out
}

// checkCanBeReplaced checks that the controller of the pod could create a replacement. Of
// ResourceQuotas it checks only the number of pods, and only those without scopes.
func checkCanBeReplaced(quotas []*corev1.ResourceQuota, p *corev1.Pod, c ownerChain, add rejectFunc) {
	failed := func(reason string, yes bool) {
		add(yes, plan.ReplacementRefused, "a controller reports ReplicaFailure: "+reason)
	}
	for _, l := range c.links {
		switch x := l.object.(type) {
		case *appsv1.Deployment:
			for _, x := range x.Status.Conditions {
				failed(x.Reason, x.Type == appsv1.DeploymentReplicaFailure && x.Status == corev1.ConditionTrue)
			}
		case *appsv1.ReplicaSet:
			for _, x := range x.Status.Conditions {
				failed(x.Reason, x.Type == appsv1.ReplicaSetReplicaFailure && x.Status == corev1.ConditionTrue)
			}
		case *corev1.ReplicationController:
			for _, x := range x.Status.Conditions {
				failed(x.Reason, x.Type == corev1.ReplicationControllerReplicaFailure && x.Status == corev1.ConditionTrue)
			}
		}
	}
	kind := ""
	if len(c.links) > 0 {
		kind = c.lowest().kind
	}
	if !slices.Contains([]string{"ReplicaSet", "ReplicationController", "Job"}, kind) {
		for _, f := range p.Finalizers {
			add(!slices.Contains([]string{batchv1.JobTrackingFinalizer, "foregroundDeletion", "orphan"}, f), plan.ForeignFinalizer, "it has the finalizer "+f)
		}
	}
	for _, q := range quotas {
		hard, limited := q.Spec.Hard[corev1.ResourcePods]
		used := q.Status.Used[corev1.ResourcePods]
		needed := used.Value() + 1
		if kind == "StatefulSet" { // it creates the replacement when the pod is gone
			needed--
		}
		add(q.Namespace == p.Namespace && limited && len(q.Spec.Scopes) == 0 && q.Spec.ScopeSelector == nil && needed > hard.Value(),
			plan.ReplacementRefused, fmt.Sprintf("ResourceQuota %s allows %d pods", q.Name, hard.Value()))
	}
}

// checkAdmission checks that the API server would admit the replacement. It judges the template, or the pod if no
// template is known, and for Pod Security also the newest pod of the same controller.
func checkAdmission(r *podGuards, p *corev1.Pod, low *owner, add rejectFunc) {
	template := &p.Spec
	if t := low.template(); len(t.Spec.Containers) > 0 {
		template = &t.Spec
	}
	for _, why := range admission.Refusals(r.before.objects, p.Namespace, template) {
		add(true, plan.ReplacementRefused, why)
	}
	newest, only := p, true
	for _, q := range r.before.objects.Pods {
		if ref := metav1.GetControllerOf(p); q != p && q.Namespace == p.Namespace && ref != nil && metav1.IsControlledBy(q, &metav1.ObjectMeta{UID: ref.UID}) {
			if only = only && !q.CreationTimestamp.Equal(&newest.CreationTimestamp); newest.CreationTimestamp.Before(&q.CreationTimestamp) {
				newest, only = q, true
			}
		}
	}
	if ns := r.before.namespaces[p.Namespace]; ns != nil && only {
		level := ns.Labels["pod-security.kubernetes.io/enforce"]
		add(admission.Forbidden(level, &newest.Spec), plan.ReplacementRefused, "Pod Security "+level+" forbids "+newest.Name)
	}
}

// checkFailedCreate checks that the last event FailedCreate of the pod's controller is older than half an hour, or than
// one of its pods. If the workload is complete, a pod created in the same second suffices.
func checkFailedCreate(objects *cluster.Objects, now time.Time, p *corev1.Pod, complete bool, add rejectFunc) {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		return
	}
	for _, e := range objects.Events {
		o := e.InvolvedObject
		same := o.UID == ref.UID && o.Kind == ref.Kind && o.Name == ref.Name && o.Namespace == p.Namespace
		if e.Reason != "FailedCreate" || !same {
			continue
		}
		at := e.LastTimestamp.Unix()
		if e.Series != nil {
			at = max(at, e.Series.LastObservedTime.Unix())
		}
		at = max(at, e.EventTime.Unix(), e.CreationTimestamp.Unix())
		later := slices.ContainsFunc(objects.Pods, func(q *corev1.Pod) bool {
			c := metav1.GetControllerOf(q)
			return q.Namespace == p.Namespace && c != nil && c.UID == ref.UID && c.Kind == ref.Kind && c.Name == ref.Name &&
				(q.CreationTimestamp.Unix() > at || complete && q.CreationTimestamp.Unix() == at)
		})
		add(!later && now.Unix()-at <= 1800, plan.ReplacementRefused, "its controller could not create a pod: event "+e.Name)
	}
}
