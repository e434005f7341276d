package history

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opts = Options{Initial: 10 * time.Minute}
)

func newMove(step int, name string) plan.Move {
	return plan.Move{Step: step, Wave: 1, From: "n1", To: "n2", Strategy: "zones",
		Pod:   plan.PodRef{Namespace: "shop", Name: fmt.Sprint(name, "-", step), UID: fmt.Sprint(name, "-uid-", step)},
		Owner: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: "x"}}
}

func newOutcome(m plan.Move, kind plan.OutcomeKind, code plan.Code) plan.Outcome {
	return plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: "because"}, LandedAsPredicted: code == plan.ZoneSkewed}
}

// recordEviction reserves one eviction in a new run, records its outcome and closes the run.
func recordEviction(st plan.PlannerState, at time.Time, kind plan.OutcomeKind, code plan.Code) (plan.PlannerState, []plan.Backoff) {
	m := newMove(1, "d")
	run := at.Format(time.RFC3339)
	st = Reserve(st, plan.OpenRun{RunID: run}, []plan.Move{m}, at)
	st, longest := RecordOutcomes(st, run, []plan.Outcome{newOutcome(m, kind, code)}, at, opts)
	return CloseRun(st, run), longest
}

func TestReservedEvictionsCount(t *testing.T) {
	a, b, c := newMove(1, "d"), newMove(2, "d"), newMove(3, "e")
	st := Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, []plan.Move{a, b, c}, noon)
	if h := CountLastHour(st, noon); h.Cluster != 3 || h.Namespace["shop"] != 3 || h.Workload[WorkloadOfMove(a)] != 2 {
		t.Errorf("reserved: %+v", h)
	}
	again := Reserve(st, plan.OpenRun{RunID: "r"}, []plan.Move{a}, noon)
	if h := CountLastHour(again, noon); h.Cluster != 3 {
		t.Errorf("reserved twice: %+v", h)
	}
	st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(a, plan.Evicted, plan.ZoneSkewed), newOutcome(b, plan.Blocked, plan.BlockedByPDB), newOutcome(c, plan.UnknownOutcome, plan.OutcomeUnknown)}, noon, opts)
	if h := CountLastHour(st, noon); h.Cluster != 2 || h.Workload[WorkloadOfMove(a)] != 1 || h.Workload[WorkloadOfMove(c)] != 1 {
		t.Errorf("after the outcomes: %+v", h)
	}
	st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(a, plan.Dropped, plan.Interrupted)}, noon, opts)
	if h := CountLastHour(st, noon); h.Cluster != 2 {
		t.Errorf("after repeated outcomes: %+v", h)
	}
	if st = CloseRun(st, "r"); len(st.Runs) != 0 || CountLastHour(st, noon).Cluster != 2 {
		t.Errorf("closed: %+v", st)
	}
}

// TestReserveSkipsOnlyWhatIsReserved: the moves after one that is reserved already are reserved.
func TestReserveSkipsOnlyWhatIsReserved(t *testing.T) {
	a, b := newMove(1, "d"), newMove(2, "d")
	st := Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, []plan.Move{a}, noon)
	st = Reserve(st, plan.OpenRun{RunID: "r"}, []plan.Move{a, b}, noon)
	if h := CountLastHour(st, noon); h.Cluster != 2 || len(st.Runs[0].Reservations) != 2 {
		t.Errorf("%+v, reservations %+v", h, st.Runs[0].Reservations)
	}
}

// TestAPodWithoutAWorkloadIsItsOwn: evictions and backoffs of a pod without a workload name the pod.
func TestAPodWithoutAWorkloadIsItsOwn(t *testing.T) {
	want := plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "a"}
	if got := WorkloadOfMove(plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: "a", UID: "u"}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestAFurtherFailureLeavesTheEarlierStateAsItWas: the second failure extends the backoff only in the new state.
func TestAFurtherFailureLeavesTheEarlierStateAsItWas(t *testing.T) {
	first, _ := recordEviction(plan.PlannerState{}, noon, plan.Evicted, plan.LandedElsewhere)
	second, _ := recordEviction(first, noon.Add(time.Hour), plan.Evicted, plan.LandedElsewhere)
	if first.Backoffs[0].Failures != 1 || second.Backoffs[0].Failures != 2 {
		t.Errorf("first %+v, second %+v", first.Backoffs, second.Backoffs)
	}
}

// TestRetriedPodCountsAgain moves a pod in a replan after the first eviction was refused.
func TestRetriedPodCountsAgain(t *testing.T) {
	run := plan.OpenRun{RunID: "r"}
	first := newMove(1, "d")
	again := first
	again.Step, again.Wave = 4, 3
	st := Reserve(plan.PlannerState{}, run, []plan.Move{first}, noon)
	st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(first, plan.Blocked, plan.BlockedByPDB)}, noon, opts)
	st = Reserve(st, run, []plan.Move{again}, noon.Add(time.Second))
	if h := CountLastHour(st, noon); h.Cluster != 1 || len(st.Runs[0].Reservations) != 2 {
		t.Errorf("reserved again: %+v, %+v", h, st.Runs[0].Reservations)
	}
	st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(first, plan.Blocked, plan.BlockedByPDB), newOutcome(again, plan.Evicted, plan.WouldReturn)}, noon.Add(time.Minute), opts)
	if h := CountLastHour(st, noon); h.Cluster != 1 || h.Workload[WorkloadOfMove(again)] != 1 || len(st.Backoffs) != 1 {
		t.Errorf("after the outcomes: %+v, backoffs %+v", h, st.Backoffs)
	}
}

// TestAdmissionBacksOff checks that a workload backs off if admission refuses an eviction, which then does not count
// against the hourly limits. A refusal by a budget has no such effect.
func TestAdmissionBacksOff(t *testing.T) {
	st, _ := recordEviction(plan.PlannerState{}, noon, plan.Blocked, plan.BlockedByPDB)
	if len(st.Backoffs) != 0 {
		t.Errorf("after a refusal by a budget: %+v", st.Backoffs)
	}
	st, _ = recordEviction(st, noon, plan.Blocked, plan.BlockedByAdmission)
	b, active := ActiveBackoff(st, WorkloadOfMove(newMove(1, "d")), noon.Add(time.Minute))
	if !active || b.Failures != 1 || b.Cause() != "admission refused an eviction" || CountLastHour(st, noon).Cluster != 0 {
		t.Errorf("after a refusal by admission: %+v, %+v", b, CountLastHour(st, noon))
	}
	st, _ = recordEviction(st, noon.Add(time.Hour), plan.Evicted, plan.ZoneSkewed)
	if len(st.Backoffs) != 0 {
		t.Errorf("after an eviction: %+v", st.Backoffs)
	}
}

// TestBackgroundEvictions follows evictions that end later. Each counts against the hourly limits.
// The first pod goes in time; the second one is still there when its time is over, so its workload
// backs off.
func TestBackgroundEvictions(t *testing.T) {
	o := Options{Initial: 10 * time.Minute, BackgroundTimeout: time.Hour}
	a, b := newMove(1, "d"), newMove(2, "e")
	st := Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, []plan.Move{a, b}, noon)
	st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(a, plan.InProgress, plan.EvictionInBackground),
		newOutcome(b, plan.InProgress, plan.EvictionInBackground)}, noon, o)
	st = Expire(CloseRun(st, "r"), noon)
	if len(st.Background) != 2 || len(st.Backoffs) != 0 || CountLastHour(st, noon).Cluster != 2 {
		t.Fatalf("after the pass: %+v", st)
	}
	if err := st.Validate(); st.APIVersion != "" && err != nil {
		t.Error(err)
	}
	both, second := snapshotOf(t, a.Pod, b.Pod), snapshotOf(t, b.Pod)
	st, late := FollowBackground(st, both, noon.Add(59*time.Minute), o)
	if len(st.Background) != 2 || len(late) != 0 {
		t.Errorf("before the timeout: %+v, late %+v", st.Background, late)
	}
	st, late = FollowBackground(st, second, noon.Add(59*time.Minute), o)
	if len(st.Background) != 1 || st.Background[0].Pod != b.Pod || len(late) != 0 || len(st.Backoffs) != 0 {
		t.Errorf("after the first pod has gone: %+v, late %+v", st, late)
	}
	st, late = FollowBackground(st, second, noon.Add(time.Hour), o)
	off, active := ActiveBackoff(st, WorkloadOfMove(b), noon.Add(time.Hour))
	if len(st.Background) != 0 || len(late) != 1 || !active || off.Cause() != "an eviction did not end" {
		t.Errorf("after the timeout: %+v, late %+v", st, late)
	}
}

func snapshotOf(t *testing.T, pods ...plan.PodRef) *cluster.Snapshot {
	t.Helper()
	o := cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
	for _, p := range pods {
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID)}})
	}
	s := must.Get(cluster.New(&o))(t)
	return s
}

func TestEvictionCountsForAnHour(t *testing.T) {
	at := noon.Add(59 * time.Second)
	st, _ := recordEviction(plan.PlannerState{}, at, plan.Evicted, plan.ZoneSkewed)
	if n := CountLastHour(st, at.Add(time.Hour)).Cluster; n != 1 {
		t.Errorf("at the hour: %d", n)
	}
	if n := CountLastHour(st, at.Add(time.Hour+time.Minute)).Cluster; n != 0 {
		t.Errorf("after it: %d", n)
	}
	if st = Expire(st, at.Add(time.Hour+time.Minute)); len(st.Evictions) != 0 {
		t.Errorf("kept: %+v", st.Evictions)
	}
}

func TestBackoffsDoubleUpToMax(t *testing.T) {
	var st plan.PlannerState
	at, w := noon, WorkloadOfMove(newMove(1, "d"))
	for i, want := range []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 80 * time.Minute, 160 * time.Minute, 320 * time.Minute, 640 * time.Minute, 1280 * time.Minute, 24 * time.Hour, 24 * time.Hour} {
		var longest []plan.Backoff
		st, longest = recordEviction(st, at, plan.Evicted, plan.ReplacementNotReady)
		b, active := ActiveBackoff(st, w, at)
		if !active || b.Until.Sub(at) != want || b.Failures != i+1 {
			t.Fatalf("failure %d: %+v, want %s", i+1, b, want)
		}
		if (len(longest) == 1) != (want == MaxBackoff) {
			t.Errorf("failure %d: longest backoffs %+v", i+1, longest)
		}
		at = b.Until
		if _, active := ActiveBackoff(st, w, at); active {
			t.Errorf("failure %d: the backoff is still active at its end", i+1)
		}
		st = Expire(st, at.Add(time.Hour))
	}
	if st = Expire(st, at.Add(MaxBackoff)); len(st.Backoffs) != 0 {
		t.Errorf("kept: %+v", st.Backoffs)
	}
}

func TestGoodAndBadLandings(t *testing.T) {
	for _, c := range []struct {
		kind    plan.OutcomeKind
		code    plan.Code
		backoff bool
	}{
		{plan.Evicted, plan.ZoneSkewed, false},
		{plan.Evicted, plan.LandedElsewhere, true},
		{plan.Evicted, plan.ReplacementNotReady, true},
		{plan.Evicted, plan.ReplacementNotScheduled, true},
		{plan.Evicted, plan.OutcomeUnknown, true},
		{plan.UnknownOutcome, plan.OutcomeUnknown, true},
		{plan.Blocked, plan.BlockedByPDB, false},
		{plan.Dropped, plan.PremiseChanged, false},
		{plan.AlreadyGone, plan.PodGoneAlready, false},
	} {
		st, _ := recordEviction(plan.PlannerState{}, noon, c.kind, c.code)
		if _, active := ActiveBackoff(st, WorkloadOfMove(newMove(1, "d")), noon); active != c.backoff {
			t.Errorf("%s %s: backoff %v, want %v", c.kind, c.code, active, c.backoff)
		}
	}
	st, _ := recordEviction(plan.PlannerState{}, noon, plan.Evicted, plan.LandedElsewhere)
	if st, _ = recordEviction(st, noon.Add(time.Hour), plan.Blocked, plan.BlockedByPDB); len(st.Backoffs) != 1 {
		t.Errorf("a refused eviction removed the backoff: %+v", st)
	}
	if st, _ = recordEviction(st, noon.Add(time.Hour), plan.Evicted, plan.ZoneSkewed); len(st.Backoffs) != 0 {
		t.Errorf("a good landing did not remove the backoff: %+v", st)
	}
}

// TestFunctionsNeverChangeTheirArgument makes random calls. No call may change its argument, counts
// must stay positive, and lists must stay sorted.
func TestFunctionsNeverChangeTheirArgument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st plan.PlannerState
		at := noon
		for i := range rapid.IntRange(1, 30).Draw(t, "calls") {
			before := fmt.Sprintf("%+v", st)
			was := st
			at = at.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "seconds")) * time.Second)
			run := rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "run")
			m := newMove(rapid.IntRange(1, 4).Draw(t, "step"), rapid.SampledFrom([]string{"d", "c", "e"}).Draw(t, "owner"))
			var next plan.PlannerState
			switch rapid.IntRange(0, 3).Draw(t, "call") {
			case 0:
				next = Reserve(st, plan.OpenRun{RunID: run, Started: at}, []plan.Move{m}, at)
			case 1:
				code := rapid.SampledFrom([]plan.Code{plan.ZoneSkewed, plan.LandedElsewhere}).Draw(t, "code")
				kind := rapid.SampledFrom([]plan.OutcomeKind{plan.Evicted, plan.Blocked}).Draw(t, "kind")
				next, _ = RecordOutcomes(st, run, []plan.Outcome{newOutcome(m, kind, code)}, at, opts)
			case 2:
				next = CloseRun(st, run)
			default:
				next = Expire(st, at)
			}
			if now := fmt.Sprintf("%+v", was); now != before {
				t.Fatalf("call %d changed its argument:\n%s\n%s", i, before, now)
			}
			st = next
			if again := Expire(Expire(st, at), at); !reflect.DeepEqual(again, Expire(st, at)) {
				t.Fatalf("expiring twice differs: %+v", again)
			}
			for j, e := range st.Evictions {
				if e.Count < 1 || j > 0 && compareEvictions(st.Evictions[j-1], e) >= 0 {
					t.Fatalf("invalid evictions: %+v", st.Evictions)
				}
			}
			for j := range st.Backoffs[min(1, len(st.Backoffs)):] {
				if st.Backoffs[j].Workload.Compare(st.Backoffs[j+1].Workload) >= 0 {
					t.Fatalf("unsorted backoffs: %+v", st.Backoffs)
				}
			}
		}
	})
}

// TestExpireKeepsAnActivePause: Expire removes a pause at its end, not before. A pause without an end stays.
func TestExpireKeepsAnActivePause(t *testing.T) {
	for _, c := range []struct {
		until time.Time
		kept  bool
	}{{time.Time{}, true}, {noon.Add(time.Second), true}, {noon, false}} {
		st := Expire(plan.PlannerState{Pause: &plan.Pause{By: "alice", Until: c.until}}, noon)
		if kept := st.Pause != nil; kept != c.kept {
			t.Errorf("a pause until %s at %s: kept %v", c.until, noon, kept)
		}
	}
}
