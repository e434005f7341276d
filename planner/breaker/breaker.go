// Package breaker decides when a pass must stop because the cluster gets worse, and when the next
// pass may begin. It checks four signs: nodes that are NotReady or gone, pods that became
// unschedulable during the pass, failed evictions, and replacements with a bad landing.
//
// The package never reads a clock and never stores anything. It returns its findings as a plan.BreakerTrip. The
// breaker stays open until the trip expires and the cluster has recovered.
package breaker

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are the limits of the breaker. A value above its limit trips the breaker.
type Options struct {
	// MaxUnreadyNodesFrac limits the nodes that are NotReady or gone, as a fraction of the present
	// and the gone nodes. A node is gone if it was deleted while it was NotReady and not marked for
	// removal. Cordoned nodes count, and so do nodes out of scope: the scheduler may place
	// replacements there later. Virtual nodes (cluster.VirtualKind) do not, and neither do nodes that start.
	MaxUnreadyNodesFrac float64
	// MaxPendingPods limits the pods that became unschedulable during the pass.
	MaxPendingPods plan.CountLimit
	// MaxFailedFrac limits the failed evictions, as a fraction of the evictions that succeeded or failed, and the bad
	// landings, as a fraction of the replacements with a known outcome. Refused evictions do not count.
	MaxFailedFrac float64
	// Hold is the shortest time that the breaker stays open.
	Hold time.Duration
}

// DefaultOptions returns the values of the default configuration.
func DefaultOptions() Options {
	return Options{MaxUnreadyNodesFrac: 0.3, MaxPendingPods: plan.Absolute(10), MaxFailedFrac: 0.2,
		Hold: 10 * time.Minute}
}

// A fraction of few evictions proves little: one reset connection in a pass of three evictions is no sign of a bad
// cluster. Therefore the breaker trips only after minEvictions attempts with minBad bad outcomes.
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

// CheckCluster checks the cluster before or during a pass. It returns a trip if the pass must stop, and nil otherwise.
// unready is the result of RecordUnready. Replacements of evicted pods count while they are unschedulable.
func (o Options) CheckCluster(s *cluster.Snapshot, b Baseline, unready []plan.UnreadyNode) *plan.BreakerTrip {
	if summary, detail := o.unreadyNodes(s, unready); summary != "" {
		return o.newTrip(s.TakenAt, summary, detail)
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
	summary := fmt.Sprintf("%s became unschedulable since the pass began, more than %s (evictor.breaker.maxPendingPods)",
		plural.Count(len(fresh), "pod"), o.MaxPendingPods)
	t := o.newTrip(s.TakenAt, summary, fmt.Sprintf(", for example %q", fresh[0].Object.Namespace+"/"+fresh[0].Object.Name))
	for _, p := range fresh {
		t.Pods = append(t.Pods, string(p.Object.UID))
	}
	slices.Sort(t.Pods)
	t.Pods = t.Pods[:min(len(t.Pods), maxTripPods)]
	return t
}

// unreadyNodes returns a summary and its details if too many nodes are NotReady or gone, and "" otherwise.
func (o Options) unreadyNodes(s *cluster.Snapshot, lastSeen []plan.UnreadyNode) (summary, detail string) {
	gone, since := goneNodes(s, lastSeen)
	unready := 0
	if gone > 0 {
		detail = fmt.Sprintf(", %d of them gone since %s", gone, since.UTC().Format(time.RFC3339))
	}
	for i := range s.Nodes {
		if node := &s.Nodes[i]; !node.Ready && cluster.VirtualKind(node.Object) == "" && !isStarting(node.Object, s.TakenAt) {
			if unready++; unready == 1 {
				detail += fmt.Sprintf(", for example %q", node.Name)
			}
		}
	}
	all := countMachines(s) + gone
	if !exceedsFraction(gone+unready, all, o.MaxUnreadyNodesFrac) {
		return "", ""
	}
	return fmt.Sprintf("%d of %d nodes are not Ready or gone, more than %s (evictor.breaker.maxUnreadyNodesFrac)",
		gone+unready, all, percentLimit(gone+unready, all, o.MaxUnreadyNodesFrac)), detail
}

// exceedsFraction reports whether n is more than the fraction frac of all.
func exceedsFraction(n, all int, frac float64) bool {
	return all > 0 && float64(n) > frac*float64(all)+roundingTolerance
}

// roundingTolerance keeps floating-point errors from making 2 of 10 exceed 0.2.
const roundingTolerance = 1e-9

// newTrip returns a trip that lasts at least o.Hold. Only detail may contain names and messages of other programs.
func (o Options) newTrip(at time.Time, summary, detail string) *plan.BreakerTrip {
	at = at.UTC()
	return &plan.BreakerTrip{At: at, Until: at.Add(o.Hold), Summary: summary,
		Reason: plan.Reason{Code: plan.BreakerOpen, Message: summary + detail}}
}

// CheckOutcomes checks the outcomes of a pass so far. It returns a trip if the pass must stop, and nil otherwise.
func (o Options) CheckOutcomes(outcomes []plan.Outcome, now time.Time) *plan.BreakerTrip {
	tried, failed, observed, bad := 0, 0, 0, 0
	var lastFailed, lastBad string
	for _, x := range outcomes {
		if x.Outcome == plan.UnknownOutcome || x.Reason.Code == plan.APIError { // no answer or an error, but no refusal
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
		observed++
		if !x.LandedWell() {
			bad++
			lastBad = x.Reason.Message
		}
	}
	switch {
	case exceedsWithMinimum(failed, tried, o.MaxFailedFrac):
		return o.newTrip(now, fmt.Sprintf("%d of %d evictions failed, more than %s (evictor.breaker.maxFailedFrac)",
			failed, tried, percentLimit(failed, tried, o.MaxFailedFrac)), "; the last failure: "+lastFailed)
	case exceedsWithMinimum(bad, observed, o.MaxFailedFrac):
		return o.newTrip(now, fmt.Sprintf("%d of %d replacements landed badly, more than %s (evictor.breaker.maxFailedFrac)",
			bad, observed, percentLimit(bad, observed, o.MaxFailedFrac)), "; the last bad landing: "+lastBad)
	}
	return nil
}

// exceedsWithMinimum is exceedsFraction, but returns false for fewer than minEvictions or minBad evictions.
func exceedsWithMinimum(bad, all int, frac float64) bool {
	return all >= minEvictions && bad >= minBad && exceedsFraction(bad, all, frac)
}

// StaysOpen returns the reason why no pass may begin, or nil if a pass may begin. The breaker stays
// open until the trip expires, few enough nodes are NotReady or gone, and few enough pods of the
// trip are Pending. lastSeen is the result of RecordUnready.
func (o Options) StaysOpen(t *plan.BreakerTrip, s *cluster.Snapshot, lastSeen []plan.UnreadyNode, now time.Time) *plan.Reason {
	if t == nil {
		return nil
	}
	why, waiting := "", 0
	for _, uid := range t.Pods {
		if p := s.PodByUID(uid); p != nil && isPending(p) {
			waiting++
			why = fmt.Sprintf("%s still Pending, for example %q", plural.Count(waiting, "pod"), p.Object.Namespace+"/"+p.Object.Name)
		}
	}
	if waiting <= o.MaxPendingPods.For(len(s.Pods)) {
		why = ""
	}
	switch unready, detail := o.unreadyNodes(s, lastSeen); {
	case now.Before(t.Until):
		why = "it stays open at least until " + t.Until.UTC().Format(time.RFC3339)
	case unready != "":
		why = "still " + unready + detail
	case why == "":
		return nil
	}
	return &plan.Reason{Code: plan.BreakerOpen, Message: fmt.Sprintf(
		"the breaker has been open since %s: %s; %s", t.At.UTC().Format(time.RFC3339), t.Reason.Message, why)}
}

// percentLimit formats the limit frac, with enough decimals to show that n of all exceeds it.
func percentLimit(n, all int, frac float64) string {
	_, limit := percent.Pair(float64(n)/float64(all), frac)
	return limit
}
