package placement

import "fmt"

// placedTerm is a count by domain that a filter or score reads.
type placedTerm struct {
	pods   *counter
	topo   *topology
	weight int64
}

// interPod is what inter-pod affinity means for an incoming class.
type interPod struct {
	required     []placedTerm // all of one counter: pods that match every term
	matchesSelf  bool
	anti         []placedTerm
	existingAnti []placedTerm
	scored       []placedTerm
}

func interPodTermsOf(w *clusterState, c *class) (interPod, error) {
	var ip interPod
	p := c.profile
	t, err := readTerms(c.namespace, c.sample.Object.Spec.Affinity)
	if err != nil {
		return ip, err
	}
	if len(t.affinity) > 0 && !p.off[InterPodAffinity] {
		all := w.matching(t.affinity)
		for i := range t.affinity {
			ip.required = append(ip.required, placedTerm{pods: all, topo: w.topology(t.affinity[i].key)})
		}
		ip.matchesSelf = w.matchesAll(t.affinity, c)
	}
	for i := range t.anti {
		if p.off[InterPodAffinity] {
			break
		}
		ip.anti = append(ip.anti, placedTerm{pods: w.matching(t.anti[i : i+1]), topo: w.topology(t.anti[i].key)})
	}
	for i := range t.preferred {
		ip.scored = append(ip.scored, placedTerm{pods: w.matching(t.preferred[i : i+1]), topo: w.topology(t.preferred[i].key), weight: t.weights[i]})
	}
	for _, o := range w.anti {
		if !p.off[InterPodAffinity] && w.matchesTerm(&o.term, c) {
			ip.existingAnti = append(ip.existingAnti, placedTerm{pods: o.pods, topo: w.topology(o.key)})
		}
	}
	if p.IgnorePreferredTerms && len(t.preferred) == 0 {
		return ip, nil
	}
	for _, o := range w.scored {
		weight := o.weight
		if weight == 0 {
			weight = p.HardPodAffinityWeight
		}
		if weight != 0 && w.matchesTerm(&o.term, c) {
			ip.scored = append(ip.scored, placedTerm{pods: o.pods, topo: w.topology(o.key), weight: weight})
		}
	}
	return ip, nil
}

// namespaceLabelsUnknown says why the labels of namespaces, which some term reads,
// are not all known; empty when no term reads one that is not.
func namespaceLabelsUnknown(w *clusterState, c *class) string {
	for _, list := range [...][]*ownedTerm{w.anti, w.scored} {
		for _, o := range list {
			if _, known := w.nsLabels[c.namespace]; !known && o.needsNamespaces() {
				return fmt.Sprintf("an affinity term selects namespaces by label, and those of %s are not known", c.namespace)
			}
		}
	}
	t, _ := readTerms(c.namespace, c.sample.Object.Spec.Affinity)
	for _, list := range [...][]term{t.affinity, t.anti, t.preferred} {
		for i := range list {
			if w.noNamespace != "" && list[i].needsNamespaces() {
				return fmt.Sprintf("its affinity selects namespaces by label, and those of %s are not known", w.noNamespace)
			}
		}
	}
	return ""
}
