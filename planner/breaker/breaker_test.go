package breaker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	opts = breaker.DefaultOptions()
)

// clusterState describes the nodes and the pods of a cluster.
type clusterState struct {
	nodes, unready, cordonedUnready int
	pods                            []*corev1.Pod
}

func (w clusterState) snapshot(t testing.TB, when time.Time) *cluster.Snapshot {
	t.Helper()
	o := &cluster.Objects{TakenAt: when}
	for i := range w.nodes + w.cordonedUnready {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%02d", i+1)}}
		status := corev1.ConditionTrue
		if i < w.unready || i >= w.nodes {
			status = corev1.ConditionUnknown
		}
		n.Spec.Unschedulable = i >= w.nodes
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
		o.Nodes = append(o.Nodes, n)
	}
	o.Pods = w.pods
	s := must.Get(cluster.New(o))(t)
	return s
}

func newPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("u-" + name)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, f := range change {
		f(p)
	}
	return p
}

func setPendingReason(reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason}}
	}
}

var markUnschedulable = setPendingReason(corev1.PodReasonUnschedulable)

func bindToNode(p *corev1.Pod) { p.Spec.NodeName = "n01" }

func newPods(n int, prefix string, change ...func(*corev1.Pod)) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		out = append(out, newPod(fmt.Sprintf("%s-%03d", prefix, i), change...))
	}
	return out
}

func newOutcomes(kinds ...plan.Outcome) []plan.Outcome { return kinds }

func goodLanding() plan.Outcome {
	return plan.Outcome{Outcome: plan.Evicted, LandedAsPredicted: true, Landed: "n1", Reason: plan.Reason{Code: plan.ZoneSkewed}}
}

func newOutcome(kind plan.OutcomeKind, code plan.Code) plan.Outcome {
	return plan.Outcome{Outcome: kind, Reason: plan.Reason{Code: code, Message: "because of " + string(code)}}
}

func TestUnreadyNodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		w     clusterState
		trips bool
	}{
		{"none", clusterState{nodes: 10}, false},
		{"as many as allowed", clusterState{nodes: 10, unready: 3}, false},
		{"one more", clusterState{nodes: 10, unready: 4}, true},
		{"one of three", clusterState{nodes: 3, unready: 1}, true},
		{"cordoned ones count", clusterState{nodes: 7, unready: 2, cordonedUnready: 2}, true},
		{"as many as allowed, one of them cordoned", clusterState{nodes: 9, unready: 2, cordonedUnready: 1}, false},
		{"all are cordoned", clusterState{cordonedUnready: 3}, true},
	} {
		s := c.w.snapshot(t, noon)
		trip := opts.CheckCluster(s, breaker.NewBaseline(s), nil)
		if (trip != nil) != c.trips {
			t.Errorf("%s: %+v", c.name, trip)
		}
		if trip != nil && (trip.Reason.Code != plan.BreakerOpen || !trip.At.Equal(noon) || !trip.Until.Equal(noon.Add(10*time.Minute))) {
			t.Errorf("%s: %+v", c.name, trip)
		}
	}
}

func TestPodsThatBecameUnschedulable(t *testing.T) {
	before := clusterState{nodes: 3, pods: append(newPods(40, "old", markUnschedulable), newPods(40, "new")...)}
	base := breaker.NewBaseline(before.snapshot(t, noon))
	for _, c := range []struct {
		name  string
		pods  []*corev1.Pod
		trips int // the pods in the trip; 0 for no trip
	}{
		{"unschedulable before the pass", newPods(40, "old", markUnschedulable), 0},
		{"as many as allowed", newPods(10, "new", markUnschedulable), 0},
		{"one more", newPods(11, "new", markUnschedulable), 11},
		{"pods created during the pass", newPods(11, "fresh", markUnschedulable), 11},
		{"merely Pending", newPods(40, "new"), 0},
		{"gated", newPods(40, "new", setPendingReason(corev1.PodReasonSchedulingGated)), 0},
		{"bound meanwhile", newPods(40, "new", markUnschedulable, bindToNode), 0},
		{"terminating", newPods(40, "new", markUnschedulable, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }), 0},
		{"ended", newPods(40, "new", markUnschedulable, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), 0},
		{"a trip stores at most 1000 pods", newPods(1200, "fresh", markUnschedulable), 1000},
	} {
		trip := opts.CheckCluster(clusterState{nodes: 3, pods: c.pods}.snapshot(t, noon.Add(time.Minute)), base, nil)
		if (trip != nil) != (c.trips > 0) {
			t.Errorf("%s: %+v", c.name, trip)
			continue
		}
		if trip != nil && (len(trip.Pods) != c.trips || !slices.IsSorted(trip.Pods) || !strings.HasPrefix(trip.Pods[0], "u-")) {
			t.Errorf("%s: the trip stores %d pods: %v", c.name, len(trip.Pods), trip.Pods)
		}
	}
	off := opts
	off.MaxPendingPods = plan.Unlimited()
	if trip := off.CheckCluster(clusterState{nodes: 3, pods: newPods(300, "fresh", markUnschedulable)}.snapshot(t, noon), base, nil); trip != nil {
		t.Errorf("unlimited: %+v", trip)
	}
}

func TestFailuresAndBadLandings(t *testing.T) {
	failed, lost := newOutcome(plan.UnknownOutcome, plan.APIError), newOutcome(plan.UnknownOutcome, plan.OutcomeUnknown)
	unread, elsewhere := newOutcome(plan.Dropped, plan.APIError), newOutcome(plan.Evicted, plan.LandedElsewhere)
	budget, gone, unseen := newOutcome(plan.Blocked, plan.BlockedByPDB), newOutcome(plan.AlreadyGone, plan.PodGoneAlready), newOutcome(plan.Evicted, plan.OutcomeUnknown)
	denied, busy := newOutcome(plan.Blocked, plan.PermissionMissing), newOutcome(plan.Blocked, plan.APIThrottled)
	pending, crash := newOutcome(plan.Evicted, plan.ReplacementNotScheduled), newOutcome(plan.Evicted, plan.ReplacementNotReady)
	g, unpredicted := goodLanding(), newOutcome(plan.Evicted, plan.ZoneSkewed)
	for _, c := range []struct {
		name     string
		outcomes []plan.Outcome
		trips    string
	}{
		{"nothing", nil, ""},
		{"all well", newOutcomes(g, g, g, g), ""},
		{"one of one", newOutcomes(failed), ""},
		{"two of two", newOutcomes(failed, lost), ""},
		{"one of three", newOutcomes(failed, g, g), ""},
		{"two of three", newOutcomes(failed, lost, g), "2 of 3 evictions failed"},
		{"a pod that cannot be read", newOutcomes(unread, unread, g), "2 of 3 evictions failed"},
		{"as many as allowed", newOutcomes(failed, lost, g, g, g, g, g, g, g, g), ""},
		{"refused evictions do not change the fraction", newOutcomes(failed, lost, g, budget, budget, budget, budget, budget, budget, gone, gone), "2 of 3 evictions failed"},
		{"refused evictions are not failures", newOutcomes(budget, budget, budget, gone, gone, denied, busy), ""},
		{"one bad landing", newOutcomes(elsewhere), ""},
		{"one of three", newOutcomes(elsewhere, g, g), ""},
		{"two of three", newOutcomes(elsewhere, elsewhere, g), "2 of 3 replacements landed badly"},
		{"of every kind", newOutcomes(elsewhere, pending, crash, g, g), "3 of 5 replacements landed badly"},
		{"as many as allowed", newOutcomes(elsewhere, crash, g, g, g, g, g, g, g, g), ""},
		{"on a node that was not predicted", newOutcomes(unpredicted, unpredicted, g), "2 of 3 replacements landed badly"},
		{"unobserved replacements do not count", newOutcomes(unseen, unseen, unseen, unseen), ""},
		{"unobserved replacements do not change the fraction", newOutcomes(elsewhere, elsewhere, g, unseen, unseen, unseen, unseen, unseen, unseen, unseen), "2 of 3 replacements landed badly"},
	} {
		trip := opts.CheckOutcomes(c.outcomes, noon)
		if (trip != nil) != (c.trips != "") || trip != nil && (!strings.HasPrefix(trip.Reason.Message, c.trips) || trip.Reason.Code != plan.BreakerOpen || len(trip.Pods) > 0) {
			t.Errorf("%s: %+v, want %q", c.name, trip, c.trips)
		}
	}
}

func TestStaysOpen(t *testing.T) {
	begin := clusterState{nodes: 10}.snapshot(t, noon)
	trip := opts.CheckCluster(clusterState{nodes: 10, pods: newPods(11, "new", markUnschedulable)}.snapshot(t, noon), breaker.NewBaseline(begin), nil)
	late := noon.Add(11 * time.Minute)
	for _, c := range []struct {
		name string
		trip *plan.BreakerTrip
		w    clusterState
		at   time.Time
		open string // part of the message; "" if the breaker is closed
	}{
		{"no trip", nil, clusterState{nodes: 10, unready: 9}, noon, ""},
		{"the hold time is not over", trip, clusterState{nodes: 10}, noon.Add(10*time.Minute - 1), "it stays open at least until 2026-01-02T12:10:00Z"},
		{"all scheduled", trip, clusterState{nodes: 10, pods: newPods(11, "new", bindToNode)}, noon.Add(10 * time.Minute), ""},
		{"all gone", trip, clusterState{nodes: 10}, late, ""},
		{"as many are Pending as allowed", trip, clusterState{nodes: 10, pods: append(newPods(10, "new", markUnschedulable), newPod("new-010", bindToNode))}, late, ""},
		{"one more is Pending", trip, clusterState{nodes: 10, pods: newPods(11, "new", markUnschedulable)}, late, "11 pods still Pending, for example \"shop/new-010\""},
		{"without a scheduling attempt", trip, clusterState{nodes: 10, pods: newPods(11, "new")}, late, "11 pods still Pending"},
		{"other pods are Pending", trip, clusterState{nodes: 10, pods: newPods(30, "other", markUnschedulable)}, late, ""},
		{"nodes became NotReady", trip, clusterState{nodes: 10, unready: 4}, late, "still 4 of 10 nodes are not Ready or gone"},
		{"failures end with the hold time", opts.CheckOutcomes(newOutcomes(newOutcome(plan.UnknownOutcome, plan.APIError), newOutcome(plan.UnknownOutcome, plan.APIError), goodLanding()), noon), clusterState{nodes: 10}, noon.Add(10 * time.Minute), ""},
	} {
		r := opts.StaysOpen(c.trip, c.w.snapshot(t, c.at), nil, c.at)
		if (r != nil) != (c.open != "") || r != nil && (r.Code != plan.BreakerOpen || !strings.Contains(r.Message, "; "+c.open)) {
			t.Errorf("%s: %v, want %q", c.name, r, c.open)
		}
	}
}

// TestBreakerMessages compares the messages with testdata/trips.txt, which the reference quotes.
func TestBreakerMessages(t *testing.T) {
	begin := clusterState{nodes: 10}.snapshot(t, noon)
	base := breaker.NewBaseline(begin)
	var gone []plan.UnreadyNode
	for i := range 3 {
		gone = append(gone, plan.UnreadyNode{Name: fmt.Sprintf("n%02d", 8+i), Seen: noon, Nodes: 10 - i})
	}
	lost := newOutcome(plan.UnknownOutcome, plan.OutcomeUnknown)
	lost.Reason.Message = "no answer: read: connection reset by peer"
	elsewhere := newOutcome(plan.Evicted, plan.LandedElsewhere)
	elsewhere.Reason.Message = "landed on n3, which was not predicted (n1)"
	trips := []*plan.BreakerTrip{
		opts.CheckCluster(clusterState{nodes: 10, unready: 4}.snapshot(t, noon), base, nil),
		opts.CheckCluster(clusterState{nodes: 7, unready: 1}.snapshot(t, noon), base, gone),
		opts.CheckCluster(clusterState{nodes: 10, pods: newPods(11, "d", markUnschedulable)}.snapshot(t, noon), base, nil),
		opts.CheckOutcomes(newOutcomes(lost, lost, goodLanding(), goodLanding()), noon),
		opts.CheckOutcomes(newOutcomes(elsewhere, elsewhere, goodLanding(), goodLanding()), noon),
	}
	var lines []string
	for _, trip := range trips {
		lines = append(lines, string(trip.Reason.Code)+": "+trip.Reason.Message, "  summary: "+trip.Summary)
	}
	r := opts.StaysOpen(trips[2], clusterState{nodes: 10, pods: newPods(11, "d", markUnschedulable)}.snapshot(t, noon), nil, noon.Add(time.Hour))
	lines = append(lines, string(r.Code)+": "+r.Message)
	golden.Equal(t, "testdata/trips.txt", []byte(strings.Join(lines, "\n")+"\n"))
}

// TestFurtherFailuresNeverClose checks that a further failed eviction never closes the breaker, and that a
// refused eviction changes nothing.
func TestFurtherFailuresNeverClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []plan.Outcome{goodLanding(), newOutcome(plan.UnknownOutcome, plan.APIError), newOutcome(plan.Evicted, plan.LandedElsewhere), newOutcome(plan.Blocked, plan.BlockedByPDB)}
		list := rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 30).Draw(t, "outcomes")
		before := opts.CheckOutcomes(list, noon)
		if worse := opts.CheckOutcomes(append(slices.Clone(list), kinds[1]), noon); before != nil && worse == nil {
			t.Fatalf("one more failure closes the breaker: %+v", list)
		}
		if refused := opts.CheckOutcomes(append(slices.Clone(list), kinds[3]), noon); (refused == nil) != (before == nil) {
			t.Fatalf("a refusal by a budget changes the result: %+v", list)
		}
	})
}
