package guard

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Kubernetes does not evict a pod whose required podAffinity is no longer met (IgnoredDuringExecution). Without this
// rule such a pod would keep running without the pod that it requires.
var requiredByAffinity = Rule{plan.RequiredByAffinity, PlanScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectRequired] {
		return "", false
	}
	return in.Cache.IsLastRequiredByAffinity(in.Snapshot, nil, in.Pod.ID)
}}

// EvictionCounts counts evicted pods by the index of the affinity requirement that they matched.
type EvictionCounts map[int]int

// affinityRequirements are the required podAffinity terms of bound pods. A requirement is one term in one topology
// domain.
type affinityRequirements struct {
	byPod    map[cluster.PodID][]int // the requirements that a pod matches
	matches  []int                   // the number of matching pods, by requirement
	messages []string                // the pod with the requirement, by requirement
}

// affinityRequirements returns the required pod affinity terms of the snapshot.
func (c *Cache) affinityRequirements(s *cluster.Snapshot) *affinityRequirements {
	if c.requirements == nil {
		c.requirements = findAffinityRequirements(s)
	}
	return c.requirements
}

// RecordEviction adds an evicted pod of the snapshot to the counts.
func (c *Cache) RecordEviction(s *cluster.Snapshot, evicted EvictionCounts, pod cluster.PodID) {
	for _, r := range c.affinityRequirements(s).byPod[pod] {
		evicted[r]++
	}
}

// IsLastRequiredByAffinity reports whether this pod is the only pod that another pod's required
// podAffinity still matches after the counted evictions. The message names the other pod.
func (c *Cache) IsLastRequiredByAffinity(s *cluster.Snapshot, evicted EvictionCounts, pod cluster.PodID) (message string, required bool) {
	a := c.affinityRequirements(s)
	for _, r := range a.byPod[pod] {
		if a.matches[r]-evicted[r] < 2 {
			return a.messages[r], true
		}
	}
	return "", false
}

// findAffinityRequirements collects each term once per topology domain. It skips the terms that the pod itself matches,
// because the scheduler may place the first such pod on any node. Complexity: O(pods) and, for each term and domain,
// O(pods of the domain).
func findAffinityRequirements(s *cluster.Snapshot) *affinityRequirements {
	a := &affinityRequirements{byPod: map[cluster.PodID][]int{}}
	seen, namespaces := map[[2]string]bool{}, namespaceLabels(s)
	nodes := map[string]map[string][]cluster.NodeID{} // by topology key, then by domain
	terms := map[string]func(*corev1.Pod) bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		affinity := p.Object.Spec.Affinity
		if affinity == nil || affinity.PodAffinity == nil || p.Node == cluster.NoNode || p.Terminal || p.Terminating {
			continue
		}
		for k := range affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			domain, hasLabel := s.Nodes[p.Node].Label(t.TopologyKey)
			term := p.Object.Namespace + "/" + t.String()
			if !hasLabel || seen[[2]string{term, domain}] {
				continue
			}
			matches, known := terms[term]
			if !known {
				matches = termMatcher(t, p.Object.Namespace, namespaces)
				terms[term] = matches
			}
			if matches == nil || matches(p.Object) {
				continue // another pod with the same term may not match it, so the term is not seen yet
			}
			seen[[2]string{term, domain}] = true
			if nodes[t.TopologyKey] == nil {
				nodes[t.TopologyKey] = nodesByDomain(s, t.TopologyKey)
			}
			a.addRequirement(s, nodes[t.TopologyKey][domain], matches, fmt.Sprintf(
				"%s/%s on %s requires the pod through podAffinity (topologyKey %s) and would keep running without it",
				p.Object.Namespace, p.Object.Name, s.Nodes[p.Node].Name, t.TopologyKey))
		}
	}
	return a
}

// addRequirement appends a requirement and counts the matching pods on these nodes.
func (a *affinityRequirements) addRequirement(s *cluster.Snapshot, nodes []cluster.NodeID, matches func(*corev1.Pod) bool, message string) {
	r := len(a.matches)
	a.matches, a.messages = append(a.matches, 0), append(a.messages, message)
	for _, n := range nodes {
		for _, id := range s.Nodes[n].Pods {
			if p := &s.Pods[id]; !p.Terminal && !p.Terminating && matches(p.Object) {
				a.matches[r]++
				a.byPod[id] = append(a.byPod[id], r)
			}
		}
	}
}

func namespaceLabels(s *cluster.Snapshot) map[string]labels.Set {
	out := map[string]labels.Set{}
	if s.Objects != nil {
		for _, ns := range s.Objects.Namespaces {
			out[ns.Name] = ns.Labels
		}
	}
	return out
}

func nodesByDomain(s *cluster.Snapshot, topologyKey string) map[string][]cluster.NodeID {
	out := map[string][]cluster.NodeID{}
	for i := range s.Nodes {
		if domain, ok := s.Nodes[i].Label(topologyKey); ok {
			out[domain] = append(out[domain], s.Nodes[i].ID)
		}
	}
	return out
}

// termMatcher returns a function that reports whether a pod matches the term. If a selector is invalid, it returns nil,
// because no scheduler places a pod with such a term.
func termMatcher(t *corev1.PodAffinityTerm, ownNamespace string, namespaces map[string]labels.Set) func(*corev1.Pod) bool {
	pods, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return nil
	}
	selected := labels.Nothing()
	if t.NamespaceSelector != nil {
		if selected, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
			return nil
		}
	}
	ownOnly := len(t.Namespaces) == 0 && t.NamespaceSelector == nil
	return func(p *corev1.Pod) bool {
		in := slices.Contains(t.Namespaces, p.Namespace) || ownOnly && p.Namespace == ownNamespace || selected.Matches(namespaces[p.Namespace])
		return in && pods.Matches(labels.Set(p.Labels))
	}
}
