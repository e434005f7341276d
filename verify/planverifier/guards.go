package planverifier

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
)

// criticalPriority is the value of the PriorityClass system-cluster-critical.
const criticalPriority = 2000000000

// rejections returns all reasons why a pod may not be evicted, independent of other moves.
func (r *podGuards) rejections(p *corev1.Pod) []rejection {
	var out []rejection
	add := func(rejected bool, code plan.Code, why string) {
		if rejected {
			out = append(out, rejection{code, why})
		}
	}
	r.checkPod(p, add)
	r.checkNamespaceAndNode(p, add)
	r.checkVolumes(p, add)
	r.checkController(p, add)
	r.checkWorkload(p, add)
	r.checkAnnotations(p, add)
	checkMarks(r, p, add)
	checkOthersInFlight(r, p, add)
	return out
}

// checkPod checks the pod itself.
func (r *podGuards) checkPod(p *corev1.Pod, add rejectFunc) {
	c := r.rules
	_, mirror := p.Annotations["kubernetes.io/config.mirror"]
	add(mirror, plan.MirrorPod, "it is a mirror pod")
	source := p.Annotations["kubernetes.io/config.source"]
	add(source != "" && source != "api", plan.StaticPod, "its source is "+source)
	add(isTerminating(p), plan.PodTerminating, "it is terminating")
	add(isTerminal(p), plan.PodTerminal, "it has phase Succeeded or Failed")
	add(!r.before.isBound(p), plan.PodNotBound, "it is not on a known node")
	add(p.Labels["app.kubernetes.io/name"] == "evenkeel", plan.OwnPod, "it is a pod of Evenkeel")
	add(c.PodSelector != nil && !c.PodSelector.Matches(labels.Set(p.Labels)), plan.PodNotSelected, "podSelector does not select it")
	add(c.Protect["PodsWithResourceClaims"] && len(p.Spec.ResourceClaims) > 0, plan.ResourceClaims, "it has resource claims")
	add(c.Protect["PodsWithoutPDB"] && len(r.before.budgets.of(p)) == 0, plan.NoPodDisruptionBudget,
		"no PodDisruptionBudget selects it")

	priority, sure := r.before.priority(p)
	add(!sure, plan.PriorityTooHigh, "its PriorityClass "+p.Spec.PriorityClassName+" does not exist")
	add(c.Protect["SystemCriticalPods"] && priority >= criticalPriority, plan.SystemCritical, "its priority is critical")
	limit, known := r.priorityLimit()
	add(!known || priority >= limit, plan.PriorityTooHigh, "its priority is not below "+c.PriorityBelow)

	if c.MinPodAge > 0 {
		start := p.Status.StartTime
		add(start.IsZero() || r.before.now.Sub(start.Time) < c.MinPodAge, plan.PodTooYoung, "it is younger than "+c.MinPodAge.String())
	}
	grace := int64(30) // the default of the API
	for _, g := range []*int64{p.Spec.TerminationGracePeriodSeconds, c.GracePeriodSeconds} {
		if g != nil {
			grace = *g
		}
	}
	add(c.MaxGracePeriod > 0 && grace > int64(c.MaxGracePeriod/time.Second), plan.GracePeriodTooLong, "it may take long to terminate")
	add(r.schedulerSilent(p), plan.SchedulerNotResponding,
		"its scheduler has not attempted a pending pod in time")
}

// schedulerTimeout is how long a pod may wait for its first scheduling attempt.
const schedulerTimeout = time.Minute

// schedulerSilent reports whether a pending pod of the victim's scheduler has waited longer than
// schedulerTimeout for its first scheduling attempt. Pods that their spec can hold back do not
// count, nor do pods that lost their turn to a newer pod. The order of the queue is priority, then
// age.
func (r *podGuards) schedulerSilent(victim *corev1.Pod) bool {
	for _, p := range r.before.objects.Pods {
		if !r.isLate(p) || profileName(p) != profileName(victim) {
			continue
		}
		lostTurn := slices.ContainsFunc(r.before.objects.Pods, func(q *corev1.Pod) bool {
			return profileName(q) == profileName(p) && q.CreationTimestamp.After(p.CreationTimestamp.Time) && r.before.wasTried(q) &&
				(specPriority(q) <= specPriority(p) ||
					specPriority(p) < specPriority(victim) && r.before.now.Sub(q.CreationTimestamp.Time) <= schedulerTimeout)
		})
		if !lostTurn {
			return true
		}
	}
	return false
}

// isLate reports whether the pod has waited longer than schedulerTimeout and its spec does not explain why.
func (r *podGuards) isLate(p *corev1.Pod) bool {
	untried := !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	held := len(p.Spec.SchedulingGates) > 0 || len(p.Spec.ResourceClaims) > 0 || p.Spec.SchedulingGroup != nil
	return untried && !held && p.Spec.NodeName == "" && p.DeletionTimestamp == nil && !isTerminal(p) &&
		!p.CreationTimestamp.IsZero() && r.before.now.Sub(p.CreationTimestamp.Time) > schedulerTimeout
}

// wasTried reports whether only a scheduler can have written the PodScheduled condition. On a bound pod, that needs a
// known controller whose template names no node.
func (w *clusterIndex) wasTried(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		if c.Type != corev1.PodScheduled {
			return false
		}
		low := w.chains[key(p)].lowest()
		return c.Status == corev1.ConditionFalse && c.Reason != "SchedulingGated" ||
			c.Status == corev1.ConditionTrue && low != nil && low.object != nil && low.template().Spec.NodeName == ""
	})
}

func profileName(p *corev1.Pod) string { return cmp.Or(p.Spec.SchedulerName, "default-scheduler") }

func specPriority(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

func (w *clusterIndex) priority(p *corev1.Pod) (value int64, known bool) {
	if p.Spec.Priority != nil {
		return int64(*p.Spec.Priority), true
	}
	if p.Spec.PriorityClassName == "" {
		return 0, true
	}
	return w.priorityClass(p.Spec.PriorityClassName)
}

func (r *podGuards) priorityLimit() (int64, bool) {
	if n, err := strconv.ParseInt(r.rules.PriorityBelow, 10, 64); err == nil {
		return n, true
	}
	return r.before.priorityClass(r.rules.PriorityBelow)
}

// priorityClass returns the value of a PriorityClass. The two built-in PriorityClasses exist in every cluster.
func (w *clusterIndex) priorityClass(name string) (int64, bool) {
	for _, c := range w.objects.PriorityClasses {
		if c.Name == name {
			return int64(c.Value), true
		}
	}
	switch name {
	case "system-cluster-critical":
		return criticalPriority, true
	case "system-node-critical":
		return criticalPriority + 1000, true
	}
	return 0, false
}

// matchesAny reports whether a pattern, such as openshift-*, matches the name.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}

// checkNamespaceAndNode checks the namespace and the node of the pod.
func (r *podGuards) checkNamespaceAndNode(p *corev1.Pod, add rejectFunc) {
	c := r.rules
	space := r.before.namespaces[p.Namespace]
	add(len(c.Include) > 0 && !matchesAny(c.Include, p.Namespace), plan.NamespaceExcluded, "its namespace is not included")
	add(matchesAny(c.Exclude, p.Namespace), plan.NamespaceExcluded, "its namespace is excluded")
	add(c.NamespaceSelector != nil && (space == nil || !c.NamespaceSelector.Matches(labels.Set(space.Labels))), plan.NamespaceExcluded,
		"its namespace is not selected")

	n := r.before.nodes[p.Spec.NodeName]
	if n == nil {
		return
	}
	add(!r.rules.selectedByNodeSelector(n), plan.NodeOutOfScope, "its node is out of scope")
	add(r.rules.IsVirtual(n), plan.VirtualNode, "its node is virtual")
	add(!isReadyNode(n), plan.NodeNotReady, "its node is not Ready")
	mark := r.rules.NodeMarks.Marked(n, "removing")
	add(mark != "", plan.NodeBeingDisrupted, "its node has "+mark)
	add(r.isDrained(n), plan.NodeBeingDrained, "its node is being drained")
	for _, b := range c.BlockingPods {
		for _, other := range r.before.objects.Pods {
			add(other.Spec.NodeName == n.Name && !isTerminal(other) && b.Namespace == other.Namespace &&
				b.Selector.Matches(labels.Set(other.Labels)), plan.BlockedByPod, other.Name+" runs on its node")
		}
	}
	for _, kv := range []map[string]string{n.Annotations, n.Labels} {
		v, there := kv["evenkeel.io/exclude"]
		add(there && v != "false", plan.NodeExcluded, "its node has evenkeel.io/exclude: "+v)
		for k := range kv {
			name, ours := strings.CutPrefix(k, "evenkeel.io/")
			add(ours && !slices.Contains([]string{"exclude", "drain-first", "pressure", "steer"}, name), plan.RequestUnreadable,
				"its node has the unknown key "+k)
		}
	}
}

// isDrained reports whether the node has a mark of a drain, or is cordoned while the eviction of a
// pod on it runs that no open run has requested.
func (r *podGuards) isDrained(n *corev1.Node) bool {
	if r.rules.NodeMarks.Marked(n, "draining") != "" {
		return true
	}
	own := map[string]bool{}
	for _, run := range r.rules.State.Runs {
		for _, x := range run.Reservations {
			own[x.Pod.UID] = true
		}
	}
	return n.Spec.Unschedulable && slices.ContainsFunc(r.before.objects.Pods, func(p *corev1.Pod) bool {
		return p.Spec.NodeName == n.Name && isTerminating(p) && !isTerminal(p) && !own[string(p.UID)] &&
			slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.DisruptionTarget && c.Reason == "EvictionByEvictionAPI"
			})
	})
}

// checkTarget checks that pods may be sent to the node on which the replacement should land.
func (r *verifier) checkTarget(c call) {
	n := r.before.nodes[c.move.To]
	if n == nil {
		return
	}
	if r.rules.IsVirtual(n) {
		r.report(c.move, plan.VirtualNode, "the target %s is virtual", n.Name)
	}
	if code, why := r.targets().Pod(c.pod, n); code != "" {
		r.report(c.move, code, "the target %s %s", n.Name, why)
	}
}

func (r *verifier) targets() targets.Cluster {
	return targets.Cluster{Pods: r.before.pods, Nodes: r.before.nodes, NewArchitectures: r.rules.NewArchitectures,
		Marks: r.rules.NodeMarks, Objects: r.before.objects, SameWorkload: func(p, q *corev1.Pod) bool {
			id := r.before.chains[key(p)].id
			return id != "" && id == r.before.chains[key(q)].id
		}}
}
