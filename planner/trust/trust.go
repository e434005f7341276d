// Package trust finds out whether a scheduler without a profile places pods as
// the default profile would: it foretells ordinary bindings that Evenkeel has no
// hand in, and compares.
//
// It decides from counts of those which schedulers may be taken for the default
// profile. It never makes a binding, keeps no counts of its own, and says nothing
// about schedulers that have a profile.
package trust

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options say when a scheduler is taken for the default profile.
type Options struct {
	// MinBindings is how many bindings must have been foretold; 0 trusts no
	// scheduler without a profile.
	MinBindings int
	// MinHitRate is the share of them, 0..1, that must have come true.
	MinHitRate float64
}

// MaxMinBindings is the most that MinBindings can be. Counts are halved when 1000
// are foretold, so that the past fades, and must not fall below it then.
const MaxMinBindings = 500

// SchedulerName of a pod, with the API server's default.
func SchedulerName(p *corev1.Pod) string {
	if p.Spec.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return p.Spec.SchedulerName
}

// HasNoProfile reports whether a scheduler has no profile.
func HasNoProfile(name string, profiles map[string]scheduler.Profile) bool {
	_, known := profiles[name]
	return !known && name != corev1.DefaultSchedulerName
}

// CheckBinding says whether a pod that was just bound stands where the default profile
// would have put it. Pods that are bound and were not when it was (their UIDs are
// not in earlier, and they were not bound in an earlier second) are left out of
// account, as its scheduler had to.
//
// It is silent (told false) where an answer would say little: where nothing can be
// foretold, where the volumes of the pod's claims have been chosen with the node,
// and where more than half of the feasible nodes would have been as good. A
// scheduler that draws nodes by lot is then right at most half of the time.
func CheckBinding(s *cluster.Snapshot, id cluster.PodID, earlier map[string]bool) (hit, told bool) {
	p := &s.Pods[id]
	at := boundAt(p.Object)
	if p.Node == cluster.NoNode || p.Terminating || at.IsZero() || cluster.HasVolumeClaim(p.Object) {
		return false, false
	}
	name := SchedulerName(p.Object)
	w := placement.NewClusterModel(s, placement.Options{Profiles: map[string]scheduler.Profile{name: scheduler.DefaultProfile()}})
	for i := range s.Pods { // the pod itself too
		if q := &s.Pods[i]; q.Node != cluster.NoNode && !earlier[string(q.Object.UID)] && !boundAt(q.Object).Before(at) {
			w.Move(q.ID, cluster.NoNode)
		}
	}
	before := w.Predict(id).Gone
	if len(before.Winners) == 0 || 2*len(before.Winners) > len(before.Feasible) {
		return false, false
	}
	return slices.Contains(before.Winners, p.Node), true
}

// boundAt is the second in which a pod got its node; zero when nothing tells.
func boundAt(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time // made with its node
}

// SchedulerStates are the schedulers without a profile, by name: those whose pods stand in
// the cluster, and those whose bindings were counted.
func (o Options) SchedulerStates(s *cluster.Snapshot, profiles map[string]scheduler.Profile, seen map[string]plan.SchedulerBindings) []plan.SchedulerState {
	pods := map[string]int{}
	for name := range seen {
		if HasNoProfile(name, profiles) {
			pods[name] = 0
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if name := SchedulerName(p.Object); p.Node != cluster.NoNode && !p.Terminal && HasNoProfile(name, profiles) {
			pods[name]++
		}
	}
	var out []plan.SchedulerState
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		b := seen[name]
		st := plan.SchedulerState{Name: name, Pods: pods[name], Seen: b.Seen, Predicted: b.Predicted, Hits: b.Hits, Trusted: o.trusts(b)}
		if b.Predicted > 0 {
			rate := plan.Round(b.HitRate())
			st.HitRate = &rate
		}
		out = append(out, st)
	}
	return out
}

func (o Options) trusts(b plan.SchedulerBindings) bool {
	return o.MinBindings > 0 && b.Predicted >= o.MinBindings && b.HitRate() >= o.MinHitRate
}

// Profiles adds to the profiles that are configured the default profile for each
// scheduler that is trusted, and for each other the reason why it is not.
func (o Options) Profiles(configured map[string]scheduler.Profile, states []plan.SchedulerState) map[string]scheduler.Profile {
	if len(states) == 0 || o.MinBindings <= 0 {
		return configured
	}
	out := map[string]scheduler.Profile{}
	maps.Copy(out, configured)
	for _, st := range states {
		p := scheduler.DefaultProfile()
		if !st.Trusted {
			p.UnsupportedReason = fmt.Sprintf("its scores are not known; bindings seen %d, foretold %d, came true %d; wanted are %d foretold, and %s of them true (placement.trust)",
				st.Seen, st.Predicted, st.Hits, o.MinBindings, percent(o.MinHitRate))
		}
		out[st.Name] = p
	}
	return out
}

func percent(frac float64) string {
	return strconv.FormatFloat(plan.Round(100*frac), 'f', -1, 64) + "%"
}
