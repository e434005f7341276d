package planverifier

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// groupKeys lists the labels and annotations of pods and owners that belong to a group, by program.
// See "Groups of other programs" in docs/reference/annotations.md.
var groupKeys = map[string][]string{
	"Kueue": {"kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/managed",
		"kueue.x-k8s.io/podset", "kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/cluster-queue-name"},
	"Volcano": {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "volcano.sh/job-name"},
	"Coscheduling": {"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io",
		"pod-group.scheduling.sigs.k8s.io/name"},
	"LeaderWorkerSet": {"leaderworkerset.sigs.k8s.io/name"},
	"JobSet":          {"jobset.sigs.k8s.io/jobset-name"},
}

// checkMarks checks the marks of other programs on the pod and on every owner: groups and pauses.
func checkMarks(r *podGuards, p *corev1.Pod, add rejectFunc) {
	add(p.Spec.SchedulingGroup != nil, plan.PartOfGroup, "it belongs to a native scheduling group")
	r.checkGroupKeys(p, add)
	c := r.before.chains[key(p)]
	owners := slices.Clone(c.links)
	if c.cron != nil {
		owners = append(owners, *c.cron)
	}
	for _, l := range owners {
		if l.object == nil {
			continue
		}
		r.checkGroupKeys(l.object, add)
		for k, v := range l.object.GetAnnotations() {
			add(strings.HasSuffix(k, "/paused") && (v != "false" || k == "cluster.x-k8s.io/paused"), plan.WorkloadPaused,
				l.kind+" "+l.name+" has "+k+": "+v)
		}
	}
}

// checkGroupKeys checks the keys of one object, except those of the programs that the rules list.
func (r *podGuards) checkGroupKeys(o metav1.Object, add rejectFunc) {
	for _, program := range sortedKeys(groupKeys) {
		if slices.Contains(r.rules.Groups, program) {
			continue
		}
		for _, k := range groupKeys[program] {
			add(hasKey(o, k), plan.PartOfGroup, o.GetName()+" belongs to a group of "+program)
		}
	}
	for _, k := range r.rules.GroupKeys {
		_, has := o.GetLabels()[k]
		add(has, plan.PartOfGroup, o.GetName()+" has "+k)
	}
}

// movingPod is a pod whose eviction continues since before the plan.
type movingPod struct{ uid, workload, node string }

// podsInFlight returns the pods that Evenkeel or another program evicts already: those in the state whose time is not
// over and that still exist, and those that another program has marked and that still run.
func podsInFlight(w *clusterIndex, state plan.PlannerState) (out []movingPod) {
	for _, p := range w.objects.Pods {
		inState := slices.ContainsFunc(state.Background, func(b plan.BackgroundEviction) bool {
			return b.Pod.UID == string(p.UID) && b.Until.After(w.now)
		})
		_, marked := p.Annotations["descheduler.alpha.kubernetes.io/eviction-in-progress"]
		if !isTerminal(p) && (inState || marked && w.isBound(p)) {
			out = append(out, movingPod{string(p.UID), w.chains[key(p)].id, p.Spec.NodeName})
		}
	}
	return out
}

// checkOthersInFlight checks that no other pod of the workload is on its way, and that the limits in flight are not
// reached before the plan begins.
func checkOthersInFlight(r *podGuards, p *corev1.Pod, add rejectFunc) {
	fromNode, workload := 0, r.before.chains[key(p)].id
	for _, m := range r.inFlight {
		add(m.uid == string(p.UID) || workload != "" && m.workload == workload, plan.EvictionInBackground,
			"the eviction of a pod of its workload continues")
		if m.node == p.Spec.NodeName {
			fromNode++
		}
	}
	n := len(r.inFlight)
	add(n > 0 && n >= r.rules.InFlightTotal.forPods(0), plan.EvictionInBackground, "too many evictions continue")
	add(fromNode > 0 && fromNode >= r.rules.InFlightPerNode.forPods(0), plan.EvictionInBackground,
		"too many evictions from its node continue")
}

func hasKey(o metav1.Object, k string) bool {
	_, label := o.GetLabels()[k]
	_, annotation := o.GetAnnotations()[k]
	return label || annotation
}
