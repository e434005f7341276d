package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// NameOf returns the pod's schedulerName; default-scheduler if it has none.
func NameOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// Compiled is a profile with its affinity parsed and its filters indexed.
type Compiled struct {
	Profile
	Disabled       map[Filter]bool
	NodeChecksKey  string // profiles with the same key get the same NodeChecks
	AddedRequired  *nodeaffinity.NodeSelector
	AddedPreferred *nodeaffinity.PreferredSchedulingTerms
}

// Compile prepares a profile of the named scheduler.
func Compile(name string, p Profile) *Compiled {
	c := &Compiled{Profile: p, Disabled: map[Filter]bool{}}
	if len(p.DisabledFilters) > 0 || p.AddedAffinity != nil {
		c.NodeChecksKey = name
	}
	for _, f := range p.DisabledFilters {
		c.Disabled[f] = true
	}
	if a := p.AddedAffinity; a != nil {
		if err := c.readAddedAffinity(a); err != nil {
			c.UnsupportedReason = cmp.Or(c.UnsupportedReason, fmt.Sprintf("its addedAffinity is invalid: %v", err))
		}
	}
	return c
}

// readAddedAffinity parses the profile's addedAffinity.
func (p *Compiled) readAddedAffinity(a *corev1.NodeAffinity) (err error) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		p.AddedRequired, err = nodeaffinity.NewNodeSelector(required)
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; err == nil && len(preferred) > 0 {
		p.AddedPreferred, err = nodeaffinity.NewPreferredSchedulingTerms(preferred)
	}
	return err
}

func (p *Compiled) ignoresResource(name corev1.ResourceName) bool {
	group, _, _ := strings.Cut(string(name), "/")
	return slices.Contains(p.IgnoredResources, string(name)) || slices.Contains(p.IgnoredGroups, group)
}

// CheckedRequests returns the part of the requests that the filter NodeResourcesFit checks; nil if
// the profile disables the filter.
func (p *Compiled) CheckedRequests(r *cluster.Resources) *cluster.Resources {
	if p.Disabled[NodeResourcesFit] {
		return nil
	}
	if len(r.Extended) == 0 || len(p.IgnoredResources)+len(p.IgnoredGroups) == 0 {
		return r
	}
	asked := *r
	asked.Extended = maps.Clone(r.Extended)
	maps.DeleteFunc(asked.Extended, func(name corev1.ResourceName, _ int64) bool { return p.ignoresResource(name) })
	return &asked
}

// ReadsHintLabel reports whether the pod's node selector or node affinity, or the profile's
// addedAffinity, reads the hint label.
func (p *Compiled) ReadsHintLabel(pod *corev1.Pod) bool {
	_, selects := pod.Spec.NodeSelector[hints.Key]
	a := pod.Spec.Affinity
	return selects || a != nil && selectsHintLabel(a.NodeAffinity) || selectsHintLabel(p.AddedAffinity)
}

// selectsHintLabel reports whether a term of the node affinity reads the hint label.
func selectsHintLabel(a *corev1.NodeAffinity) bool {
	if a == nil {
		return false
	}
	looks := func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == hints.Key })
	}
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && slices.ContainsFunc(r.NodeSelectorTerms, looks) {
		return true
	}
	return slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution,
		func(t corev1.PreferredSchedulingTerm) bool { return looks(t.Preference) })
}

// UnknownScheduler is the UnsupportedReason of a scheduler without a profile.
const UnknownScheduler = "which has no profile in the configuration"
