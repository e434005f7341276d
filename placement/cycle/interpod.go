package cycle

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TermWithTopology is a count by domain that a filter or score reads.
type TermWithTopology struct {
	Pods     *model.PodCounter
	Topology *model.Topology
	Weight   int64
}

// InterPodTerms is what inter-pod affinity means for an incoming class.
type InterPodTerms struct {
	Required     []TermWithTopology // all of one counter: pods that match every term
	MatchesSelf  bool
	Anti         []TermWithTopology
	ExistingAnti []TermWithTopology
	Scored       []TermWithTopology
}

func NewInterPodTerms(w *model.Cluster, c *model.EquivalenceClass) (InterPodTerms, error) {
	var ip InterPodTerms
	p := c.Profile
	t, err := model.ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	if err != nil {
		return ip, err
	}
	if len(t.Affinity) > 0 && !p.Disabled[scheduler.InterPodAffinity] {
		all := w.TermCounter(t.Affinity)
		for i := range t.Affinity {
			ip.Required = append(ip.Required, TermWithTopology{Pods: all, Topology: w.TopologyOf(t.Affinity[i].Key)})
		}
		ip.MatchesSelf = w.MatchesAllTerms(t.Affinity, c)
	}
	for i := range t.Anti {
		if p.Disabled[scheduler.InterPodAffinity] {
			break
		}
		ip.Anti = append(ip.Anti, TermWithTopology{Pods: w.TermCounter(t.Anti[i : i+1]), Topology: w.TopologyOf(t.Anti[i].Key)})
	}
	for i := range t.Preferred {
		ip.Scored = append(ip.Scored, TermWithTopology{Pods: w.TermCounter(t.Preferred[i : i+1]), Topology: w.TopologyOf(t.Preferred[i].Key), Weight: t.Weights[i]})
	}
	for _, o := range w.AntiAffinityTerms {
		if !p.Disabled[scheduler.InterPodAffinity] && w.MatchesTerm(&o.AffinityTerm, c) {
			ip.ExistingAnti = append(ip.ExistingAnti, TermWithTopology{Pods: o.Pods, Topology: w.TopologyOf(o.Key)})
		}
	}
	if p.IgnorePreferredTerms && len(t.Preferred) == 0 {
		return ip, nil
	}
	for _, o := range w.ScoredTerms {
		weight := o.Weight
		if weight == 0 {
			weight = p.HardPodAffinityWeight
		}
		if weight != 0 && w.MatchesTerm(&o.AffinityTerm, c) {
			ip.Scored = append(ip.Scored, TermWithTopology{Pods: o.Pods, Topology: w.TopologyOf(o.Key), Weight: weight})
		}
	}
	return ip, nil
}

// UnknownNamespaceReason says why the labels of namespaces, which some term reads,
// are not all known; empty when no term reads one that is not.
func UnknownNamespaceReason(w *model.Cluster, c *model.EquivalenceClass) string {
	for _, list := range [...][]*model.ExistingTerm{w.AntiAffinityTerms, w.ScoredTerms} {
		for _, o := range list {
			if _, known := w.NamespaceLabels[c.Namespace]; !known && o.NeedsNamespaces() {
				return fmt.Sprintf("an affinity term selects namespaces by label, and those of %s are not known", c.Namespace)
			}
		}
	}
	t, _ := model.ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	for _, list := range [...][]model.AffinityTerm{t.Affinity, t.Anti, t.Preferred} {
		for i := range list {
			if w.UnknownNamespace != "" && list[i].NeedsNamespaces() {
				return fmt.Sprintf("its affinity selects namespaces by label, and those of %s are not known", w.UnknownNamespace)
			}
		}
	}
	return ""
}
