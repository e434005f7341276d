package guard

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// If a controller reports that it could not create a pod, it could not create the replacement either.
var replicaFailure = Rule{plan.ReplacementRefused, WorkloadScope, func(in Input) (string, bool) {
	for _, o := range in.Pod.Owners {
		kind, reason := "", ""
		switch o := o.(type) {
		case *appsv1.Deployment:
			kind = "Deployment"
			for _, c := range o.Status.Conditions {
				if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
					reason = c.Reason
				}
			}
		case *appsv1.ReplicaSet:
			kind = "ReplicaSet"
			for _, c := range o.Status.Conditions {
				if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
					reason = c.Reason
				}
			}
		case *corev1.ReplicationController:
			kind = "ReplicationController"
			for _, c := range o.Status.Conditions {
				if c.Type == corev1.ReplicationControllerReplicaFailure && c.Status == corev1.ConditionTrue {
					reason = c.Reason
				}
			}
		}
		if reason != "" {
			return fmt.Sprintf("%s %s could not create or delete a pod (condition ReplicaFailure: %s)", kind, o.GetName(), reason), true
		}
	}
	return "", false
}}

// failedCreateLifetime is the time after which an event FailedCreate says nothing about the next creation. A controller
// that still lacks a pod tries again after at most 17 minutes, and its next event may be dropped for up to 5 minutes.
const failedCreateLifetime = 30 * time.Minute

// A StatefulSet has no condition ReplicaFailure, and controllers of other projects may report no replicas. If their
// last attempt to create a pod failed, only an event tells. The next attempt would be for the replacement. The event is
// obsolete once the controller has created a pod in a later second. If it created one in the same second, the event is
// obsolete if no pod is missing.
var failedCreateEvent = Rule{plan.ReplacementRefused, TemplateScope, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil || len(in.Snapshot.Objects.Events) == 0 {
		return "", false
	}
	key := controllerKey{in.Pod.Object.Namespace, c.Kind, c.Name, c.UID}
	f, failed := in.Cache.failedCreatesIn(in.Snapshot)[key]
	if !failed || in.Now.Sub(f.at) > failedCreateLifetime || f.podAtOnce && in.hasAllPods() {
		return "", false
	}
	return fmt.Sprintf("%s %s could not create a pod at %s (event FailedCreate), and has created none since",
		c.Kind, c.Name, f.at.UTC().Format(time.RFC3339)), true
}}

// hasAllPods reports whether it is known how many pods the workload wants, and none of them is missing or terminating.
func (in Input) hasAllPods() bool {
	w := in.Snapshot.WorkloadOf(in.Pod)
	return w != nil && w.Replicas >= 0 && in.countPods(w).active >= int(w.Replicas)
}

// createFailure is the last failure of a controller to create a pod. Times have a precision of one second.
type createFailure struct {
	at        time.Time
	podAtOnce bool // it created a pod in the same second, before or after the failure
}

// controllerKey identifies the controller of pods.
type controllerKey struct {
	namespace, kind, name string
	uid                   types.UID
}

// failedCreatesIn returns the last failure of each controller, without those that created a pod in a later second.
func (c *Cache) failedCreatesIn(s *cluster.Snapshot) map[controllerKey]createFailure {
	if c.failedCreates != nil {
		return c.failedCreates
	}
	c.failedCreates = map[controllerKey]createFailure{}
	for _, e := range s.Objects.Events {
		o := &e.InvolvedObject
		key := controllerKey{o.Namespace, o.Kind, o.Name, o.UID}
		if at := cluster.LastObserved(e); e.Reason == cluster.FailedCreate && at.After(c.failedCreates[key].at) {
			c.failedCreates[key] = createFailure{at: at}
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Controller == nil {
			continue
		}
		key := controllerKey{p.Object.Namespace, p.Controller.Kind, p.Controller.Name, p.Controller.UID}
		f, failed := c.failedCreates[key]
		switch created := p.Object.CreationTimestamp; {
		case !failed:
		case created.After(f.at):
			delete(c.failedCreates, key)
		case created.Time.Equal(f.at):
			f.podAtOnce = true
			c.failedCreates[key] = f
		}
	}
	return c.failedCreates
}

// If the controller has not created every pod that it wants, it may not be able to, for example because of a
// ResourceQuota or an admission webhook. Then the workload would lose another pod.
var replacementMissing = Rule{plan.ReplacementMissing, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || w.Replicas < 0 {
		return "", false
	}
	n := in.countPods(w).active
	return fmt.Sprintf("%s %s wants %d pods and has %d that are not terminating; its controller has not created the missing ones",
		w.Kind, w.Name, w.Replicas, n), n < int(w.Replicas)
}}

// knownFinalizers are finalizers of pods that Kubernetes itself removes when the containers have ended.
var knownFinalizers = []string{batchv1.JobTrackingFinalizer, "foregroundDeletion", "orphan"}

// Some controllers create the replacement only after the pod object is gone. An unknown component decides when it
// removes its finalizer, so the workload may lack the pod for a long time.
var foreignFinalizer = Rule{plan.ForeignFinalizer, OddPodScope, func(in Input) (string, bool) {
	if c := in.Pod.Controller; c == nil || replacesAtOnce(in.Pod) {
		return "", false
	}
	for _, f := range in.Pod.Object.Finalizers {
		if !slices.Contains(knownFinalizers, f) {
			return fmt.Sprintf("the pod has the finalizer %s, and %s %s may create the replacement only when the pod is gone",
				f, in.Pod.Controller.Kind, in.Pod.Controller.Name), true
		}
	}
	return "", false
}}

// replacesAtOnce reports whether the pod's controller creates the replacement while the pod still terminates. It
// returns false for controllers that Evenkeel does not know.
func replacesAtOnce(p *cluster.Pod) bool {
	if len(p.Owners) == 0 {
		return false
	}
	switch o := p.Owners[0].(type) {
	case *appsv1.ReplicaSet, *corev1.ReplicationController:
		return true
	case *batchv1.Job:
		return ptr.Deref(o.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) != batchv1.Failed
	}
	return false
}

// PodTemplate returns the template of the pod's controller, or nil if it is unknown.
func PodTemplate(p *cluster.Pod) *corev1.PodTemplateSpec {
	if len(p.Owners) == 0 {
		return nil
	}
	switch x := p.Owners[0].(type) {
	case *appsv1.ReplicaSet:
		return &x.Spec.Template
	case *appsv1.StatefulSet:
		return &x.Spec.Template
	case *appsv1.DaemonSet:
		return &x.Spec.Template
	case *batchv1.Job:
		return &x.Spec.Template
	case *corev1.ReplicationController:
		return x.Spec.Template
	}
	return nil
}
