package placement

import (
	"cmp"
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"maps"
	"slices"
	"strings"
)

func schedulerOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
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

// unknownScheduler is the reason for schedulers without a profile.
const unknownScheduler = "whose scores are not known"
