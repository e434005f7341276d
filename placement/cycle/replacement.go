package cycle

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
)

// Replacement holds the data that filters and scores read for every replacement of one equivalence
// class.
type Replacement struct {
	Class   *model.EquivalenceClass
	Profile *scheduler.Compiled
	NodeChecks
	CountsPods             bool               // ScoredRequests, images, Spread, InterPod and CountersOfOthers are set
	Requests               cluster.Resources  // of a new pod of the class
	ScoredRequests         cluster.Resources  // requests that scores assume
	CheckedRequests        *cluster.Resources // requests that the filter NodeResourcesFit checks; nil: the filter is disabled
	Ports                  []model.HostPort   // NodePorts
	Disks                  []volume.Disk      // VolumeRestrictions
	FeaturesOK             []bool             // NodeDeclaredFeatures; nil: all
	Volumes                volume.Placement
	Spread                 SpreadRules
	InterPod               InterPodTerms
	CountersOfOthers       []*model.PodCounter // count the pods whose places decide on which nodes the replacement fits
	UnknownNamespaceReason string              // why namespace labels are not known; empty if they are
}

// DropDisabledFilters clears the data of the filters that the profile disables.
func (in *Replacement) DropDisabledFilters() {
	off := in.Profile.Disabled
	if off[scheduler.NodePorts] {
		in.Ports = nil
	}
	if off[scheduler.VolumeRestrictions] {
		in.Disks, in.Volumes.ExclusiveClaims = nil, nil
	}
	if off[scheduler.VolumeZone] {
		in.Volumes.InZone = nil
	}
	if off[scheduler.NodeDeclaredFeatures] {
		in.FeaturesOK = nil
	}
}

// AddCountersOfOthers fills in CountersOfOthers: the counters of required spread constraints, also
// those that the profile gives the class, of required affinity, and of required anti-affinity by
// domains of several nodes.
func (in *Replacement) AddCountersOfOthers() {
	for i := range in.Spread.Hard {
		in.CountersOfOthers = append(in.CountersOfOthers, in.Spread.Hard[i].Pods)
	}
	for _, t := range in.InterPod.Required {
		in.CountersOfOthers = append(in.CountersOfOthers, t.Pods)
	}
	for _, t := range in.InterPod.Anti {
		if !t.Topology.OneNodePerDomain {
			in.CountersOfOthers = append(in.CountersOfOthers, t.Pods)
		}
	}
}

// CloneFor copies a replacement for the copy of its class in a cloned model.
func (r *Replacement) CloneFor(c *model.EquivalenceClass, k model.ClonedCounters) *Replacement {
	in := *r
	in.Class = c
	for _, list := range [...]*[]SpreadConstraint{&in.Spread.Hard, &in.Spread.Soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	p := &in.InterPod
	for _, list := range [...]*[]TermWithTopology{&p.Required, &p.Anti, &p.ExistingAnti, &p.Scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	in.CountersOfOthers = slices.Clone(in.CountersOfOthers)
	for i, counter := range in.CountersOfOthers {
		in.CountersOfOthers[i] = k.Counter(counter)
	}
	return &in
}

// StaticScores are the parts of the scores that do not depend on other pods, by node. Several
// classes share these scores, so they are read-only.
type StaticScores struct {
	PreferNoSchedule []int64 // untolerated PreferNoSchedule taints
	Preferred        []int64 // sum of matching preferred node affinity weights; nil: none
	Images           []int8  // nil: no image of the pod is on any node
	HintTaint        int64   // 1 if the pod does not tolerate the steering taint
}

// NodeChecks are the results of checking a pod spec against the nodes' readiness, taints and
// labels. Pods with the same node selector, node affinity, tolerations and profile share these
// checks, so they are read-only.
type NodeChecks struct {
	ID           int    // unique ID
	AffinityOK   []bool // node selector and required node affinity
	TaintsOK     []bool // NoSchedule and NoExecute taints
	CanRun       []bool // readiness, cordon, taints, node affinity and the profile's addedAffinity
	StaticScores StaticScores
	Err          error // set if the node affinity is invalid; in a Replacement also for other selectors
}

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
			model.ByKey(t.Affinity, func(key string, _ []model.AffinityTerm) {
				ip.Required = append(ip.Required, TermWithTopology{Pods: all, Topology: m.TopologyOf(key)})
			})
			ip.MatchesSelf = m.MatchesAllTerms(t.Affinity, c)
		}
		model.ByKey(t.Anti, func(key string, terms []model.AffinityTerm) {
			ip.Anti = append(ip.Anti, TermWithTopology{Pods: model.CounterOfAny(m, terms), Topology: m.TopologyOf(key)})
		})
		for _, o := range m.AntiAffinityTerms {
			if _, some := m.WeightOn(o, c, 1); some {
				ip.ExistingAnti = append(ip.ExistingAnti, TermWithTopology{Pods: o.Pods, Topology: m.TopologyOf(o.Key)})
			}
		}
	}
	model.ByKey(t.Preferred, func(key string, terms []model.AffinityTerm) {
		model.EachWeight(m, terms, func(weight int64, pods *model.PodCounter) {
			ip.Scored = append(ip.Scored, TermWithTopology{Pods: pods, Topology: m.TopologyOf(key), Weight: weight})
		})
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
			if _, known := m.NamespaceLabels[c.Namespace]; !known && o.NeedsNamespaces {
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
