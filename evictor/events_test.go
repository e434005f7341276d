package evictor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// recordedEvents keeps what is recorded.
type recordedEvents struct{ lines []string }

func (n *recordedEvents) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) {
	ref := regarding.(*corev1.ObjectReference)
	text := fmt.Sprintf(note, args...)
	if len(text) > maxNoteBytes || !utf8.ValidString(text) {
		panic("a note that the API refuses")
	}
	n.lines = append(n.lines, fmt.Sprintf("%s %s/%s/%s uid=%s %s %s: %s", kind, ref.Kind, ref.Namespace, ref.Name, ref.UID, reason, action,
		text))
}

func (n *recordedEvents) AnnotatedEventf(regarding, related runtime.Object, _ map[string]string, kind, reason, action, note string,
	args ...any) {
	n.Eventf(regarding, related, kind, reason, action, note, args...)
}

func newTestRecorder() (EventRecorder, *recordedEvents) {
	n := &recordedEvents{}
	return EventRecorder{Recorder: n, Namespace: "evenkeel"}, n
}

func TestWorkloadsThatAreGivenUpAreTold(t *testing.T) {
	r, n := newTestRecorder()
	b := plan.Backoff{Workload: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}, Until: noon,
		Failures: 9,
		Reason:   plan.Reason{Code: plan.ReplacementNotReady, Message: "the replacement d1-new on n1 is not Ready after 1m30s, 100%s of it"}}
	r.BackedOff(b)
	r.LookupUID = func(kind, namespace, name string) types.UID { return types.UID(kind + "-" + namespace + "-" + name) }
	b.Reason.Message = strings.Repeat("ä", 2000)
	r.BackedOff(b)
	want := "Warning Deployment/shop/d uid= BackedOff BackOff: a replacement failed in 9 passes in a row; none of its pods is " +
		"evicted before 2026-01-02T12:00:00Z; the last failure: the replacement d1-new on n1 is not Ready after 1m30s, 100%s of it " +
		"(ReplacementNotReady)"
	if len(n.lines) != 2 || n.lines[0] != want || !strings.Contains(n.lines[1], "uid=Deployment-shop-d ") {
		t.Errorf("%q", n.lines)
	}
}

func TestWhatHoldsEvictionsIsTold(t *testing.T) {
	pause := &plan.Pause{Since: noon, By: "alice", Reason: "release 42"}
	again := &plan.Pause{Since: noon.In(time.FixedZone("x", 3600)), By: "alice", Reason: "release 42"}
	longer := &plan.Pause{Since: noon, Until: noon.Add(time.Hour), By: "bob"}
	trip := &plan.BreakerTrip{At: noon, Until: noon.Add(10 * time.Minute),
		Reason: plan.Reason{Code: plan.BreakerOpen, Message: "4 of 10 nodes"}}
	second := &plan.BreakerTrip{At: noon.Add(time.Hour), Until: noon.Add(2 * time.Hour), Reason: trip.Reason}
	const lease = " Lease/evenkeel/evenkeel uid= "
	for _, c := range []struct {
		name          string
		before, after plan.PlannerState
		want          string
	}{
		{"nothing", plan.PlannerState{}, plan.PlannerState{}, ""},
		{"paused", plan.PlannerState{}, plan.PlannerState{Pause: pause},
			"Normal" + lease + "Paused Pause: evictions have been paused since 2026-01-02T12:00:00Z by alice: release 42; to end the pause: evenkeel resume"},
		{"still paused", plan.PlannerState{Pause: pause}, plan.PlannerState{Pause: again}, ""},
		{"paused otherwise", plan.PlannerState{Pause: pause}, plan.PlannerState{Pause: longer},
			"Normal" + lease + "Paused Pause: evictions have been paused since 2026-01-02T12:00:00Z by bob, until 2026-01-02T13:00:00Z; to end the pause: evenkeel resume"},
		{"resumed", plan.PlannerState{Pause: pause}, plan.PlannerState{},
			"Normal" + lease + "Resumed Resume: evictions are no longer paused; they had been paused by alice"},
		{"tripped", plan.PlannerState{}, plan.PlannerState{Breaker: trip},
			"Warning" + lease + "BreakerOpen Stop: no evictions before 2026-01-02T12:10:00Z, and not before the cluster is healthy: 4 of 10 nodes"},
		{"still open", plan.PlannerState{Breaker: trip}, plan.PlannerState{Breaker: trip}, ""},
		{"tripped again", plan.PlannerState{Breaker: trip}, plan.PlannerState{Breaker: second},
			"Warning" + lease + "BreakerOpen Stop: no evictions before 2026-01-02T14:00:00Z, and not before the cluster is healthy: 4 of 10 nodes"},
		{"closed", plan.PlannerState{Breaker: trip}, plan.PlannerState{},
			"Normal" + lease + "BreakerClosed Resume: evictions are allowed again; the breaker had tripped because: 4 of 10 nodes"},
	} {
		r, n := newTestRecorder()
		r.StateChanged(c.before, c.after)
		if got := strings.Join(n.lines, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A pass that could judge nothing is published when its causes change, and when a pass judges something again.
func TestPassesThatJudgeNothingArePublished(t *testing.T) {
	because := func(rs ...plan.Reason) plan.Plan { return plan.Plan{NothingJudged: rs} }
	server := plan.Reason{Code: plan.UntrustedServerVersion, Message: "1.32 is not supported, 9 pods stay"}
	more := plan.Reason{Code: plan.UntrustedServerVersion, Message: "1.32 is not supported, 10 pods stay"}
	usage := plan.Reason{Code: plan.NoUsageData, Message: "no usage data"}
	const warning = "Warning Lease/evenkeel/evenkeel uid= NothingJudged Plan: the pass could judge nothing: "
	for _, c := range []struct {
		before, after plan.Plan
		want          string
	}{
		{because(), because(), ""},
		{because(), because(server), warning + "1.32 is not supported, 9 pods stay (UntrustedServerVersion)"},
		{because(server), because(more), ""},
		{because(server), because(server, usage), warning + "1.32 is not supported, 9 pods stay (UntrustedServerVersion); no usage data (NoUsageData)"},
		{because(server), because(), "Normal Lease/evenkeel/evenkeel uid= JudgingAgain Plan: the pass judged pods again; " +
			"the one before could judge nothing: 1.32 is not supported, 9 pods stay (UntrustedServerVersion)"},
	} {
		r, n := newTestRecorder()
		r.JudgedNothing(c.before, c.after)
		if got := strings.Join(n.lines, "\n"); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// An event names the other programs that evict, until none does any more.
func TestOtherDeschedulersArePublished(t *testing.T) {
	night := plan.OtherDescheduler{Program: "descheduler", Kind: "CronJob", Namespace: "kube-system", Name: "night"}
	r, n := newTestRecorder()
	r.OtherDeschedulersChanged(nil, nil)
	r.OtherDeschedulersChanged(nil, []plan.OtherDescheduler{night})
	r.OtherDeschedulersChanged([]plan.OtherDescheduler{night}, nil)
	want := []string{"Warning Lease/evenkeel/evenkeel uid= OtherDescheduler Observe: Another descheduler runs: descheduler (CronJob kube-system/night). " +
		"If both evict, each may undo what the other does; let only one evict.",
		"Normal Lease/evenkeel/evenkeel uid= NoOtherDescheduler Observe: no other descheduler runs any more"}
	if !slices.Equal(n.lines, want) {
		t.Errorf("%q", n.lines)
	}
}

// An event needs a recorder and a node. Without one of them, nothing is published.
func TestNoEventWithoutARecorderOrANode(t *testing.T) {
	r, n := newTestRecorder()
	r.InvalidHintRecord(nil, "it cannot be read")
	EventRecorder{}.InvalidHintRecord(&corev1.Node{}, "it cannot be read")
	if len(n.lines) != 0 {
		t.Errorf("%q", n.lines)
	}
}

// evictedPods keeps the pods whose eviction is published.
type evictedPods []string

func (e *evictedPods) Evicted(pod *corev1.Pod, m plan.Move) {
	*e = append(*e, pod.Name+" "+m.Pod.UID)
}

// Live publishes accepted evictions, but not refused ones.
func TestAcceptedEvictionsArePublished(t *testing.T) {
	for _, c := range []struct {
		answer error
		want   []string
	}{{nil, []string{"d1 u1"}}, {apierrors.NewForbidden(pods, "d1", nil), nil}} {
		w, published := newFakeCluster(testPod("d1", "u1", "n3")), evictedPods(nil)
		w.createReplacement, w.answer = "n1", c.answer
		l := newTestLive(w, clock.RealClock{})
		l.opts.Events = &published
		l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
		if !slices.Equal(published, c.want) {
			t.Errorf("answer %v: published %q, want %q", c.answer, published, c.want)
		}
	}
}

func TestWaitingPlansAreTold(t *testing.T) {
	r, n := newTestRecorder()
	r.PlanWaiting(plan.WaitingPlan{ID: "3f2a", Expires: noon, Strategies: map[string]int{"zones": 2, "hot": 1}})
	r.PlanRefused(plan.Approval{By: "alice", At: noon}, plan.Reason{Code: plan.PlanRefused, Message: "it expired"})
	r.PlanNotKept(plan.Reason{Code: plan.ProposalTooLarge, Message: "too large"})
	want := []string{
		"Normal Lease/evenkeel/evenkeel uid= PlanWaiting Propose: plan 3f2a with 3 steps (hot 1, zones 2) waits for approval until " +
			"2026-01-02T12:00:00Z; to see and approve it: evenkeel approve 3f2a",
		"Warning Lease/evenkeel/evenkeel uid= PlanRefused Execute: the plan that alice approved at 2026-01-02T12:00:00Z was refused: it expired",
		"Warning Lease/evenkeel/evenkeel uid= PlanNotKept Propose: too large (ProposalTooLarge)",
	}
	if !slices.Equal(n.lines, want) {
		t.Errorf("%q", n.lines)
	}
}

// TestTheNoteNamesNoPodOfAnotherNamespace checks that an event names the pod for which a pod makes room only within the
// namespace of both.
func TestTheNoteNamesNoPodOfAnotherNamespace(t *testing.T) {
	m := plan.Move{Pod: plan.PodRef{Namespace: "bank", Name: "cache"}, Reason: plan.Reason{Code: plan.DisplacedForMove, Message: "evil/a can move to n2"}}
	for namespace, want := range map[string]string{"bank": "evil/a can move to n2", "evil": "it makes room for a pod of another namespace"} {
		m.DisplacedFor = &plan.PodRef{Namespace: namespace, Name: "a"}
		if note := evictionNote(m); !strings.HasPrefix(note, "strategy : "+want+" (DisplacedForMove)") {
			t.Errorf("for a pod of %s: %q", namespace, note)
		}
	}
}

// TestTheNoteNamesHowManyNodesHelp checks that a replacement on another acceptable node does not look like a wrong
// prediction.
func TestTheNoteNamesHowManyNodesHelp(t *testing.T) {
	for nodes, want := range map[int]string{
		1:  "; its replacement is expected on n2",
		2:  "; its replacement is expected on n2, or on 1 other node that helps as much",
		33: "; its replacement is expected on n2, or on 32 other nodes that help as much",
	} {
		if note := evictionNote(plan.Move{To: "n2", Acceptable: plan.Acceptable{Nodes: nodes}}); !strings.HasSuffix(note, want) {
			t.Errorf("%d acceptable nodes: %q, want the end %q", nodes, note, want)
		}
	}
}

// The recorder of client-go merges events that differ only in their text, and shows the first text. Texts that change
// are events of their own, and repeated ones are counted.
func TestEventsWithAnotherTextAreNotMerged(t *testing.T) {
	client := fake.NewClientset()
	b := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	b.StartRecordingToSink(t.Context().Done())
	defer b.Shutdown()
	r := EventRecorder{Recorder: b.NewRecorder(scheme.Scheme, "evenkeel"), Namespace: "evenkeel"}
	pause := func(reason string) plan.PlannerState {
		return plan.PlannerState{Pause: &plan.Pause{Since: noon, By: "alice", Reason: reason}}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "u1"}}
	backoff := plan.Backoff{Workload: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}, Until: noon, Failures: 9}
	for i, id := range []string{"3f2a", "77aa", "77aa"} {
		r.PlanWaiting(plan.WaitingPlan{ID: id, Expires: noon})
		r.StateChanged(plan.PlannerState{}, pause("release "+id))
		r.InvalidHintRecord(node, "it says "+id)
		backoff.Failures = 9 + min(i, 1)
		r.BackedOff(backoff)
	}
	var got []string
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		list, err := client.EventsV1().Events("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		got = nil
		for _, e := range list.Items {
			for _, part := range []string{"3f2a", "77aa", "9 passes", "10 passes"} {
				if strings.Contains(e.Note, part) {
					got = append(got, e.Reason+" "+part)
				}
			}
		}
		slices.Sort(got)
		return len(got) >= 8, nil
	})
	want := []string{"BackedOff 10 passes", "BackedOff 9 passes", "InvalidHintRecord 3f2a", "InvalidHintRecord 77aa", "Paused 3f2a", "Paused 77aa",
		"PlanWaiting 3f2a", "PlanWaiting 77aa"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}
