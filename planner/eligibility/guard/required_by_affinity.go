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

// A standing pod stays where it is when the one that its required podAffinity asks for
// goes (IgnoredDuringExecution): it would run on without it.
var requiredByAffinity = Rule{plan.RequiredByAffinity, podScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectRequired] {
		return "", false
	}
	return in.leans().last(nil, in.Pod.ID)
}}

func (in Input) leans() *leans {
	if in.Cache == nil {
		return leansOf(in.Snapshot)
	}
	return in.Cache.leansOn(in.Snapshot)
}

func (m *Cache) leansOn(s *cluster.Snapshot) *leans {
	if m.leans == nil {
		m.leans = leansOf(s)
	}
	return m.leans
}

// EvictionCounts counts, by requirement, the pods that satisfied it and are gone.
type EvictionCounts map[int]int

// RecordEviction notes that a pod of the snapshot has left its node.
func (m *Cache) RecordEviction(s *cluster.Snapshot, taken EvictionCounts, pod cluster.PodID) {
	for _, r := range m.leansOn(s).of[pod] {
		taken[r]++
	}
}

// LastRequired says who would be left without the pod, once those taken are gone.
func (m *Cache) LastRequired(s *cluster.Snapshot, taken EvictionCounts, pod cluster.PodID) (string, bool) {
	return m.leansOn(s).last(taken, pod)
}

// leans are what standing pods require beside them: by pod, the requirements that it
// satisfies; by requirement, how many pods do, and who has it.
type leans struct {
	of  map[cluster.PodID][]int
	all []int
	who []string
}

// last reports whether the pod is the only one left that satisfies a requirement.
func (l *leans) last(taken EvictionCounts, pod cluster.PodID) (string, bool) {
	for _, r := range l.of[pod] {
		if l.all[r]-taken[r] < 2 {
			return l.who[r], true
		}
	}
	return "", false
}

// leansOf finds the terms of standing pods' required podAffinity, each once for every
// domain in which one with it stands. Terms that the pod itself satisfies are left out:
// its like may begin anywhere. O(pods) and, for each term and domain, O(pods of the
// domain).
func leansOf(s *cluster.Snapshot) *leans {
	l, seen, spaces := &leans{of: map[cluster.PodID][]int{}}, map[[2]string]bool{}, namespaces(s)
	nodes, terms := map[string]map[string][]cluster.NodeID{}, map[string]func(*corev1.Pod) bool{} // nodes by topology key, by domain
	for i := range s.Pods {
		p := &s.Pods[i]
		a := p.Object.Spec.Affinity
		if a == nil || a.PodAffinity == nil || p.Node == cluster.NoNode || p.Terminal || p.Terminating {
			continue
		}
		for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			domain, there := s.Nodes[p.Node].Label(t.TopologyKey)
			term := p.Object.Namespace + "/" + t.String()
			at := [2]string{term, domain}
			if !there || seen[at] {
				continue
			}
			matches, known := terms[term]
			if !known {
				matches = satisfies(t, p.Object.Namespace, spaces)
				terms[term] = matches
			}
			if matches == nil || matches(p.Object) {
				continue // others with this term may still require another pod
			}
			seen[at] = true
			if nodes[t.TopologyKey] == nil {
				nodes[t.TopologyKey] = byDomain(s, t.TopologyKey)
			}
			l.add(s, nodes[t.TopologyKey][domain], matches, fmt.Sprintf("%s/%s on %s requires it beside itself (podAffinity over %s), and would run on without",
				p.Object.Namespace, p.Object.Name, s.Nodes[p.Node].Name, t.TopologyKey))
		}
	}
	return l
}

// add counts who satisfies one more requirement on these nodes.
func (l *leans) add(s *cluster.Snapshot, nodes []cluster.NodeID, matches func(*corev1.Pod) bool, who string) {
	r := len(l.all)
	l.all, l.who = append(l.all, 0), append(l.who, who)
	for _, n := range nodes {
		for _, id := range s.Nodes[n].Pods {
			if p := &s.Pods[id]; !p.Terminal && !p.Terminating && matches(p.Object) {
				l.all[r]++
				l.of[id] = append(l.of[id], r)
			}
		}
	}
}

func namespaces(s *cluster.Snapshot) map[string]labels.Set {
	out := map[string]labels.Set{}
	if s.Objects != nil {
		for _, ns := range s.Objects.Namespaces {
			out[ns.Name] = ns.Labels
		}
	}
	return out
}

func byDomain(s *cluster.Snapshot, key string) map[string][]cluster.NodeID {
	out := map[string][]cluster.NodeID{}
	for i := range s.Nodes {
		if v, ok := s.Nodes[i].Label(key); ok {
			out[v] = append(out[v], s.Nodes[i].ID)
		}
	}
	return out
}

// satisfies is the term as a question; nil: it cannot be read, so that no pod would be
// scheduled by it.
func satisfies(t *corev1.PodAffinityTerm, own string, spaces map[string]labels.Set) func(*corev1.Pod) bool {
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
		in := slices.Contains(t.Namespaces, p.Namespace) || ownOnly && p.Namespace == own || selected.Matches(spaces[p.Namespace])
		return in && pods.Matches(labels.Set(p.Labels))
	}
}
