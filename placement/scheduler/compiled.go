package scheduler

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

func NameOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// Compiled is a Profile made ready for use.
type Compiled struct {
	Profile
	Disabled                 map[Filter]bool
	NodeChecksKey            string // tells apart profiles that see nodes differently
	ScoresResourcesFit       bool   // NodeResourcesFit scores
	ScoresBalancedAllocation bool   // NodeResourcesBalancedAllocation scores
	ScoresTaints             bool   // PreferNoSchedule taints score
	AddedRequired            *nodeaffinity.NodeSelector
	AddedPreferred           *nodeaffinity.PreferredSchedulingTerms
}

func Compile(name string, p Profile) *Compiled {
	c := &Compiled{Profile: p, Disabled: map[Filter]bool{}}
	c.ScoresResourcesFit = p.Policy == nil && p.Weights.ResourcesFit > 0
	c.ScoresBalancedAllocation = p.Policy == nil && p.Weights.BalancedAllocation > 0
	if len(p.DisabledFilters) > 0 || p.AddedAffinity != nil {
		c.NodeChecksKey = name
	}
	for _, f := range p.DisabledFilters {
		c.Disabled[f] = true
	}
	if a := p.AddedAffinity; a != nil {
		c.readAddedAffinity(a)
	}
	c.readScorePlugins()
	return c
}

// readScorePlugins notes which kinds of scores the profile has, and a legacy priority
// function that is not modelled.
func (c *Compiled) readScorePlugins() {
	if p := c.Policy; p != nil {
		if why := p.unsupportedReason(); why != "" {
			c.setUnsupported("%s", why)
		}
		c.ScoresTaints = slices.ContainsFunc(p.Priorities, func(f PriorityFunction) bool {
			return f.Name == "TaintTolerationPriority"
		})
		return
	}
	c.ScoresTaints = c.Weights.TaintToleration > 0
}

// setUnsupported keeps the first reason why nothing can be foretold.
func (p *Compiled) setUnsupported(format string, args ...any) {
	if p.UnsupportedReason == "" {
		p.UnsupportedReason = fmt.Sprintf(format, args...)
	}
}

func (p *Compiled) readAddedAffinity(a *corev1.NodeAffinity) {
	var err error
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if p.AddedRequired, err = nodeaffinity.NewNodeSelector(required); err != nil {
			p.setUnsupported("its addedAffinity cannot be read: %v", err)
		}
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if p.AddedPreferred, err = nodeaffinity.NewPreferredSchedulingTerms(preferred); err != nil {
			p.setUnsupported("its addedAffinity cannot be read: %v", err)
		}
	}
}

// ScoresUseOwnerSelectors reports whether the selectors of the pods' owners decide scores.
func (p *Compiled) ScoresUseOwnerSelectors() bool {
	return p.SystemDefaultSpread || len(p.DefaultSpread) > 0 || p.Policy != nil
}

// checksResource reports whether the filter NodeResourcesFit asks for a resource.
func (p *Compiled) checksResource(name corev1.ResourceName) bool {
	group, _, _ := strings.Cut(string(name), "/")
	return !slices.Contains(p.IgnoredResources, string(name)) && !slices.Contains(p.IgnoredGroups, group)
}

// CheckedRequests is what NodeResourcesFit asks for when a pod comes that requests r; nil
// when the profile does not ask.
func (p *Compiled) CheckedRequests(r *cluster.Resources) *cluster.Resources {
	if p.Disabled[NodeResourcesFit] {
		return nil
	}
	if len(r.Extended) == 0 || len(p.IgnoredResources)+len(p.IgnoredGroups) == 0 {
		return r
	}
	asked := *r
	asked.Extended = maps.Clone(r.Extended)
	maps.DeleteFunc(asked.Extended, func(name corev1.ResourceName, _ int64) bool { return !p.checksResource(name) })
	return &asked
}

// UnknownScheduler is the reason for schedulers without a profile.
const UnknownScheduler = "whose scores are not known"
