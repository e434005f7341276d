package cycle

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TermWithTopology is an affinity term with its matching pods and its topology. Only score terms
// have a Weight. The Weight of anti-affinity is negative.
type TermWithTopology struct {
	Pods     *model.PodCounter
	Topology *model.Topology
	Weight   int64
}

// InterPodTerms are the inter-pod affinity terms that filters and scores read for a replacement of
// one class.
type InterPodTerms struct {
	Required     []TermWithTopology // one for each topology; all count the pods that match every required term
	MatchesSelf  bool
	Anti         []TermWithTopology
	ExistingAnti []TermWithTopology
	Scored       []TermWithTopology
}

// NewInterPodTerms returns the inter-pod affinity terms for a class, or an error if a selector of
// the pod is invalid.
func NewInterPodTerms(m *model.Cluster, c *model.EquivalenceClass) (InterPodTerms, error) {
	var ip InterPodTerms
	p := c.Profile
	t, err := model.ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	if err != nil {
		return ip, err
	}
	if len(t.Affinity) > 0 && !p.Disabled[scheduler.InterPodAffinity] {
		all := m.TermCounter(t.Affinity)
		for i := range t.Affinity {
			ip.Required = append(ip.Required, TermWithTopology{Pods: all, Topology: m.TopologyOf(t.Affinity[i].Key)})
		}
		ip.MatchesSelf = m.MatchesAllTerms(t.Affinity, c)
	}
	for i := range t.Anti {
		if p.Disabled[scheduler.InterPodAffinity] {
			break
		}
		ip.Anti = append(ip.Anti, TermWithTopology{Pods: m.TermCounter(t.Anti[i : i+1]), Topology: m.TopologyOf(t.Anti[i].Key)})
	}
	for i := range t.Preferred {
		ip.Scored = append(ip.Scored, TermWithTopology{
			Pods: m.TermCounter(t.Preferred[i : i+1]), Topology: m.TopologyOf(t.Preferred[i].Key), Weight: t.Weights[i]})
	}
	for _, o := range m.AntiAffinityTerms {
		if !p.Disabled[scheduler.InterPodAffinity] && m.MatchesTerm(&o.AffinityTerm, c) {
			ip.ExistingAnti = append(ip.ExistingAnti, TermWithTopology{Pods: o.Pods, Topology: m.TopologyOf(o.Key)})
		}
	}
	if p.IgnorePreferredTerms && len(t.Preferred) == 0 {
		return ip, nil
	}
	for _, o := range m.ScoredTerms {
		weight := o.Weight
		if weight == 0 {
			weight = p.HardPodAffinityWeight
		}
		if weight != 0 && m.MatchesTerm(&o.AffinityTerm, c) {
			ip.Scored = append(ip.Scored, TermWithTopology{Pods: o.Pods, Topology: m.TopologyOf(o.Key), Weight: weight})
		}
	}
	return ip, nil
}

// UnknownNamespaceReason returns an error message if the namespaces of a term are not known; empty
// if they are. They are not known if the snapshot lacks the labels of a namespace, or if patch
// releases of the scheduler differ (Features.UncertainNamespaceSelectors).
func UnknownNamespaceReason(m *model.Cluster, c *model.EquivalenceClass) string {
	for _, list := range [...][]*model.ExistingTerm{m.AntiAffinityTerms, m.ScoredTerms} {
		for _, o := range list {
			if _, known := m.NamespaceLabels[c.Namespace]; !known && o.NeedsNamespaces() {
				return fmt.Sprintf("an affinity term selects namespaces by label, and the labels of namespace %s are not known", c.Namespace)
			}
		}
	}
	t, _ := model.ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	for _, list := range [...][]model.AffinityTerm{t.Affinity, t.Anti, t.Preferred} {
		for i := range list {
			if m.UnknownNamespace != "" && list[i].NeedsNamespaces() {
				return fmt.Sprintf("its affinity selects namespaces by label, and the labels of namespace %s are not known", m.UnknownNamespace)
			}
			if m.Snap.Scheduler.UncertainNamespaceSelectors && list[i].MatchesNoLabels() {
				return fmt.Sprintf("its affinity selects namespaces only by NotIn or DoesNotExist; "+
					"some releases of kube-scheduler 1.%d apply such a term to every namespace", m.Snap.ServerMinor)
			}
		}
	}
	return ""
}
