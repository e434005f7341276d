// Package trust decides whether Evenkeel uses the default profile for a scheduler without a configured profile. It
// predicts ordinary bindings, which Evenkeel did not cause, and compares the predictions with the actual nodes.
//
// The package never binds a pod and never stores the counts. It ignores schedulers with a profile.
package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are the conditions under which Evenkeel trusts that a scheduler follows the default profile.
type Options struct {
	// MinBindings is the required number of predicted bindings. With 0, Evenkeel trusts no scheduler without a profile.
	MinBindings int
	// MinHitRate is the required fraction of correct predictions, 0..1.
	MinHitRate float64
}

// MaxMinBindings is the highest valid MinBindings. At 1000 predictions the controller halves the counts, so that recent
// bindings weigh more. The halved counts must still reach MinBindings.
const MaxMinBindings = 500

// SchedulerName returns the name of the pod's scheduler. An empty name means the default scheduler.
func SchedulerName(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// HasNoProfile reports whether neither the configuration nor Kubernetes has a profile for a scheduler.
func HasNoProfile(name string, profiles map[string]scheduler.Profile) bool {
	_, known := profiles[name]
	return !known && name != corev1.DefaultSchedulerName
}

// CheckBinding reports whether a newly bound pod is on a node that the default profile would have chosen. It ignores
// pods that were bound later, because the scheduler did not know them. A pod was bound later if earlier does not
// contain its UID and it was not bound in an earlier second.
//
// If a comparison would prove little, predicted is false: if no node can be predicted, if the pod has volume claims, or
// if more than half of the feasible nodes have the best score. Therefore a scheduler that chooses nodes at random is
// correct at most half of the time.
func CheckBinding(s *cluster.Snapshot, id cluster.PodID, earlier map[string]bool) (hit, predicted bool) {
	p := &s.Pods[id]
	at := boundAt(p.Object)
	if p.Node == cluster.NoNode || p.Terminating || at.IsZero() || cluster.HasVolumeClaim(p.Object) {
		return false, false
	}
	name := SchedulerName(p.Object)
	w := placement.NewClusterModel(s, placement.Options{Profiles: map[string]scheduler.Profile{name: scheduler.DefaultProfile()}})
	for i := range s.Pods { // also moves the pod itself
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

// boundAt returns the time when the pod was bound, in whole seconds. It returns the zero time if the time is unknown.
func boundAt(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time // without the condition, the pod was created with a node
}

// SchedulerStates returns the schedulers without a profile that have bound pods or counted bindings, sorted by name.
func (o Options) SchedulerStates(s *cluster.Snapshot, profiles map[string]scheduler.Profile,
	seen map[string]plan.SchedulerBindings) []plan.SchedulerState {
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
		st := plan.SchedulerState{Name: name, Pods: pods[name], Seen: b.Seen, Predicted: b.Predicted, Hits: b.Hits, Trusted: o.areSufficient(b)}
		if b.Predicted > 0 {
			rate := plan.Round(b.HitRate())
			st.HitRate = &rate
		}
		out = append(out, st)
	}
	return out
}

// areSufficient reports whether the bindings of a scheduler are sufficient to trust the scheduler.
func (o Options) areSufficient(b plan.SchedulerBindings) bool {
	return o.MinBindings > 0 && b.Predicted >= o.MinBindings && b.HitRate() >= o.MinHitRate
}

// Profiles returns the configured profiles and one profile for each scheduler in states. A trusted scheduler gets the
// default profile. The profile of an untrusted scheduler contains the reason.
func (o Options) Profiles(configured map[string]scheduler.Profile, states []plan.SchedulerState) map[string]scheduler.Profile {
	if len(states) == 0 || o.MinBindings <= 0 {
		return configured
	}
	out := map[string]scheduler.Profile{}
	maps.Copy(out, configured)
	for _, st := range states {
		p := scheduler.DefaultProfile()
		if !st.Trusted {
			p.UnsupportedReason = fmt.Sprintf(
				"its scores are unknown: bindings seen %d, predicted %d, correct %d; required are %d predicted and %s of them correct (placement.trust)",
				st.Seen, st.Predicted, st.Hits, o.MinBindings, percent.Of(o.MinHitRate))
		}
		out[st.Name] = p
	}
	return out
}
