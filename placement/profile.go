package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Options say which schedulers place the cluster's pods.
type Options struct {
	// Profiles by schedulerName. default-scheduler has DefaultProfile unless it
	// is named here; nothing is foretold for pods of any other scheduler.
	Profiles map[string]Profile
	// GracePeriodSeconds is what evictions ask for instead of the pods' own; nil:
	// the pods' own.
	GracePeriodSeconds *int64
}

// Profile is how one scheduler filters and scores: what a profile of its
// KubeSchedulerConfiguration sets. Start from DefaultProfile: in the zero value
// every filter is on and nothing scores.
type Profile struct {
	// Unknown says why nothing can be foretold for this scheduler's pods, such
	// as a plugin that is not modelled; empty when it can.
	Unknown string
	// Weights of the score plugins; one with weight 0 does not score.
	Weights Weights
	// FiltersOff are filters that are not asked.
	FiltersOff []Filter
	// SystemSpread: pods without spread constraints of their own get the
	// system's (defaultingType System); else they get DefaultSpread, whose
	// constraints have no selectors (defaultingType List).
	SystemSpread  bool
	DefaultSpread []corev1.TopologySpreadConstraint
	// Fit is the strategy by which NodeResourcesFit scores; the zero value is
	// LeastAllocated over cpu and memory.
	Fit ScoringStrategy
	// Balanced are the resources that NodeResourcesBalancedAllocation balances;
	// empty: cpu and memory.
	Balanced []corev1.ResourceName
	// IgnoredResources and IgnoredGroups (the part before the slash) are extended
	// resources that the filter NodeResourcesFit does not ask for.
	IgnoredResources, IgnoredGroups []string
	// AddedAffinity is asked of nodes besides each pod's own node affinity.
	AddedAffinity *corev1.NodeAffinity
	// HardPodAffinityWeight is what a required affinity term of a standing pod
	// adds to a newcomer that it matches, 0..100.
	HardPodAffinityWeight int64
	// IgnorePreferredTerms: InterPodAffinity does not score pods that have no
	// preferred terms of their own.
	IgnorePreferredTerms bool
	// PercentageOfNodesToScore is how many feasible nodes are looked for before
	// the search ends, in percent of all nodes; 0: by the number of nodes.
	PercentageOfNodesToScore int
	// Packing adds the score TargetLoadPacking; nil for none.
	Packing *TargetLoadPacking
	// Policy replaces every other score by those of a legacy Policy; nil for
	// none. Filters are as in any profile.
	Policy *Policy
}

// DefaultProfile is the profile of a kube-scheduler that is not configured.
func DefaultProfile() Profile {
	return Profile{Weights: DefaultWeights, SystemSpread: true, HardPodAffinityWeight: 1}
}

// MostAllocatedProfile is the default profile, preferring full nodes.
func MostAllocatedProfile() Profile {
	p := DefaultProfile()
	p.Fit.Type = MostAllocated
	return p
}

// PolicyProfile is the default profile with the scores of a legacy Policy.
func PolicyProfile(policy Policy) Profile {
	p := DefaultProfile()
	p.Policy, p.SystemSpread = &policy, false
	p.HardPodAffinityWeight = policy.HardPodAffinityWeight
	return p
}

// SwitchableFilters are the filters that can be modelled as switched off. Of one
// that is not here, nothing is foretold for the pods that it is about.
var SwitchableFilters = []Filter{
	NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions,
	NodeVolumeLimits, VolumeZone, PodTopologySpread, InterPodAffinity, NodeDeclaredFeatures,
}

// profile is a Profile made ready for use.
type profile struct {
	Profile
	off            map[Filter]bool
	view           string // tells apart profiles that see nodes differently
	scoresAmount   bool   // NodeResourcesFit scores
	scoresEven     bool   // NodeResourcesBalancedAllocation scores
	scoresTaints   bool   // PreferNoSchedule taints score
	addedRequired  *nodeaffinity.NodeSelector
	addedPreferred *nodeaffinity.PreferredSchedulingTerms
}

func newProfile(name string, p Profile) *profile {
	c := &profile{Profile: p, off: map[Filter]bool{}}
	c.scoresAmount = p.Policy == nil && p.Weights.ResourcesFit > 0
	c.scoresEven = p.Policy == nil && p.Weights.BalancedAllocation > 0
	if len(p.FiltersOff) > 0 || p.AddedAffinity != nil {
		c.view = name
	}
	for _, f := range p.FiltersOff {
		c.off[f] = true
	}
	if a := p.AddedAffinity; a != nil {
		c.readAddedAffinity(a)
	}
	c.checkScores()
	return c
}

// checkScores notes which kinds of scores the profile has, and a legacy priority
// function that is not modelled.
func (c *profile) checkScores() {
	if p := c.Policy; p != nil {
		if why := p.unknown(); why != "" {
			c.cannot("%s", why)
		}
		c.scoresTaints = slices.ContainsFunc(p.Priorities, func(f Priority) bool {
			return f.Name == "TaintTolerationPriority"
		})
		return
	}
	c.scoresTaints = c.Weights.TaintToleration > 0
}

// cannot keeps the first reason why nothing can be foretold.
func (p *profile) cannot(format string, args ...any) {
	if p.Unknown == "" {
		p.Unknown = fmt.Sprintf(format, args...)
	}
}

func (p *profile) readAddedAffinity(a *corev1.NodeAffinity) {
	var err error
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if p.addedRequired, err = nodeaffinity.NewNodeSelector(required); err != nil {
			p.cannot("its addedAffinity cannot be read: %v", err)
		}
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if p.addedPreferred, err = nodeaffinity.NewPreferredSchedulingTerms(preferred); err != nil {
			p.cannot("its addedAffinity cannot be read: %v", err)
		}
	}
}

// needsSelector reports whether the selectors of the pods' owners decide scores.
func (p *profile) needsSelector() bool {
	return p.SystemSpread || len(p.DefaultSpread) > 0 || p.Policy != nil
}

// asks reports whether the filter NodeResourcesFit asks for a resource.
func (p *profile) asks(name corev1.ResourceName) bool {
	group, _, _ := strings.Cut(string(name), "/")
	return !slices.Contains(p.IgnoredResources, string(name)) && !slices.Contains(p.IgnoredGroups, group)
}

// asked is what NodeResourcesFit asks for when a pod comes that requests r; nil
// when the profile does not ask.
func (p *profile) asked(r *cluster.Resources) *cluster.Resources {
	if p.off[NodeResourcesFit] {
		return nil
	}
	if len(r.Extended) == 0 || len(p.IgnoredResources)+len(p.IgnoredGroups) == 0 {
		return r
	}
	asked := *r
	asked.Extended = maps.Clone(r.Extended)
	maps.DeleteFunc(asked.Extended, func(name corev1.ResourceName, _ int64) bool { return !p.asks(name) })
	return &asked
}

// profiled makes the options' profiles ready.
func (w *clusterState) profiled(o Options) {
	w.profiles = make(map[string]*profile, len(o.Profiles)+1)
	for _, name := range slices.Sorted(maps.Keys(o.Profiles)) {
		p := o.Profiles[name]
		w.profiles[name] = newProfile(name, p)
		if p.Packing != nil && w.packing == nil {
			w.packing = newPacking(w.snap)
			w.packing.args = p.Packing
		}
	}
	if w.profiles[corev1.DefaultSchedulerName] == nil {
		w.profiles[corev1.DefaultSchedulerName] = newProfile(corev1.DefaultSchedulerName, DefaultProfile())
	}
}

// unknownScheduler is the reason for schedulers without a profile.
const unknownScheduler = "whose scores are not known"

// profileOf returns the profile of a schedulerName. One that is not known is
// kept too, with the reason.
func (w *clusterState) profileOf(name string) *profile {
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	p := w.profiles[name]
	if p == nil {
		unknown := DefaultProfile()
		unknown.Unknown = unknownScheduler
		p = newProfile(name, unknown)
		w.profiles[name] = p
	}
	return p
}
