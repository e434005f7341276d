package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/plan"
)

// If a ResourceQuota refuses the replacement, the workload loses a replica. The rule follows the admission plugin
// ResourceQuota (CheckRequest) and its evaluator of pods:
//
//   - A terminating pod counts until it is gone. A ReplicaSet, a ReplicationController and most Jobs create the
//     replacement before that, so the quota needs room for both. A StatefulSet waits, so only its quota must not be
//     exceeded. Controllers that Evenkeel does not know are assumed to create it before that.
//   - Scopes and scope selectors decide which quotas apply.
//   - The replacement has the resources of the pod or of the template, whichever is larger.
//   - If a quota on cpu or memory applies, each container must specify the resource.
//   - If the status of a quota is incomplete, the API server refuses the pod.
//
// The rule does not read the quotas on claims of ephemeral volumes, nor quotas that an AdmissionConfiguration requires
// (limitedResources).
var resourceQuota = Rule{plan.ReplacementRefused, PodScope, func(in Input) (string, bool) {
	return in.Cache.quotaRefusal(in.Snapshot, in.Pod)
}}

// QuotaCharges is what pods in flight take from quotas: their replacements exist while they still terminate.
type QuotaCharges map[*corev1.ResourceQuota]corev1.ResourceList

// quotaRefusal returns the reason if a ResourceQuota has no room for the replacement of the pod.
func (c *Cache) quotaRefusal(s *cluster.Snapshot, p *cluster.Pod) (string, bool) {
	quotas := c.quotasFor(s, p)
	if len(quotas) == 0 {
		return "", false
	}
	need, freed := replacementUsage(s, p), corev1.ResourceList{}
	if waitsForName(p) {
		freed = podUsage(p.Object, s.Scheduler)
	}
	for _, q := range quotas {
		for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
			if !isPodResource(name) {
				continue
			}
			if c := containerWithout(p, name); c != "" {
				return fmt.Sprintf("ResourceQuota %s refuses pods whose containers do not specify %s, and container %s does not",
					q.Name, name, c), true
			}
			if why := shortage(q, name, need, freed); why != "" {
				return why, true
			}
		}
	}
	return "", false
}

// shortage returns why a quota has too little of a resource, or "". need is what the replacement takes, freed is what
// the evicted pod returns before that.
func shortage(q *corev1.ResourceQuota, name corev1.ResourceName, need, freed corev1.ResourceList) string {
	hard, known := lowestHard(q, name)
	used, counted := q.Status.Used[name]
	if !known || !counted {
		return fmt.Sprintf("the status of ResourceQuota %s does not say how much %s is used", q.Name, name)
	}
	more, needed := need[name]
	if !needed || more.IsZero() {
		return ""
	}
	total := used.DeepCopy()
	total.Add(more)
	total.Sub(freed[name])
	if total.Cmp(hard) <= 0 {
		return ""
	}
	return fmt.Sprintf("ResourceQuota %s has no room for the replacement (%s): %s used, %s needed, %s allowed",
		q.Name, name, used.String(), more.String(), hard.String())
}

// quotaRoom is what a quota has left after the replacement of one pod, for the resources that the replacement takes.
type quotaRoom struct {
	quota *corev1.ResourceQuota
	left  corev1.ResourceList
}

// HasQuotaRoom reports whether the quotas have room for the replacements in charges besides that of the pod. The
// rule resourceQuota must have allowed the eviction of the pod.
func (c *Cache) HasQuotaRoom(s *cluster.Snapshot, p *cluster.Pod, charges QuotaCharges) bool {
	if len(charges) == 0 {
		return true
	}
	rooms, known := c.quotaRooms[p.ID]
	if !known {
		rooms = c.findQuotaRooms(s, p)
		c.quotaRooms[p.ID] = rooms
	}
	for _, r := range rooms {
		charged := charges[r.quota]
		for name, left := range r.left {
			if q, ok := charged[name]; ok && q.Cmp(left) > 0 {
				return false
			}
		}
	}
	return true
}

func (c *Cache) findQuotaRooms(s *cluster.Snapshot, p *cluster.Pod) (rooms []quotaRoom) {
	quotas := c.quotasFor(s, p)
	if len(quotas) == 0 {
		return nil
	}
	need, freed := replacementUsage(s, p), corev1.ResourceList{}
	if waitsForName(p) {
		freed = podUsage(p.Object, s.Scheduler)
	}
	for _, q := range quotas {
		r := quotaRoom{q, corev1.ResourceList{}}
		for name := range q.Spec.Hard {
			more, needed := need[name]
			if !isPodResource(name) || !needed || more.IsZero() {
				continue
			}
			hard, _ := lowestHard(q, name)
			left := hard.DeepCopy() // a large Quantity shares its digits with plain copies
			left.Sub(q.Status.Used[name])
			left.Sub(more)
			left.Add(freed[name])
			r.left[name] = left
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// ChargeQuotas adds the replacement of the pod to the charges, unless it is created after the pod is gone.
func (c *Cache) ChargeQuotas(s *cluster.Snapshot, p *cluster.Pod, charges QuotaCharges) {
	if waitsForName(p) {
		return
	}
	for _, q := range c.quotasFor(s, p) {
		sum := charges[q].DeepCopy()
		if sum == nil {
			sum = corev1.ResourceList{}
		}
		for name, more := range replacementUsage(s, p) {
			n := sum[name]
			n.Add(more)
			sum[name] = n
		}
		charges[q] = sum
	}
}

// quotasFor returns the quotas of the pod's namespace whose scopes match the pod.
func (c *Cache) quotasFor(s *cluster.Snapshot, p *cluster.Pod) []*corev1.ResourceQuota {
	if c.quotas == nil {
		c.quotas = map[string][]*corev1.ResourceQuota{}
		for _, q := range s.Objects.ResourceQuotas {
			c.quotas[q.Namespace] = append(c.quotas[q.Namespace], q)
		}
		for _, list := range c.quotas {
			slices.SortFunc(list, func(a, b *corev1.ResourceQuota) int { return strings.Compare(a.Name, b.Name) })
		}
	}
	if len(c.quotas) == 0 {
		return nil
	}
	var out []*corev1.ResourceQuota
	for _, q := range c.quotas[p.Object.Namespace] {
		if matchesScopes(q, p.Object, s.Scheduler) {
			out = append(out, q)
		}
	}
	return out
}

// waitsForName reports whether the controller creates the replacement when the pod is gone.
func waitsForName(p *cluster.Pod) bool {
	if len(p.Owners) == 0 {
		return false
	}
	_, ok := p.Owners[0].(*appsv1.StatefulSet)
	return ok
}

func matchesScopes(q *corev1.ResourceQuota, p *corev1.Pod, features kubeversion.Features) bool {
	for _, scope := range q.Spec.Scopes {
		r := corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}
		if !matchesScope(r, p, features) {
			return false
		}
	}
	if q.Spec.ScopeSelector != nil {
		for _, r := range q.Spec.ScopeSelector.MatchExpressions {
			if !matchesScope(r, p, features) {
				return false
			}
		}
	}
	return true
}

// matchesScope reports whether a scope of a quota matches the pod. Only the scope PriorityClass uses the operator.
func matchesScope(r corev1.ScopedResourceSelectorRequirement, p *corev1.Pod, features kubeversion.Features) bool {
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating:
		d := p.Spec.ActiveDeadlineSeconds
		return (d != nil && *d >= 0) == (r.ScopeName == corev1.ResourceQuotaScopeTerminating)
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort:
		return isBestEffort(p, features) == (r.ScopeName == corev1.ResourceQuotaScopeBestEffort)
	case corev1.ResourceQuotaScopePriorityClass:
		class := p.Spec.PriorityClassName
		switch r.Operator {
		case corev1.ScopeSelectorOpIn:
			return class != "" && slices.Contains(r.Values, class)
		case corev1.ScopeSelectorOpNotIn:
			return class == "" || !slices.Contains(r.Values, class)
		case corev1.ScopeSelectorOpDoesNotExist:
			return class == ""
		}
		return class != ""
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return hasCrossNamespaceAffinity(p.Spec.Affinity)
	}
	return false
}

// isBestEffort reports whether no container has requests or limits of cpu and memory.
func isBestEffort(p *corev1.Pod, features kubeversion.Features) bool {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass == corev1.PodQOSBestEffort
	}
	usage := podUsage(p, features)
	for _, name := range [...]corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	} {
		if q, ok := usage[name]; ok && !q.IsZero() {
			return false
		}
	}
	return true
}

func hasCrossNamespaceAffinity(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	crosses := func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
	crossesWeighted := func(t corev1.WeightedPodAffinityTerm) bool { return crosses(t.PodAffinityTerm) }
	if x := a.PodAffinity; x != nil && (slices.ContainsFunc(x.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(x.PreferredDuringSchedulingIgnoredDuringExecution, crossesWeighted)) {
		return true
	}
	x := a.PodAntiAffinity
	return x != nil && (slices.ContainsFunc(x.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(x.PreferredDuringSchedulingIgnoredDuringExecution, crossesWeighted))
}

// isPodResource reports whether a quota on the resource counts pods or their requests and limits.
// It follows MatchingResources of the evaluator of pods. No other key is enforced, and the status
// never says how much of it is used.
func isPodResource(name corev1.ResourceName) bool {
	switch name {
	case "count/pods", corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	of, requests := strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	extended := strings.Contains(of, "/") && !strings.Contains(of, corev1.ResourceDefaultNamespacePrefix)
	return strings.HasPrefix(of, corev1.ResourceHugePagesPrefix) ||
		requests && (extended || strings.HasPrefix(of, resourcev1.ResourceDeviceClassPrefix))
}

// containerWithout returns a container that lacks a resource which the quota requires of every container.
func containerWithout(p *cluster.Pod, name corev1.ResourceName) string {
	if resource.IsPodLevelResourcesSet(p.Object) {
		return ""
	}
	for _, list := range [][]corev1.Container{p.Object.Spec.Containers, p.Object.Spec.InitContainers} {
		for i := range list {
			r, there := &list[i].Resources, true
			switch name {
			case corev1.ResourceCPU, corev1.ResourceRequestsCPU:
				_, there = r.Requests[corev1.ResourceCPU]
			case corev1.ResourceMemory, corev1.ResourceRequestsMemory:
				_, there = r.Requests[corev1.ResourceMemory]
			case corev1.ResourceLimitsCPU:
				_, there = r.Limits[corev1.ResourceCPU]
			case corev1.ResourceLimitsMemory:
				_, there = r.Limits[corev1.ResourceMemory]
			}
			if !there {
				return list[i].Name
			}
		}
	}
	return ""
}

// lowestHard returns the limit of a quota. The status may lag behind the spec.
func lowestHard(q *corev1.ResourceQuota, name corev1.ResourceName) (resourceapi.Quantity, bool) {
	spec, status := q.Spec.Hard[name], q.Status.Hard[name]
	_, known := q.Status.Hard[name]
	if status.Cmp(spec) < 0 {
		return status, known
	}
	return spec, known
}

// replacementUsage returns what the replacement takes from quotas: the larger amounts of the pod and of the template.
// Admission may add amounts to the template, and a pod may have been resized.
func replacementUsage(s *cluster.Snapshot, p *cluster.Pod) corev1.ResourceList {
	usage := podUsage(p.Object, s.Scheduler)
	if t := PodTemplate(p); t != nil {
		for name, q := range podUsage(&corev1.Pod{Spec: t.Spec}, s.Scheduler) {
			if own := usage[name]; q.Cmp(own) > 0 {
				usage[name] = q
			}
		}
	}
	return usage
}

// podUsage returns what a pod takes from quotas, by the resource names of quotas. Quotas count a resize like the
// scheduler of the same version, but never pod-level resources of the status. Pod-level resources of the spec always
// count, because an API server 1.33 drops them unless its feature gate is on.
func podUsage(p *corev1.Pod, features kubeversion.Features) corev1.ResourceList {
	features.PodLevelResources, features.PodLevelStatuses = true, false
	one := *resourceapi.NewQuantity(1, resourceapi.DecimalSI)
	usage := corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one}
	for name, q := range cluster.RequestsOnNode(p, features) {
		usage["requests."+name] = q
		if !strings.Contains(string(name), "/") { // cpu, memory, ephemeral-storage, hugepages-*
			usage[name] = q
		}
	}
	for name, q := range cluster.LimitsOnNode(p, features) {
		usage["limits."+name] = q
	}
	return usage
}
