package planverifier

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/plan"
)

// checkInFlight checks the number of pods that one wave evicts against the in-flight limits.
func (r *verifier) checkInFlight(calls []call) {
	inFlight := map[string]int{"the wave": len(r.guards.inFlight)}
	for _, m := range r.guards.inFlight {
		inFlight["node "+m.node]++
	}
	count := func(c call, limit Limit, group string) {
		if inFlight[group]++; inFlight[group] > limit.forPods(0) {
			r.report(c.move, InFlight, "%d pods of %s are in flight; the limit is %d", inFlight[group], group, limit.forPods(0))
		}
	}
	for _, c := range calls {
		count(c, r.rules.InFlightTotal, "the wave")
		count(c, r.rules.InFlightPerNode, "node "+c.pod.Spec.NodeName)
		if owner := r.live.chainOf(c.pod).id; owner != "" {
			count(c, r.rules.InFlightPerWorkload, "workload "+owner)
		}
	}
}

// checkUnavailable checks workloads without a budget against maxUnavailableWithoutPDB. If a workload already has
// that many unavailable pods, none of its other pods may be evicted, Ready or not. A pod of replacedPods does not count
// for its own eviction.
func (r *verifier) checkUnavailable(calls []call) {
	gone := map[string]int{} // Ready pods that the wave evicts, by workload
	for _, c := range calls {
		if isReady(c.pod) {
			gone[r.live.chainOf(c.pod).id]++
		}
	}
	for _, c := range calls {
		owner := r.live.chainOf(c.pod).id
		others := gone[owner]
		if isReady(c.pod) {
			others--
		}
		if owner == "" || len(r.before.budgets.of(c.pod)) > 0 {
			continue
		}
		want, known := r.guards.desiredReplicas(c.pod)
		if r.guards.replaced[key(c.pod)] {
			want--
		}
		most := r.rules.MaxUnavailableWithoutPDB
		if away := want - (r.live.readyPods(c.pod.Namespace, owner) - others); known && away >= most {
			r.report(c.move, plan.WorkloadUnavailable, "%d of %d pods of %s are unavailable before this eviction; the limit after it is %d", away,
				want, owner, most)
		}
	}
}

// readyPods counts the Ready pods of a workload.
func (r *liveState) readyPods(ns, owner string) int {
	return r.countReady(func(p *corev1.Pod) bool { return p.Namespace == ns && r.chainOf(p).id == owner })
}

func (r *liveState) countReady(counts func(*corev1.Pod) bool) (n int) {
	for _, p := range r.pods {
		if isReady(p) && counts(p) {
			n++
		}
	}
	return n
}

// readyPodsOfService counts the Ready pods of a Service.
func (r *liveState) readyPodsOfService(s service) int {
	return r.countReady(s.selects)
}

// checkLastReady checks that each Service keeps a Ready pod during a wave.
func (r *verifier) checkLastReady(calls []call) {
	if !r.rules.Protect["LastReadyPods"] {
		return
	}
	for _, s := range r.before.services {
		up := r.live.readyPodsOfService(s)
		for _, c := range calls {
			if !isReady(c.pod) || !s.selects(c.pod) {
				continue
			}
			if up--; up < 1 {
				r.report(c.move, plan.LastReadyPod, "it is the last Ready pod of Service %s", s.key)
			}
		}
	}
}

// chainOf returns the controllers of a pod or of a replacement.
func (r *liveState) chainOf(p *corev1.Pod) ownerChain { return r.chains[key(p)] }

// placeReplacements ends a wave. placeReplacements replaces each evicted pod with a Ready pod that
// has the labels of the controller's pod template.
func (r *liveState) placeReplacements(calls []call) {
	for _, c := range calls {
		next := r.replacement(c)
		next.Spec.NodeName = c.move.To
		next.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: new(metav1.NewTime(r.before.now)),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		chain := r.chainOf(c.pod)
		delete(r.pods, key(c.pod))
		r.pods[key(next)] = next
		r.chains[key(next)] = chain
	}
}

// replacement returns the unbound pod that the controller creates for an evicted pod.
func (r *liveState) replacement(c call) *corev1.Pod {
	next := &corev1.Pod{ObjectMeta: *c.pod.ObjectMeta.DeepCopy(), Spec: *c.pod.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodPending}}
	low := r.chainOf(c.pod).lowest()
	r.replacements++
	next.UID = types.UID(fmt.Sprintf("%s-r%d", c.pod.UID, r.replacements))
	if low == nil || !low.hasKind("StatefulSet") {
		next.Name = fmt.Sprintf("%s-r%d", c.pod.Name, r.replacements)
	}
	next.Labels = replacementLabels(c.pod, low)
	next.Spec.NodeName = ""
	return next
}

// controllerLabels lists the labels that controllers add to those of their pod template.
var controllerLabels = []string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey,
	appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid"}

// template returns the pod template of a controller, or an empty one if it is unknown.
func (l *owner) template() (t corev1.PodTemplateSpec) {
	if l == nil {
		return t
	}
	switch x := l.object.(type) {
	case *appsv1.ReplicaSet:
		t = x.Spec.Template
	case *appsv1.StatefulSet:
		t = x.Spec.Template
	case *appsv1.DaemonSet:
		t = x.Spec.Template
	case *batchv1.Job:
		t = x.Spec.Template
	case *corev1.ReplicationController:
		if x.Spec.Template != nil {
			t = *x.Spec.Template
		}
	}
	return t
}

func replacementLabels(p *corev1.Pod, low *owner) map[string]string {
	t := low.template()
	if len(t.Labels) == 0 {
		return p.Labels
	}
	out := maps.Clone(t.Labels)
	for _, k := range controllerLabels {
		if v, ok := p.Labels[k]; ok && out[k] == "" {
			out[k] = v
		}
	}
	return out
}
