package evictor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// ownedPod returns a pod of ReplicaSet rs.
func ownedPod(name string) *corev1.Pod {
	p := testPod(name, "u"+name, "n3")
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "rs", UID: "rs", Controller: ptr.To(true)}}
	return p
}

// moveWithSiblings returns a move of d1 that requires another Ready pod of ReplicaSet rs.
func moveWithSiblings() plan.Move {
	m := testMove(1, "d1", "ud1")
	m.ReadyRequirements = []plan.ReadyRequirement{{Of: "Deployment d", Selector: "app=d", OwnerUIDs: []string{"rs"}, MinReady: 1,
		Code: plan.WorkloadUnavailable}}
	return m
}

// TestSiblingsAreReadRightBeforeTheEviction checks that a pod is not evicted if the other pod of its workload stopped
// being available after the snapshot.
func TestSiblingsAreReadRightBeforeTheEviction(t *testing.T) {
	denied := apierrors.NewForbidden(pods, "", errors.New("no"))
	for _, tc := range []struct {
		name   string
		change func(w *fakeCluster, sibling *corev1.Pod, r *plan.ReadyRequirement)
		code   plan.Code // "" if the pod is evicted
		stop   bool
	}{
		{"unchanged", func(*fakeCluster, *corev1.Pod, *plan.ReadyRequirement) {}, "", false},
		{"no longer Ready", func(_ *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) { p.Status.Conditions = nil }, plan.WorkloadUnavailable, false},
		{"terminating", func(_ *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) {
			p.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}, plan.WorkloadUnavailable, false},
		{"gone", func(w *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) { delete(w.pods, p.Name) }, plan.WorkloadUnavailable, false},
		{"of another owner", func(_ *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) { p.OwnerReferences[0].UID = "other" },
			plan.WorkloadUnavailable, false},
		{"without owner", func(_ *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) { p.OwnerReferences = nil }, plan.WorkloadUnavailable, false},
		{"without owner, and any owner will do", func(_ *fakeCluster, p *corev1.Pod, r *plan.ReadyRequirement) {
			p.OwnerReferences, r.OwnerUIDs = nil, nil
		}, "", false},
		{"not selected", func(_ *fakeCluster, p *corev1.Pod, _ *plan.ReadyRequirement) { p.Labels = nil }, plan.WorkloadUnavailable, false},
		{"Ready since an unknown time", func(_ *fakeCluster, _ *corev1.Pod, r *plan.ReadyRequirement) { r.MinReadyTime = time.Minute },
			plan.WorkloadUnavailable, false},
		{"Ready for a short time", func(_ *fakeCluster, p *corev1.Pod, r *plan.ReadyRequirement) {
			r.MinReadyTime, p.Status.Conditions[0].LastTransitionTime = time.Minute, metav1.NewTime(time.Now().Add(-time.Second))
		}, plan.WorkloadUnavailable, false},
		{"Ready for long enough", func(_ *fakeCluster, p *corev1.Pod, r *plan.ReadyRequirement) {
			r.MinReadyTime, p.Status.Conditions[0].LastTransitionTime = time.Minute, metav1.NewTime(time.Now().Add(-time.Minute))
		}, "", false},
		{"unknown", func(w *fakeCluster, _ *corev1.Pod, _ *plan.ReadyRequirement) {
			w.onList = func(int) error { return errors.New("connection refused") }
		}, plan.APIError, false},
		{"forbidden", func(w *fakeCluster, _ *corev1.Pod, _ *plan.ReadyRequirement) {
			w.onList = func(int) error { return denied }
		}, plan.PermissionMissing, true},
		{"throttled at first", func(w *fakeCluster, _ *corev1.Pod, _ *plan.ReadyRequirement) {
			w.onList = func(n int) error {
				if n == 1 {
					return apierrors.NewTooManyRequests("later", 1)
				}
				return nil
			}
		}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, sibling := moveWithSiblings(), ownedPod("d2")
				w := newFakeCluster(ownedPod("d1"), sibling)
				w.createReplacement = "n1"
				tc.change(w, sibling, &m.ReadyRequirements[0])
				r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{m}, nil)
				o := singleOutcome(t, r)
				evicted := o.Outcome == plan.Evicted
				if evicted != (tc.code == "") || !evicted && o.Reason.Code != tc.code || evicted != (w.evictRequests == 1) || (r.Stop != nil) != tc.stop {
					t.Errorf("%d requests, outcome %+v, stop %v", w.evictRequests, o, r.Stop)
				}
			})
		})
	}
}

// TestNoEvictionAfterAStopWhileSiblingsAreRead: a read that fails because the process must stop is not an API error.
func TestNoEvictionAfterAStopWhileSiblingsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := newFakeCluster(ownedPod("d1"), ownedPod("d2"))
		w.onList = func(int) error { stop(); return ctx.Err() }
		o := singleOutcome(t, newTestLive(w, clock.RealClock{}).EvictWave(ctx, []plan.Move{moveWithSiblings()}, nil))
		if o.Outcome != plan.Dropped || o.Reason.Code != plan.Interrupted || w.evictRequests > 0 {
			t.Errorf("%d requests, outcome %+v", w.evictRequests, o)
		}
	})
}

// TestTheReadOfSiblingsIsBounded checks that at most siblingPages pages of siblings are read. If none of them has a
// Ready pod, the pod is not evicted. The fake API server returns one pod per page.
func TestTheReadOfSiblingsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCluster(ownedPod("d1"))
		withUnreadySiblings(w, 2*siblingPages)
		o := singleOutcome(t, newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{moveWithSiblings()}, nil))
		if o.Reason.Code != plan.WorkloadUnavailable || !strings.Contains(o.Reason.Message, "the first 5000 pods") || w.lists != siblingPages {
			t.Errorf("%d lists, outcome %+v", w.lists, o)
		}
	})
}

// TestAWorkloadLosesOnePodUntilItsReplacementExists evicts three pods of a workload in one wave.
func TestAWorkloadLosesOnePodUntilItsReplacementExists(t *testing.T) {
	owner := plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: "d"}
	for name, tc := range map[string]struct {
		pending  bool // a replacement is created and stays pending
		requests int
	}{"no replacement": {false, 1}, "pending replacements": {true, 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFakeCluster()
				w.pending, w.notReady = tc.pending, true
				var moves []plan.Move
				for i, name := range []string{"d1", "d2", "d3"} {
					w.pods[name] = testPod(name, "u"+name, "n3")
					m := testMove(i+1, name, "u"+name)
					m.Owner = owner
					moves = append(moves, m)
				}
				r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), moves, nil)
				if w.evictRequests != tc.requests || r.Stop == nil || r.Stop.Code != plan.ReplacementNotScheduled {
					t.Errorf("%d evictions, want %d; stop reason %v, outcomes %+v", w.evictRequests, tc.requests, r.Stop, r.Outcomes)
				}
			})
		})
	}
}

// TestEachPageOfSiblingsHasItsOwnTimeout checks that the pod is evicted although the pages of siblings together take
// longer than the timeout of one page.
func TestEachPageOfSiblingsHasItsOwnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCluster(ownedPod("d1"), ownedPod("d6"))
		for _, name := range []string{"d2", "d3", "d4", "d5"} {
			p := ownedPod(name)
			p.Status.Conditions = nil
			w.pods[name] = p
		}
		w.createReplacement = "n1"
		l := newTestLive(w, clock.RealClock{})
		l.podAPI = slowLists{w}
		if r := l.EvictWave(t.Context(), []plan.Move{moveWithSiblings()}, nil); w.evictRequests != 1 {
			t.Errorf("%d requests: %+v", w.evictRequests, r.Outcomes)
		}
	})
}

// withUnreadySiblings adds n pods that are not Ready, each of which is on a page of its own.
func withUnreadySiblings(w *fakeCluster, n int) {
	for i := range n {
		p := ownedPod(fmt.Sprintf("e%03d", i))
		p.Status.Conditions = nil
		w.pods[p.Name] = p
	}
}

// TestTheReadsOfAllSiblingsHaveOneTimeout checks that a move is dropped if reading the siblings takes longer than
// siblingsTimeout, and that the next move is then executed. Each page takes 1 s and has no Ready pod.
func TestTheReadsOfAllSiblingsHaveOneTimeout(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(ownedPod("d1"), testPod("x1", "ux1", "n3"))
		withUnreadySiblings(w, siblingPages)
		l := newTestLive(w, clock.RealClock{})
		l.podAPI, l.pacer = slowLists{w}, newPacer(600, clock.RealClock{})
		h := &throttle{clock: clock.RealClock{}, waveStarted: noon, maxAge: maxWaveAge}
		ended := make(chan attempt)
		try := func(m plan.Move) {
			_, _, a := l.tryUntilAnswered(t.Context(), t.Context(), h, m)
			ended <- a
		}
		go try(moveWithSiblings())
		synctest.Wait()
		go try(testMove(2, "x1", "ux1"))
		if o := (<-ended).outcome; o.Outcome != plan.Dropped || o.Reason.Code != plan.APIError ||
			!strings.Contains(o.Reason.Message, "took more than 10s") {
			t.Errorf("%d lists: %+v", w.lists, o)
		}
		if <-ended; w.evictRequests != 1 || time.Since(noon) != siblingsTimeout {
			t.Errorf("the next move: %d evictions after %s, want one after %s", w.evictRequests, time.Since(noon), siblingsTimeout)
		}
	})
}

// TestNoSiblingsAreReadForAStaleWave checks that no further siblings are read once the wave has become stale, while
// siblings are read or before the pod is read. The move is then dropped.
func TestNoSiblingsAreReadForAStaleWave(t *testing.T) {
	for name, tc := range map[string]struct {
		age          time.Duration // of the wave
		reads, lists int
	}{"during the check": {maxWaveAge - 1500*time.Millisecond, 1, 2}, "before the check": {maxWaveAge + 1, 0, 0}} {
		t.Run(name, func(t *testing.T) {
			runAtNoon(t, func(t *testing.T) {
				w := newFakeCluster(ownedPod("d1"))
				withUnreadySiblings(w, siblingPages)
				l := newTestLive(w, clock.RealClock{})
				l.podAPI = slowLists{w}
				h := &throttle{clock: clock.RealClock{}, waveStarted: noon.Add(-tc.age), maxAge: maxWaveAge}
				pod, _, a := l.checkOnce(t.Context(), h, moveWithSiblings())
				if pod != nil || a.outcome.Reason.Code != plan.PremiseChanged || w.reads != tc.reads || w.lists != tc.lists {
					t.Errorf("%d reads, %d lists, want %d and %d: %+v", w.reads, w.lists, tc.reads, tc.lists, a.outcome)
				}
			})
		})
	}
}

// slowLists answers each list after a second of the test's clock.
type slowLists struct{ *fakeCluster }

func (s slowLists) list(ctx context.Context, namespace string, opts metav1.ListOptions) (*corev1.PodList, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Second):
		return s.fakeCluster.list(ctx, namespace, opts)
	}
}

// TestNoEvictionBeginsAfterTheMaximumAgeOfItsWave: the replacement of the first pod exists after 44
// s, and the API server then asks to wait for 29 s. If a turn of the pacer comes once a minute,
// waiting for it is allowed.
func TestNoEvictionBeginsAfterTheMaximumAgeOfItsWave(t *testing.T) {
	for _, perMinute := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "ud1", "n3"), testPod("d2", "ud2", "n3"))
			moves := []plan.Move{testMove(1, "d1", "ud1"), testMove(2, "d2", "ud2")}
			for i := range moves {
				moves[i].Owner = plan.ObjectRef{Kind: "StatefulSet", Namespace: "shop", Name: "d"}
			}
			w.onEvict = func() {
				w.answer = nil
				if w.evictRequests == 2 {
					w.answer = apierrors.NewTooManyRequests("slow down", 29)
				}
				name := fmt.Sprint("new", w.evictRequests)
				time.AfterFunc(44*time.Second, func() { w.add(testPod(name, name, "n1")) })
			}
			l := newTestLive(w, clock.RealClock{})
			l.pacer = newPacer(perMinute, clock.RealClock{})
			if r := l.EvictWave(t.Context(), moves, nil); w.evictRequests != 2 {
				t.Errorf("perMinute %d: %d requests, want 2: %+v", perMinute, w.evictRequests, r.Outcomes)
			}
		})
	}
}

// TestAPodThatWaitsTooLongForItsWorkloadIsNotEvicted: the first pod of a workload takes a minute to end, and its
// replacement, which needs its name, is created after that.
func TestAPodThatWaitsTooLongForItsWorkloadIsNotEvicted(t *testing.T) {
	for after, want := range map[time.Duration]int{maxWaveAge + time.Second: 1, maxWaveAge - time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "ud1", "n3"), testPod("d2", "ud2", "n3"))
			var moves []plan.Move
			for i, name := range []string{"d1", "d2"} {
				m := testMove(i+1, name, "u"+name)
				m.Owner = plan.ObjectRef{Kind: "StatefulSet", Namespace: "shop", Name: "d"}
				moves = append(moves, m)
			}
			w.onEvict = func() {
				n := w.evictRequests
				time.AfterFunc(after, func() { w.add(testPod(fmt.Sprintf("new%d", n), fmt.Sprintf("new%d", n), "n1")) })
			}
			r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), moves, nil)
			dropped := 0
			for _, o := range r.Outcomes {
				if o.Outcome == plan.Dropped && o.Reason.Code == plan.PremiseChanged {
					dropped++
				}
			}
			if w.evictRequests != want || dropped != 2-want {
				t.Errorf("replacement after %s: %d evictions, want %d: %+v", after, w.evictRequests, want, r.Outcomes)
			}
		})
	}
}
