package state

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

var errReset = errors.New("connection reset by peer")

func TestAWriteOfUnknownOutcomeIsLookedAtBeforeTheNext(t *testing.T) {
	for name, took := range map[string]bool{"it took place": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			api := newFakeServer()
			s := New(api.client(), ns)
			st := history.Reserve(mustLoad(t, s), plan.OpenRun{RunID: "r1"}, []plan.Move{testMove(1, "shop")}, noon)
			once := func(verb, _ string, _ int) error {
				if verb == "get" {
					return nil
				}
				api.before, api.after = nil, nil
				return errReset
			}
			if took {
				api.after = once
			} else {
				api.before = once
			}
			mustSave(t, s, st)
			if len(api.writes) != 1 {
				t.Errorf("got %d writes, error %v", len(api.writes), api.writes)
			}
			if d := cmp.Diff(st, mustLoad(t, New(api.client(), ns))); d != "" {
				t.Error(d)
			}
			mustSave(t, s, history.CloseRun(st, "r1"))
		})
	}
}

func TestAnUnknownOutcomeDoesNotHideAnotherWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call would otherwise wait for its back-off
		api := newFakeServer()
		s, other := New(api.client(), ns), New(api.client(), ns)
		st := history.Reserve(mustLoad(t, s), plan.OpenRun{RunID: "r1"}, []plan.Move{testMove(1, "shop")}, noon)
		theirs := history.Reserve(mustLoad(t, other), plan.OpenRun{RunID: "r2"}, []plan.Move{testMove(2, "shop")}, noon)
		api.before = func(verb, _ string, _ int) error { return errReset }
		if err := s.Save(t.Context(), st); !errors.Is(err, errReset) {
			t.Errorf("got %v", err)
		}
		api.before = nil
		mustSave(t, other, theirs)
		if err := s.Save(t.Context(), st); !errors.Is(err, ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	})
}

// A leader saves in every pass while calls fail before or after they take effect. The leader loads
// the state again after each error. The loaded state never misses an eviction of the last save.
func TestNothingIsLostBehindABadProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call would otherwise wait for its back-off
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 5))
			api := newFakeServer()
			frac := r.Float64() * 0.5
			fault := func(string, string, int) error {
				if r.Float64() < frac {
					return []error{errReset, apierrors.NewInternalError(errReset), apierrors.NewTooManyRequests("slow down", 0),
						apierrors.NewServerTimeout(configMaps, "get", 1)}[r.IntN(4)]
				}
				return nil
			}
			s, sure, saved, failed := New(api.client(), ns), plan.PlannerState{}, 0, 0
			for i := range 40 {
				api.before, api.after = fault, fault
				st, err := s.Load(t.Context())
				if err != nil {
					failed++
					continue
				}
				if missing := missingEviction(sure, st); missing != "" {
					t.Fatalf("seed %d, pass %d: %s", seed, i, missing)
				}
				m := testMove(i+1, fmt.Sprint("ns", r.IntN(9)))
				st = history.Reserve(st, plan.OpenRun{RunID: fmt.Sprint("r", i)}, []plan.Move{m, testMove(i+100, "shop")}, noon)
				if err := s.Save(t.Context(), st); err != nil {
					if failed++; errors.Is(err, ErrConflict) {
						t.Fatalf("seed %d, pass %d: got a conflict without another process: %v", seed, i, err)
					}
					continue
				}
				sure, saved = st, saved+1
			}
			if saved == 0 && frac < 0.3 {
				t.Errorf("seed %d: %.0f %% of calls fail, and no save of 40 passes succeeded", seed, frac*100)
			}
		}
	})
}

// missingEviction returns an eviction that counts in one state but not in the other, or "".
func missingEviction(in, from plan.PlannerState) string {
	before, now := history.CountLastHour(in, noon), history.CountLastHour(from, noon)
	for w, n := range before.Workload {
		if now.Workload[w] < n {
			return fmt.Sprintf("%s: %d of %d evictions remain", w, now.Workload[w], n)
		}
	}
	return ""
}
