// Package trust decides whether the predictions of a scheduler are good enough for moves of its pods. It predicts
// ordinary bindings, which Evenkeel did not cause, and compares the predictions with the actual nodes. The default
// scheduler of a known Kubernetes version and schedulers with a profile are trusted until their bindings contradict the
// predictions. Other schedulers, and all schedulers of other versions, are trusted only after enough correct
// predictions.
//
// The package never binds a pod and never stores the counts.
package trust

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
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

// Options are the conditions under which Evenkeel trusts its predictions of a scheduler.
type Options struct {
	// MinBindings is the number of predicted bindings that count, the latest ones. With 0, Evenkeel trusts no scheduler
	// without a profile and no other Kubernetes version, and does not examine bindings.
	MinBindings int
	// MinHitRate is the required fraction of correct predictions, 0..1.
	MinHitRate float64
	// PlanUntrusted makes plans for Kubernetes versions without a model of their own, if no binding was counted. Such a
	// plan must never be executed.
	PlanUntrusted bool
}

// MaxMinBindings bounds the predictions of a scheduler that are kept.
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

// CheckBinding reports whether a newly bound pod is on a node that its scheduler, with this profile, would have chosen.
// The pods in earlier were bound before, in this order. CheckBinding ignores pods that were bound in a later second,
// because the scheduler did not know them.
//
// A scheduler writes the bindings of one moment in another order than it decided on them. So CheckBinding predicts the
// binding several times: without the pods of the same and the previous second, and with more and more of them in the
// order of their bindings. One correct prediction is enough.
//
// If a comparison would prove little, predicted is false: if no node can be predicted, if the pod
// has volume claims, if the snapshot was taken more than five seconds after the binding, if more
// than 64 other pods were bound in that moment, or if more than half of the feasible nodes have the
// best score in one of the predictions. Therefore a scheduler that chooses nodes at random is
// correct at most half of the time.
func CheckBinding(s *cluster.Snapshot, id cluster.PodID, earlier []string, profile scheduler.Profile) (hit, predicted bool) {
	p := &s.Pods[id]
	at := boundAt(p.Object)
	if p.Node == cluster.NoNode || p.Terminating || at.IsZero() || s.TakenAt.Sub(at) > maxAge || cluster.HasVolumeClaim(p.Object) {
		return false, false
	}
	w := placement.NewClusterModel(s, placement.Options{Profiles: map[string]scheduler.Profile{SchedulerName(p.Object): profile}})
	moment := podsOfMoment(s, id, at, earlier)
	if len(moment) > maxOfMoment {
		return false, false
	}
	for i := range s.Pods {
		if q := &s.Pods[i]; q.Node != cluster.NoNode && (q.ID == id || boundAt(q.Object).After(at)) {
			w.Cluster.Move(q.ID, cluster.NoNode)
		}
	}
	for _, q := range moment {
		w.Cluster.Move(q, cluster.NoNode)
	}
	var winners []cluster.NodeID
	for i := 0; ; i++ {
		state := w.Predict(id).Gone
		if winners = union(winners, state.Winners); len(state.Winners) == 0 || 2*len(winners) > len(state.Feasible) {
			return false, false
		}
		if i == len(moment) {
			return slices.Contains(winners, p.Node), true
		}
		w.Cluster.Move(moment[i], s.Pods[moment[i]].Node)
	}
}

// maxAge is the longest time between a binding and a snapshot with which it is compared. In a longer time, pods that
// the scheduler counted may have ended.
const maxAge = 5 * time.Second

// maxOfMoment limits the pods of the same moment, and so the predictions for one binding.
const maxOfMoment = 64

// podsOfMoment returns the other pods that were bound in the same or the previous second: those in earlier in their
// order, then the others by name.
func podsOfMoment(s *cluster.Snapshot, id cluster.PodID, at time.Time, earlier []string) []cluster.PodID {
	isOfMoment := func(q *cluster.Pod) bool {
		bound := boundAt(q.Object)
		return q.ID != id && q.Node != cluster.NoNode && !bound.Before(at.Add(-time.Second)) && !bound.After(at)
	}
	var out []cluster.PodID
	known := map[string]bool{}
	for _, uid := range earlier {
		known[uid] = true
		if q := s.PodByUID(uid); q != nil && isOfMoment(q) {
			out = append(out, q.ID)
		}
	}
	for i := range s.Pods {
		if q := &s.Pods[i]; !known[string(q.Object.UID)] && isOfMoment(q) {
			out = append(out, q.ID)
		}
	}
	return out
}

func union(a, b []cluster.NodeID) []cluster.NodeID {
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
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

// SchedulerStates returns the schedulers that have bound pods or counted bindings, sorted by name. It leaves out
// trusted schedulers without counted bindings.
func (o Options) SchedulerStates(s *cluster.Snapshot, profiles map[string]scheduler.Profile,
	seen map[string]plan.SchedulerBindings) []plan.SchedulerState {
	pods := map[string]int{}
	for name := range seen {
		pods[name] = 0
	}
	for run := range s.TemplateRuns() {
		bound := 0
		for i := range run {
			if run[i].Node != cluster.NoNode && !run[i].Terminal {
				bound++
			}
		}
		if bound > 0 {
			pods[SchedulerName(run[0].Object)] += bound
		}
	}
	var out []plan.SchedulerState
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		if st := o.stateOf(name, pods[name], s, profiles, seen[name]); st.Seen > 0 || !st.Trusted {
			out = append(out, st)
		}
	}
	return out
}

func (o Options) stateOf(name string, pods int, s *cluster.Snapshot, profiles map[string]scheduler.Profile,
	b plan.SchedulerBindings) plan.SchedulerState {
	if model := ModelOf(s, ProfileOf(name, profiles)); cmp.Or(b.Model, ModelOf(s, scheduler.DefaultProfile())) != model {
		b = plan.SchedulerBindings{} // they were predicted with another model
	}
	st := plan.SchedulerState{Name: name, Pods: pods, Seen: b.Seen, Predicted: b.Predicted, Hits: b.Hits,
		Contradicted: o.contradict(b)}
	if b.Predicted > 0 {
		rate := plan.Round(b.HitRate())
		st.HitRate = &rate
	}
	version := cmp.Or(s.Version(), "of unknown version")
	counts := fmt.Sprintf("bindings seen %d, predicted %d, correct %d", b.Seen, b.Predicted, b.Hits)
	required := fmt.Sprintf("at least %d predicted and %s of them correct are required (placement.trust)", o.MinBindings, percent.Of(o.MinHitRate))
	switch {
	case s.KnownVersion() && !HasNoProfile(name, profiles):
		if st.Trusted = !o.contradict(b); !st.Trusted {
			st.Reason = fmt.Sprintf("it does not place pods as predicted: %s; describe it in placement.profiles or placement.schedulerConfig", counts)
		}
	case o.areSufficient(b):
		st.Trusted = true
	case s.KnownVersion() && o.MinBindings == 0:
		st.Reason = scheduler.UnknownScheduler
	case s.KnownVersion():
		st.Reason = fmt.Sprintf("its scores are unknown: %s; %s", counts, required)
	default:
		st.Reason = fmt.Sprintf("predictions for Kubernetes %s are untrusted: %s; %s", version, counts, required)
		if o.MinBindings == 0 {
			st.Reason = fmt.Sprintf("predictions for Kubernetes %s are untrusted, and placement.trust is 0", version)
		}
		st.Planned = o.PlanUntrusted && b.Seen == 0 && !HasNoProfile(name, profiles)
	}
	return st
}

// ModelOf identifies what predictions of a scheduler depend on besides the cluster: the Kubernetes version and the
// profile.
func ModelOf(s *cluster.Snapshot, profile scheduler.Profile) string {
	text, err := json.Marshal(profile)
	if err != nil {
		panic(err) // a Profile has only fields that JSON can represent
	}
	sum := fnv.New32a()
	_, _ = sum.Write(text)
	return fmt.Sprintf("%s-%08x", cmp.Or(s.Version(), "unknown"), sum.Sum32())
}

// ProfileOf returns the configured profile of a scheduler, or the default profile.
func ProfileOf(name string, profiles map[string]scheduler.Profile) scheduler.Profile {
	if p, ok := profiles[name]; ok {
		return p
	}
	return scheduler.DefaultProfile()
}

// areSufficient reports whether the bindings of an unknown scheduler are sufficient to trust it.
func (o Options) areSufficient(b plan.SchedulerBindings) bool {
	return o.MinBindings > 0 && b.Predicted >= o.MinBindings && b.HitRate() >= o.MinHitRate
}

// contradict reports whether the bindings contradict the predictions: the next correct ones cannot make MinHitRate of
// MinBindings predictions correct. A tenant can make the scheduler's choice look wrong, so of the namespace with most
// wrong predictions only half of the necessary ones count, if there are others: no namespace contradicts alone.
func (o Options) contradict(b plan.SchedulerBindings) bool {
	allowed := float64(max(o.MinBindings, b.Predicted))*(1-o.MinHitRate) + rounding
	share := int(allowed)/2 + 1
	wrong := b.Predicted - b.Hits - max(0, b.MostWrong-share)
	return o.MinBindings > 0 && float64(wrong) > allowed
}

// rounding is larger than the rounding error of a product of a count and a rate.
const rounding = 1e-9

// Profiles returns the configured profiles and one profile for each scheduler in states. An unknown scheduler that is
// trusted gets the default profile. The profile of an untrusted scheduler contains the reason.
func (o Options) Profiles(configured map[string]scheduler.Profile, states []plan.SchedulerState) map[string]scheduler.Profile {
	out := map[string]scheduler.Profile{}
	maps.Copy(out, configured)
	for _, st := range states {
		p := ProfileOf(st.Name, configured)
		if !st.Trusted && !st.Planned {
			p.UnsupportedReason = cmp.Or(p.UnsupportedReason, st.Reason)
		}
		out[st.Name] = p
	}
	return out
}
