package fit

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// spreadRule is a required topology spread constraint of a pod.
type spreadRule struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
	domainOf map[string]string // domains of the nodes that the constraint counts, by node
}

// isOver reports whether the pod is terminating or has ended.
func isOver(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// counts returns the domain in which the constraint counts the pod; empty if it does not count it.
// A terminating pod does not count.
func (s *spreadRule) counts(p *corev1.Pod, namespace string) string {
	if p.Namespace != namespace || isOver(p) || !s.selector.Matches(labels.Set(p.Labels)) {
		return ""
	}
	return s.domainOf[p.Spec.NodeName]
}

// unevenSpread returns the required topology spread constraint that the pod violates on its node in
// an order of the wave; empty if there is none. In the worst order, the other pods of the wave count
// wherever that is in the pod's domain, and otherwise nowhere, because they terminate.
func (r *Cluster) unevenSpread(pod *corev1.Pod, settled []*corev1.Pod, wave []Replaced) string {
	for _, s := range r.spreadRules(pod) {
		here := s.domainOf[pod.Spec.NodeName]
		if here == "" {
			return "topology spread does not count the node by " + s.TopologyKey
		}
		count := map[string]int{}
		for _, domain := range s.domainOf {
			count[domain] = 0
		}
		for _, p := range settled {
			if domain := s.counts(p, pod.Namespace); domain != "" {
				count[domain]++
			}
		}
		skew := count[here]
		if s.selector.Matches(labels.Set(pod.Labels)) {
			skew++
		}
		for _, w := range wave {
			if s.counts(w.Old, pod.Namespace) == here || s.counts(w.Next, pod.Namespace) == here {
				skew++
			}
		}
		switch delete(count, here); {
		case len(count)+1 < int(ptr.Deref(s.MinDomains, 1)): // the scheduler takes 0 as the lowest count
		case len(count) == 0:
			continue
		default:
			skew -= slices.Min(slices.Collect(maps.Values(count)))
		}
		if skew > int(s.MaxSkew) {
			return fmt.Sprintf("topology spread by %s would have a skew of %d, above %d", s.TopologyKey, skew, s.MaxSkew)
		}
	}
	return ""
}

// spreadRules returns the required topology spread constraints of a pod. A constraint counts the
// nodes that have the topology keys of all of them and that its inclusion policies select.
func (r *Cluster) spreadRules(pod *corev1.Pod) (out []spreadRule) {
	keys := map[string]bool{}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			continue // an API server refuses it
		}
		for _, k := range c.MatchLabelKeys {
			if v, ok := pod.Labels[k]; ok {
				same, _ := labels.SelectorFromSet(labels.Set{k: v}).Requirements()
				selector = selector.Add(same...)
			}
		}
		keys[c.TopologyKey] = true
		out = append(out, spreadRule{c, selector, map[string]string{}})
	}
	for _, n := range r.Nodes {
		for _, s := range out {
			if hasLabels(n, keys) && includes(&s.TopologySpreadConstraint, pod, n) {
				s.domainOf[n.Name] = n.Labels[s.TopologyKey]
			}
		}
	}
	return out
}

func hasLabels(n *corev1.Node, keys map[string]bool) bool {
	for k := range keys {
		if _, has := n.Labels[k]; !has {
			return false
		}
	}
	return true
}

// includes reports whether the inclusion policies of a constraint select the node.
func includes(c *corev1.TopologySpreadConstraint, pod *corev1.Pod, n *corev1.Node) bool {
	if ptr.Deref(c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor {
		if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n); !ok || err != nil {
			return false
		}
	}
	if ptr.Deref(c.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor {
		repels := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
		_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, pod.Spec.Tolerations, repels, true)
		return !untolerated
	}
	return true
}

// unmetAffinity returns the required affinity of the pod that no pod meets on its node in an order of
// the wave; empty if it is always met. Every other pod of the wave may be gone while its replacement
// is not placed, so pods outside the wave must meet each term. If no pod in the cluster matches the
// terms, a pod that matches its own terms fits everywhere. A pod of the wave must not end that.
func (r *Cluster) unmetAffinity(pod *corev1.Pod, settled []*corev1.Pod, wave []Replaced) string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return ""
	}
	terms := pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	unmet := slices.Clone(terms)
	for _, t := range terms {
		if _, ok := r.Nodes[pod.Spec.NodeName].Labels[t.TopologyKey]; !ok {
			return "required affinity finds no label " + t.TopologyKey
		}
	}
	matchedAnywhere := false
	for _, p := range settled {
		if r.matchesAll(terms, pod, p) && r.hasAnyKey(terms, p) {
			matchedAnywhere = true
			unmet = slices.DeleteFunc(unmet, func(t corev1.PodAffinityTerm) bool { return r.sameDomain(t.TopologyKey, pod, p) })
		}
	}
	if len(unmet) == 0 {
		return ""
	}
	if matchedAnywhere || !r.matchesAll(terms, pod, pod) {
		return "required affinity by " + unmet[0].TopologyKey + " finds no pod that stays"
	}
	for _, p := range r.withAll(nil, wave) {
		for _, t := range terms {
			if r.matchesAll(terms, pod, p) && r.hasAnyKey(terms, p) && !r.sameDomain(t.TopologyKey, pod, p) {
				return "required affinity by " + t.TopologyKey + " draws it to " + key(p)
			}
		}
	}
	return ""
}

// matchesAll reports whether q matches all affinity terms of p, regardless of the node.
func (r *Cluster) matchesAll(terms []corev1.PodAffinityTerm, p, q *corev1.Pod) bool {
	return !slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !r.TermSelects(t, p, q) })
}

// hasAnyKey reports whether the pod's node has the topology key of a term.
func (r *Cluster) hasAnyKey(terms []corev1.PodAffinityTerm, p *corev1.Pod) bool {
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool {
		_, ok := r.Nodes[p.Spec.NodeName].Labels[t.TopologyKey]
		return ok
	})
}

// sameDomain reports whether the nodes of both pods are in one domain of a topology key.
func (r *Cluster) sameDomain(topologyKey string, p, q *corev1.Pod) bool {
	here, ok := r.Nodes[p.Spec.NodeName].Labels[topologyKey]
	there, known := r.Nodes[q.Spec.NodeName].Labels[topologyKey]
	return ok && known && here == there
}
