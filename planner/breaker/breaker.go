// Package breaker decides when a pass must stop because the cluster is getting
// worse, and when the next one may begin: nodes that are not Ready, pods that
// became unschedulable since the pass began, evictions that fail, replacements
// that land badly.
//
// It never looks at what a pass was for, remembers nothing itself, and never
// reads a clock: what it found stands in plan.Trip, and holds until its time is
// over and the cluster is well again.
package breaker

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are the limits of the breaker. What is above a limit trips it.
type Options struct {
	// MaxUnreadyNodesFrac is of all nodes that are not cordoned, in scope or not:
	// replacements go where the scheduler sends them.
	MaxUnreadyNodesFrac float64
	// MaxPendingPods are those that became unschedulable during the pass.
	MaxPendingPods plan.CountLimit
	// MaxFailedFrac is of the evictions that were answered by yes or by trouble.
	MaxFailedFrac float64
	// MaxBadLandingsFrac is of the replacements that were followed to the end.
	MaxBadLandingsFrac float64
	// Hold is how long a trip holds at least.
	Hold time.Duration
}

// DefaultOptions are the values of the shipped configuration.
func DefaultOptions() Options {
	return Options{MaxUnreadyNodesFrac: 0.3, MaxPendingPods: plan.Absolute(10), MaxFailedFrac: 0.2, MaxBadLandingsFrac: 0.2, Hold: 10 * time.Minute}
}

// Of few evictions a share says little: one reset connection in a pass of one, or
// of three, is no sign of a cluster in trouble. At least minEvictions must have been
// tried, and minBad have gone wrong.
const (
	minEvictions = 3
	minBad       = 2
)

// maxTripPods bounds the pods that a trip notes, of those that became unschedulable.
const maxTripPods = 1000

// Baseline is what was there when a pass began.
type Baseline struct{ unschedulable map[string]bool }

// NewBaseline remembers the pods that no scheduler could place when the pass began.
func NewBaseline(s *cluster.Snapshot) Baseline {
	b := Baseline{map[string]bool{}}
	for i := range s.Pods {
		if unschedulable(&s.Pods[i]) {
			b.unschedulable[string(s.Pods[i].Object.UID)] = true
		}
	}
	return b
}

// unschedulable: a scheduler has tried and found no node. A pod that merely waits
// for its turn is not.
func unschedulable(p *cluster.Pod) bool {
	return isPending(p) && slices.ContainsFunc(p.Object.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

func isPending(p *cluster.Pod) bool { return p.Node == cluster.NoNode && !p.Terminal && !p.Terminating }

// CheckCluster looks at the cluster in the middle of a pass, or before one. It returns
// why the pass must stop here, or nil. Replacements of pods that were evicted count as
// others do: from when a scheduler has found no node for them until it has.
func (o Options) CheckCluster(s *cluster.Snapshot, b Baseline) *plan.BreakerTrip {
	if why := o.unreadyNodes(s); why != "" {
		return o.newTrip(s.TakenAt, why)
	}
	var fresh []*cluster.Pod
	for i := range s.Pods {
		if p := &s.Pods[i]; unschedulable(p) && !b.unschedulable[string(p.Object.UID)] {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) <= o.MaxPendingPods.For(len(s.Pods)) {
		return nil
	}
	t := o.newTrip(s.TakenAt, fmt.Sprintf("%s became unschedulable since the pass began, more than %s (evictor.breaker.maxPendingPods); one is %s/%s",
		pods(len(fresh)), o.MaxPendingPods, fresh[0].Object.Namespace, fresh[0].Object.Name))
	for _, p := range fresh {
		t.Pods = append(t.Pods, string(p.Object.UID))
	}
	slices.Sort(t.Pods)
	t.Pods = t.Pods[:min(len(t.Pods), maxTripPods)]
	return t
}

// unreadyNodes says that too many nodes are not Ready, or nothing. Cordoned nodes are
// left out on both sides: somebody is at work there, and knows.
func (o Options) unreadyNodes(s *cluster.Snapshot) string {
	all, out := 0, ""
	n := 0
	for i := range s.Nodes {
		node := &s.Nodes[i]
		if node.Object.Spec.Unschedulable {
			continue
		}
		all++
		if !node.Ready {
			n++
			if out == "" {
				out = node.Name
			}
		}
	}
	if !exceeds(n, all, o.MaxUnreadyNodesFrac) {
		return ""
	}
	return fmt.Sprintf("%d of %d nodes that are not cordoned are not Ready, more than %s (evictor.breaker.maxUnreadyNodesFrac); one is %s", n, all, percent(o.MaxUnreadyNodesFrac), out)
}

// exceeds reports whether n of all is more than the share.
func exceeds(n, all int, frac float64) bool {
	return all > 0 && float64(n) > frac*float64(all)+rounding
}

// rounding lets 2 of 10 be no more than 0.2.
const rounding = 1e-9

func (o Options) newTrip(at time.Time, why string) *plan.BreakerTrip {
	at = at.UTC()
	return &plan.BreakerTrip{At: at, Until: at.Add(o.Hold), Reason: plan.Reason{Code: plan.BreakerOpen, Message: why}}
}

// CheckOutcomes looks at what became of the moves of a pass so far. It returns why the
// pass must stop here, or nil.
func (o Options) CheckOutcomes(outcomes []plan.Outcome, now time.Time) *plan.BreakerTrip {
	tried, failed, followed, badly := 0, 0, 0, 0
	var lastFailed, lastBad string
	for _, x := range outcomes {
		if evictionFailed(x) {
			tried, failed = tried+1, failed+1
			lastFailed = x.Reason.Message
			continue
		}
		if x.Outcome != plan.Evicted {
			continue
		}
		tried++
		if x.Reason.Code == plan.OutcomeUnknown { // nobody stayed to see it
			continue
		}
		followed++
		if landedBadly(x) {
			badly++
			lastBad = x.Reason.Message
		}
	}
	switch {
	case tooMany(failed, tried, o.MaxFailedFrac):
		return o.newTrip(now, fmt.Sprintf("%d of %d evictions failed, more than %s (evictor.breaker.maxFailedFrac); the last: %s", failed, tried, percent(o.MaxFailedFrac), lastFailed))
	case tooMany(badly, followed, o.MaxBadLandingsFrac):
		return o.newTrip(now, fmt.Sprintf("%d of %d replacements landed badly, more than %s (evictor.breaker.maxBadLandingsFrac); the last: %s", badly, followed, percent(o.MaxBadLandingsFrac), lastBad))
	}
	return nil
}

func tooMany(bad, all int, frac float64) bool {
	return all >= minEvictions && bad >= minBad && exceeds(bad, all, frac)
}

// failed: the server was in trouble over the eviction, or gave no answer. A
// budget that refuses, a pod that is gone and a lack of permission are answers.
func evictionFailed(x plan.Outcome) bool {
	return x.Outcome == plan.UnknownOutcome || x.Reason.Code == plan.APIError
}

func landedBadly(x plan.Outcome) bool {
	switch x.Reason.Code {
	case plan.LandedElsewhere, plan.ReplacementNotReady, plan.ReplacementNotScheduled:
		return true
	}
	return !x.LandedAsPredicted
}

// StaysOpen says why a pass may not begin, or nil: a trip holds until its time is over
// and the cluster is well again, that is, not too many nodes are unready, and of the
// pods that the trip notes no more wait than may.
func (o Options) StaysOpen(t *plan.BreakerTrip, s *cluster.Snapshot, now time.Time) *plan.Reason {
	if t == nil {
		return nil
	}
	why, waiting := "", 0
	for _, uid := range t.Pods {
		if p := s.PodByUID(uid); p != nil && isPending(p) {
			waiting++
			why = fmt.Sprintf("%s still not scheduled, one is %s/%s", podsAre(waiting), p.Object.Namespace, p.Object.Name)
		}
	}
	if waiting <= o.MaxPendingPods.For(len(s.Pods)) {
		why = ""
	}
	switch unready := o.unreadyNodes(s); {
	case now.Before(t.Until):
		why = "at least until " + t.Until.UTC().Format(time.RFC3339)
	case unready != "":
		why = "still " + unready
	case why == "":
		return nil
	}
	r := openReason(t)
	r.Message += "; " + why
	return &r
}

// openReason says that the breaker is open, since when, and what tripped it.
func openReason(t *plan.BreakerTrip) plan.Reason {
	return plan.Reason{Code: plan.BreakerOpen, Message: fmt.Sprintf("the breaker is open since %s: %s", t.At.UTC().Format(time.RFC3339), t.Reason.Message)}
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

func podsAre(n int) string {
	if n == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", n)
}

func percent(frac float64) string { return fmt.Sprintf("%.4g%%", frac*100) }
