// Package breaker decides when a pass must stop because the cluster gets worse, and when the next
// pass may begin. It checks four signs: NotReady nodes, pods that became unschedulable during the
// pass, failed evictions, and replacements with a bad landing.
//
// The package never reads a clock and never stores anything. A plan.BreakerTrip holds its findings.
// The breaker stays open until the trip expires and the cluster has recovered.
package breaker

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are the limits of the breaker. A value above its limit trips the breaker.
type Options struct {
	// MaxUnreadyNodesFrac is a fraction of all nodes that are not cordoned. Nodes out of scope count,
	// because the scheduler may place replacements there.
	MaxUnreadyNodesFrac float64
	// MaxPendingPods limits the pods that became unschedulable during the pass.
	MaxPendingPods plan.CountLimit
	// MaxFailedFrac is a fraction of the evictions that succeeded or failed. Refused evictions do not
	// count.
	MaxFailedFrac float64
	// MaxBadLandingsFrac is a fraction of the replacements whose outcome is known.
	MaxBadLandingsFrac float64
	// Hold is the shortest time that the breaker stays open.
	Hold time.Duration
}

// DefaultOptions returns the values of the default configuration.
func DefaultOptions() Options {
	return Options{MaxUnreadyNodesFrac: 0.3, MaxPendingPods: plan.Absolute(10), MaxFailedFrac: 0.2, MaxBadLandingsFrac: 0.2, Hold: 10 * time.Minute}
}

// A fraction of few evictions proves little: one reset connection in a pass of three evictions is
// not a sign of a bad cluster. So the breaker needs minEvictions attempts and minBad bad outcomes.
const (
	minEvictions = 3
	minBad       = 2
)

// maxTripPods limits the unschedulable pods that a trip stores.
const maxTripPods = 1000

// Baseline is the state of the cluster when a pass began: the UIDs of unschedulable pods.
type Baseline struct{ unschedulable map[string]bool }

// NewBaseline returns the baseline of a pass from the snapshot at its beginning.
func NewBaseline(s *cluster.Snapshot) Baseline {
	b := Baseline{map[string]bool{}}
	for i := range s.Pods {
		if unschedulable(&s.Pods[i]) {
			b.unschedulable[string(s.Pods[i].Object.UID)] = true
		}
	}
	return b
}

// unschedulable reports whether a scheduler found no node for the pod. A pod without a scheduling
// attempt is not unschedulable.
func unschedulable(p *cluster.Pod) bool {
	return isPending(p) && slices.ContainsFunc(p.Object.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// isPending reports whether the pod waits for a node.
func isPending(p *cluster.Pod) bool { return p.Node == cluster.NoNode && !p.Terminal && !p.Terminating }

// CheckCluster checks the cluster before or during a pass. It returns a trip if the pass must stop,
// and nil otherwise. Replacements of evicted pods count while they are unschedulable.
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

// unreadyNodes returns a message if too many nodes are NotReady, and "" otherwise. It ignores cordoned
// nodes, because an administrator is working on them.
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

// exceeds reports whether n is more than the fraction frac of all.
func exceeds(n, all int, frac float64) bool {
	return all > 0 && float64(n) > frac*float64(all)+rounding
}

// rounding is a tolerance, so that 2 of 10 does not exceed 0.2.
const rounding = 1e-9

// newTrip returns a trip that lasts for o.Hold at least.
func (o Options) newTrip(at time.Time, why string) *plan.BreakerTrip {
	at = at.UTC()
	return &plan.BreakerTrip{At: at, Until: at.Add(o.Hold), Reason: plan.Reason{Code: plan.BreakerOpen, Message: why}}
}

// CheckOutcomes checks the outcomes of a pass so far. It returns a trip if the pass must stop, and nil
// otherwise.
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
		if x.Reason.Code == plan.OutcomeUnknown { // the controller did not observe the replacement
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

// tooMany reports whether enough evictions went wrong to trip the breaker.
func tooMany(bad, all int, frac float64) bool {
	return all >= minEvictions && bad >= minBad && exceeds(bad, all, frac)
}

// evictionFailed reports whether the API server failed to answer or returned an error. A refusal by
// a budget, a deleted pod and a missing permission are answers.
func evictionFailed(x plan.Outcome) bool {
	return x.Outcome == plan.UnknownOutcome || x.Reason.Code == plan.APIError
}

// landedBadly reports whether the replacement is not Ready on a predicted node.
func landedBadly(x plan.Outcome) bool {
	switch x.Reason.Code {
	case plan.LandedElsewhere, plan.ReplacementNotReady, plan.ReplacementNotScheduled:
		return true
	}
	return !x.LandedAsPredicted
}

// StaysOpen returns why a pass may not begin, or nil if it may. The breaker stays open until the trip
// expires, few enough nodes are NotReady, and few enough pods of the trip are Pending.
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

// openReason says since when the breaker is open and what tripped it.
func openReason(t *plan.BreakerTrip) plan.Reason {
	return plan.Reason{Code: plan.BreakerOpen, Message: fmt.Sprintf("the breaker is open since %s: %s", t.At.UTC().Format(time.RFC3339), t.Reason.Message)}
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// podsAre returns "1 pod is" or "N pods are".
func podsAre(n int) string {
	if n == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", n)
}

func percent(frac float64) string { return fmt.Sprintf("%.4g%%", frac*100) }
