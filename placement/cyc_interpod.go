package placement

import "fmt"

// TermWithTopology is a count by domain that a filter or score reads.
type TermWithTopology struct {
	pods     *PodCounter
	Topology *Topology
	weight   int64
}

// InterPodTerms is what inter-pod affinity means for an incoming class.
type InterPodTerms struct {
	required     []TermWithTopology // all of one counter: pods that match every term
	matchesSelf  bool
	anti         []TermWithTopology
	existingAnti []TermWithTopology
	scored       []TermWithTopology
}

func InterPodTermsOf(w *Cluster, c *EquivalenceClass) (InterPodTerms, error) {
	var ip InterPodTerms
	p := c.profile
	t, err := ReadTerms(c.namespace, c.sample.Object.Spec.Affinity)
	if err != nil {
		return ip, err
	}
	if len(t.affinity) > 0 && !p.Off[InterPodAffinity] {
		all := w.CounterOfTerms(t.affinity)
		for i := range t.affinity {
			ip.required = append(ip.required, TermWithTopology{pods: all, Topology: w.TopologyOf(t.affinity[i].key)})
		}
		ip.matchesSelf = w.MatchesAllTerms(t.affinity, c)
	}
	for i := range t.anti {
		if p.Off[InterPodAffinity] {
			break
		}
		ip.anti = append(ip.anti, TermWithTopology{pods: w.CounterOfTerms(t.anti[i : i+1]), Topology: w.TopologyOf(t.anti[i].key)})
	}
	for i := range t.preferred {
		ip.scored = append(ip.scored, TermWithTopology{pods: w.CounterOfTerms(t.preferred[i : i+1]), Topology: w.TopologyOf(t.preferred[i].key), weight: t.Weights[i]})
	}
	for _, o := range w.AntiAffinityTerms {
		if !p.Off[InterPodAffinity] && w.MatchesTerm(&o.AffinityTerm, c) {
			ip.existingAnti = append(ip.existingAnti, TermWithTopology{pods: o.Pods, Topology: w.TopologyOf(o.key)})
		}
	}
	if p.IgnorePreferredTerms && len(t.preferred) == 0 {
		return ip, nil
	}
	for _, o := range w.ScoredTerms {
		weight := o.weight
		if weight == 0 {
			weight = p.HardPodAffinityWeight
		}
		if weight != 0 && w.MatchesTerm(&o.AffinityTerm, c) {
			ip.scored = append(ip.scored, TermWithTopology{pods: o.Pods, Topology: w.TopologyOf(o.key), weight: weight})
		}
	}
	return ip, nil
}

// namespaceLabelsUnknown says why the labels of namespaces, which some term reads,
// are not all known; empty when no term reads one that is not.
func namespaceLabelsUnknown(w *Cluster, c *EquivalenceClass) string {
	for _, list := range [...][]*ExistingTerm{w.AntiAffinityTerms, w.ScoredTerms} {
		for _, o := range list {
			if _, known := w.NamespaceLabels[c.namespace]; !known && o.needsNamespaces() {
				return fmt.Sprintf("an affinity term selects namespaces by label, and those of %s are not known", c.namespace)
			}
		}
	}
	t, _ := ReadTerms(c.namespace, c.sample.Object.Spec.Affinity)
	for _, list := range [...][]AffinityTerm{t.affinity, t.anti, t.preferred} {
		for i := range list {
			if w.UnknownNamespace != "" && list[i].needsNamespaces() {
				return fmt.Sprintf("its affinity selects namespaces by label, and those of %s are not known", w.UnknownNamespace)
			}
		}
	}
	return ""
}
