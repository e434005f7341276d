package planverifier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
)

// checkController checks the controllers of the pod.
func (r *podGuards) checkController(p *corev1.Pod, add rejectFunc) {
	c := r.before.chains[key(p)]
	low := c.lowest()
	if low == nil {
		protection := "BarePods"
		if p.Status.Phase == corev1.PodFailed {
			protection = "FailedBarePods"
		}
		add(r.rules.Protect[protection], plan.BarePod, "it has no controller")
		return
	}
	add(emptied.BelongsToNode(p), plan.DaemonSetPod, "its DaemonSet would create the replacement on the same node")
	add(low.hasKind("Job") && r.rules.Protect["Jobs"], plan.JobPod, "a Job controls it")
	for i, l := range c.links {
		if r.rules.isListed(l) {
			continue
		}
		known := slices.ContainsFunc([]string{"ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job"}, l.hasKind)
		add(!known && i == 0, plan.UnknownController, "its controller kind "+l.group+"/"+l.kind+" is unknown")
		add(l.object == nil, plan.OwnerNotFound, l.kind+" "+l.name+" does not exist")
	}
	if c.cron != nil && c.cron.object == nil && !r.rules.isListed(*c.cron) {
		add(true, plan.OwnerNotFound, c.cron.kind+" "+c.cron.name+", above its workload, does not exist")
	}
	if job, ok := low.object.(*batchv1.Job); ok {
		add(ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName, plan.UnknownController,
			"another controller manages its Job (managedBy)")
	}
	r.checkReplacement(p, c, add)
	r.checkRevision(p, low, add)
}

// isListed reports whether the controller replaces pods as those of the configuration do.
func (r *Rules) isListed(l owner) bool {
	name := l.group + "/" + l.kind
	switch name {
	case "argoproj.io/Rollout", "apps.openshift.io/DeploymentConfig", "apps.kruise.io/CloneSet", "apps.kruise.io/StatefulSet":
		return true
	}
	return slices.Contains(r.Controllers, name)
}

// checkReplacement checks that the controllers would create a replacement.
func (r *podGuards) checkReplacement(p *corev1.Pod, c ownerChain, add rejectFunc) {
	for _, l := range c.links {
		add(l.object != nil && l.object.GetDeletionTimestamp() != nil, plan.NoReplacement, l.kind+" "+l.name+" is being deleted")
	}
	if ns := r.before.namespaces[p.Namespace]; ns != nil {
		add(ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating, plan.NoReplacement, "its namespace is being deleted")
	}
	if job, ok := c.lowest().object.(*batchv1.Job); ok {
		add(job.Spec.Completions == nil && r.before.hasSucceeded(job), plan.NoReplacement,
			"its Job has no completions and a pod has succeeded, so the Job creates no replacement")
		add(ptr.Deref(job.Spec.Suspend, false), plan.NoReplacement, "its Job is suspended")
		for _, x := range job.Status.Conditions {
			over := x.Type == batchv1.JobComplete || x.Type == batchv1.JobFailed || x.Type == batchv1.JobFailureTarget ||
				x.Type == batchv1.JobSuccessCriteriaMet
			add(over && x.Status == corev1.ConditionTrue, plan.NoReplacement, "its Job has ended: "+string(x.Type))
		}
	}
}

// hasSucceeded reports whether any pod of the Job has succeeded, according to the Job's status or its pods.
func (w *clusterIndex) hasSucceeded(job *batchv1.Job) bool {
	if u := job.Status.UncountedTerminatedPods; job.Status.Succeeded > 0 || u != nil && len(u.Succeeded) > 0 {
		return true
	}
	for _, p := range w.pods {
		if mine, ok := w.jobOf(p); ok && mine == job && p.Status.Phase == corev1.PodSucceeded {
			return true
		}
	}
	return false
}

// checkRevision checks that a StatefulSet creates the replacement from the same revision. Pods with
// an ordinal below the partition use the current revision. All other pods, and all pods of a
// StatefulSet with OnDelete, use the update revision.
func (r *podGuards) checkRevision(p *corev1.Pod, low *owner, add rejectFunc) {
	set, ok := low.object.(*appsv1.StatefulSet)
	if !ok || set.Status.UpdateRevision == "" {
		return
	}
	next := set.Status.UpdateRevision
	if u := set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil &&
		set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType {
		first := 0
		if set.Spec.Ordinals != nil {
			first = int(set.Spec.Ordinals.Start)
		}
		if n, err := strconv.Atoi(p.Name[strings.LastIndex(p.Name, "-")+1:]); err == nil && n < first+int(*u.Partition) {
			next = set.Status.CurrentRevision
		}
	}
	has := p.Labels["controller-revision-hash"]
	add(has != next, plan.RevisionWouldChange, fmt.Sprintf("it has revision %q, its replacement would have %q", has, next))
}

// checkWorkload checks the state of the pod's workload.
func (r *podGuards) checkWorkload(p *corev1.Pod, add rejectFunc) {
	c := r.before.chains[key(p)]
	if c.top() == nil {
		return
	}
	want, known := r.desiredReplicas(p)
	least := want
	_, counted := c.top().replicas()
	counted = counted || c.lowest() != c.top() // otherwise a kind with unknown replicas: see desiredReplicas
	if !counted {
		least = r.before.countPods(p, false)
	}
	add(!known || least < r.rules.MinReplicas, plan.TooFewReplicas, fmt.Sprintf("its workload wants %d replicas (known: %v)", want, known))
	r.checkRollout(c, add)
	checkCanBeReplaced(r.before.objects.ResourceQuotas, p, c, add)
	there, up, beside := r.before.countWorkloadPods(p)
	checkAdmission(r, p, c.lowest(), add)
	checkFailedCreate(r.before.objects, r.before.now, p, known && counted && there >= want, add)
	add(known && counted && there < want, plan.ReplacementMissing, fmt.Sprintf("the workload has %d pods and wants %d", there, want))
	add(known && there > want, plan.ScalingDown, fmt.Sprintf("the workload has %d pods and wants %d", there, want))
	if n, ok := c.lowest().replicas(); ok {
		add(beside > n, plan.ScalingDown, fmt.Sprintf("%s has %d pods and wants %d", c.lowest().name, beside, n))
	}
	if r.replaced[key(p)] {
		want--
	}
	add(known && r.rules.Protect["DegradedWorkloads"] && up < want, plan.WorkloadDegraded, fmt.Sprintf("%d of %d pods are Ready", up, want))
}

// desiredReplicas returns the replicas of the pod's workload. If the workload has no replica count,
// desiredReplicas sums the counts of the controllers directly above the pods.
func (r *podGuards) desiredReplicas(p *corev1.Pod) (int, bool) {
	c := r.before.chains[key(p)]
	if n, ok := c.top().replicas(); ok {
		return n, true
	}
	sum, some, seen := 0, false, map[string]bool{}
	for k, pod := range r.before.pods {
		other := r.before.chains[k]
		if pod.Namespace != p.Namespace || other.id != c.id || len(other.links) < 2 {
			continue
		}
		low := other.lowest()
		if n, ok := low.replicas(); ok && !seen[low.kind+low.name] {
			seen[low.kind+low.name], some = true, true
			sum += n
		}
	}
	if !some && r.rules.isListed(*c.top()) {
		// No replica count is known. The configuration declares this controller kind, so the number
		// of existing pods is the replica count.
		return r.before.countPods(p, true), true
	}
	return sum, some
}

// countPods counts the pods of p's workload, with or without terminating ones.
func (w *clusterIndex) countPods(p *corev1.Pod, leavingToo bool) int {
	n, mine := 0, w.chains[key(p)].id
	for k, other := range w.pods {
		if other.Namespace == p.Namespace && w.chains[k].id == mine && !isTerminal(other) && (leavingToo || !isTerminating(other)) {
			n++
		}
	}
	return n
}

// countWorkloadPods returns three counts of the pod's workload: all pods, the Ready pods, and the
// pods that share the pod's direct controller.
func (w *clusterIndex) countWorkloadPods(p *corev1.Pod) (there, up, beside int) {
	c := w.chains[key(p)]
	for k, pod := range w.pods {
		other := w.chains[k]
		if pod.Namespace != p.Namespace || other.id != c.id || isTerminal(pod) || isTerminating(pod) {
			continue
		}
		there++
		if isReady(pod) {
			up++
		}
		if other.lowest().name == c.lowest().name && other.lowest().kind == c.lowest().kind {
			beside++
		}
	}
	return there, up, beside
}

// checkRollout checks that no controller of the pod is rolling out another template.
func (r *podGuards) checkRollout(c ownerChain, add rejectFunc) {
	for i, l := range c.links {
		switch x := l.object.(type) {
		case *appsv1.Deployment:
			add(x.Spec.Paused, plan.WorkloadPaused, "the Deployment is paused")
			add(x.Status.ObservedGeneration < x.Generation, plan.RolloutInProgress, "the Deployment controller has not observed the last change")
			if rs, ok := c.lowest().object.(*appsv1.ReplicaSet); ok {
				add(!sameTemplate(rs.Spec.Template, x.Spec.Template), plan.RolloutInProgress,
					"the template of the Deployment differs from that of the ReplicaSet")
			}
		case *appsv1.StatefulSet:
			add(x.Status.ObservedGeneration < x.Generation, plan.RolloutInProgress, "the StatefulSet controller has not observed the last change")
			add(r.before.statefulSetRolling(x), plan.RolloutInProgress, "the StatefulSet is updating pods")
		}
		if i > 0 && r.before.otherReplicaSetActive(l, c.links[i-1]) {
			add(true, plan.RolloutInProgress, l.name+" has more than one ReplicaSet with replicas")
		}
	}
}

func sameTemplate(a, b corev1.PodTemplateSpec) bool {
	x, y := a.DeepCopy(), b.DeepCopy()
	delete(x.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(y.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(x, y)
}

// otherReplicaSetActive reports whether another ReplicaSet of the same owner has replicas.
func (w *clusterIndex) otherReplicaSetActive(above, under owner) bool {
	for _, rs := range w.objects.ReplicaSets {
		ref := metav1.GetControllerOf(rs)
		if ref == nil || under.object == nil || rs.Namespace != under.object.GetNamespace() || rs.Name == under.name ||
			ref.Name != above.name || ref.Kind != above.kind || above.object != nil && ref.UID != above.object.GetUID() {
			continue
		}
		if ptr.Deref(rs.Spec.Replicas, 1) > 0 {
			return true
		}
	}
	return false
}

// statefulSetRolling reports whether a StatefulSet with rolling updates still has pods to
// update. All pods at or above the partition need the update revision.
func (w *clusterIndex) statefulSetRolling(set *appsv1.StatefulSet) bool {
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || set.Status.UpdateRevision == "" ||
		set.Status.UpdateRevision == set.Status.CurrentRevision {
		return false
	}
	want, kept, updated := int(ptr.Deref(set.Spec.Replicas, 1)), 0, 0
	if u := set.Spec.UpdateStrategy.RollingUpdate; u != nil {
		kept = int(ptr.Deref(u.Partition, 0))
	}
	for k, p := range w.pods {
		low := w.chains[k].lowest()
		if low != nil && low.object == any(set) && p.Labels["controller-revision-hash"] == set.Status.UpdateRevision {
			updated++
		}
	}
	return updated < want-kept
}
