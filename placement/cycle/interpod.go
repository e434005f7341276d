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

// NewInterPodTerms returns the inter-pod affinity terms for a class. CheckSelectors must have found no error.
func NewInterPodTerms(m *model.Cluster, c *model.EquivalenceClass) InterPodTerms {
	var ip InterPodTerms
	p := c.Profile
	t, _ := model.ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	if !p.Disabled[scheduler.InterPodAffinity] {
		if len(t.Affinity) > 0 {
			all := model.CounterOfAll(m, t.Affinity)
			model.ByKey(t.Affinity, nil, func(key string, _ []model.AffinityTerm, _ []int64) {
				ip.Required = append(ip.Required, TermWithTopology{Pods: all, Topology: m.TopologyOf(key)})
			})
			ip.MatchesSelf = m.MatchesAllTerms(t.Affinity, c)
		}
		model.ByKey(t.Anti, nil, func(key string, terms []model.AffinityTerm, _ []int64) {
			ip.Anti = append(ip.Anti, TermWithTopology{Pods: model.CounterOfAny(m, terms), Topology: m.TopologyOf(key)})
		})
		for _, o := range m.AntiAffinityTerms {
			if _, some := m.WeightOn(o, c, 1); some {
				ip.ExistingAnti = append(ip.ExistingAnti, TermWithTopology{Pods: o.Pods, Topology: m.TopologyOf(o.Key)})
			}
		}
	}
	model.ByKey(t.Preferred, t.Weights, func(key string, terms []model.AffinityTerm, weights []int64) {
		for _, k := range model.CountersByWeight(m, terms, weights) {
			ip.Scored = append(ip.Scored, TermWithTopology{Pods: k.Pods, Topology: m.TopologyOf(key), Weight: k.Weight})
		}
	})
	if p.IgnorePreferredTerms && len(t.Preferred) == 0 {
		return ip
	}
	for _, o := range m.ScoredTerms {
		if weight, some := m.WeightOn(o, c, p.HardPodAffinityWeight); some {
			ip.Scored = append(ip.Scored, TermWithTopology{Pods: o.Pods, Topology: m.TopologyOf(o.Key), Weight: weight})
		}
	}
	return ip
}

// UnknownNamespaceReason returns an error message if the namespaces of a term are not known; empty
// if they are. They are not known if the snapshot lacks the labels of a namespace, or if patch
// releases of the scheduler differ (Features.UncertainNamespaceSelectors).
func UnknownNamespaceReason(m *model.Cluster, c *model.EquivalenceClass) string {
	for _, list := range [...][]*model.ExistingTerms{m.AntiAffinityTerms, m.ScoredTerms} {
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
