package guard

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// If a workload has one replica, every eviction interrupts it.
var tooFewReplicas = Rule{plan.TooFewReplicas, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	n, verb := int(w.Replicas), "wants"
	if n < 0 {
		if !in.isConfiguredController(w) {
			return fmt.Sprintf("the replica count of %s %s is unknown", w.Kind, w.Name), true
		}
		// The controller wants at least the active pods. It may already have replaced the terminating pods.
		n, verb = in.countPods(w).active, "has"
	}
	if n >= in.Options.MinReplicas {
		return "", false
	}
	return fmt.Sprintf("%s %s %s %s, fewer than guards.minReplicas %d",
		w.Kind, w.Name, verb, plural.Count(n, "replica"), in.Options.MinReplicas), true
}}

// If a workload has more pods than desired, its controller is about to delete pods and does not replace
// an evicted pod. A rollout with maxSurge also exceeds the desired number; RolloutInProgress refuses it.
var scalingDown = Rule{plan.ScalingDown, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || w.Replicas < 0 {
		return "", false
	}
	n := in.countPods(w).active
	if n <= int(w.Replicas) || hasTwoTemplates(in) {
		return "", false
	}
	return fmt.Sprintf("%s %s has %d pods and wants %d", w.Kind, w.Name, n, w.Replicas), true
}}

// A workload with fewer available pods than desired must not lose another one. A pod that is not Ready may leave for a
// goal about itself if all other pods are available.
var workloadDegraded = Rule{plan.WorkloadDegraded, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || !in.Options.Protect[ProtectDegraded] {
		return "", false
	}
	available, desired, others := in.countPods(w).available, DesiredReplicas(w), ""
	if in.ReplacesUnready {
		desired, others = desired-1, "other "
	}
	if available >= desired {
		return "", false
	}
	return fmt.Sprintf("%d of %d %spods of %s %s are available", available, desired, others, w.Kind, w.Name), true
}}

// podCounts are numbers of pods of one workload.
type podCounts struct {
	active    int // pods that are not terminating
	available int // see AvailablePods
}

func newPodCounts(s *cluster.Snapshot, w *cluster.Workload, now time.Time) podCounts {
	n := podCounts{available: AvailablePods(s, w, now)}
	for _, id := range w.Pods {
		if !s.Pods[id].Terminating {
			n.active++
		}
	}
	return n
}

// DesiredReplicas returns the desired replicas of a workload. If the replica count is unknown, it
// returns the number of existing pods, including terminating pods.
func DesiredReplicas(w *cluster.Workload) int {
	if w.Replicas >= 0 {
		return int(w.Replicas)
	}
	return len(w.Pods)
}

// AvailablePods counts the pods of a workload that are available and not terminating. A pod is
// available if it has been Ready for minReadySeconds.
func AvailablePods(s *cluster.Snapshot, w *cluster.Workload, now time.Time) int {
	n := 0
	for _, id := range w.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating && isAvailable(p, now) {
			n++
		}
	}
	return n
}

// isAvailable reports whether a Ready pod has been Ready for minReadySeconds. If minReadySeconds
// is positive and the transition time is missing, it returns false.
func isAvailable(p *cluster.Pod, now time.Time) bool {
	minReady := MinReadyTime(p)
	if minReady == 0 {
		return true
	}
	for i := range p.Object.Status.Conditions {
		if c := &p.Object.Status.Conditions[i]; c.Type == corev1.PodReady {
			return !c.LastTransitionTime.IsZero() && !now.Before(c.LastTransitionTime.Add(minReady))
		}
	}
	return false
}

// MinReadyTime returns minReadySeconds of a pod's controller. The Deployment controller copies
// the value of a Deployment to its ReplicaSets.
func MinReadyTime(p *cluster.Pod) time.Duration {
	if len(p.Owners) == 0 {
		return 0
	}
	var seconds int32
	switch o := p.Owners[0].(type) {
	case *appsv1.ReplicaSet:
		seconds = o.Spec.MinReadySeconds
	case *appsv1.StatefulSet:
		seconds = o.Spec.MinReadySeconds
	case *corev1.ReplicationController:
		seconds = o.Spec.MinReadySeconds
	}
	return time.Duration(seconds) * time.Second
}

// Without its last Ready pod a Service has no endpoint.
var lastReadyPod = Rule{plan.LastReadyPod, PlanScope, func(in Input) (string, bool) {
	if len(in.Pod.Services) == 0 || !in.Pod.Ready || !in.Options.Protect[ProtectLastReady] {
		return "", false
	}
	for _, id := range in.Pod.Services {
		svc := &in.Snapshot.Services[id]
		if svc.Ready < 2 {
			return "the pod is the last Ready pod of Service " + svc.Object.Name, true
		}
	}
	return "", false
}}

// With the protection PodsWithoutPDB, users require a PodDisruptionBudget for every eviction.
var noPodDisruptionBudget = Rule{plan.NoPodDisruptionBudget, PodScope, func(in Input) (string, bool) {
	return "no PodDisruptionBudget selects the pod (PodsWithoutPDB in guards.protect)",
		len(in.Pod.Budgets) == 0 && in.Options.Protect[ProtectWithoutPDB]
}}
