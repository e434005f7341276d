package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/plan"
)

// randomState generates a valid state.
func randomState(t *rapid.T) plan.PlannerState {
	st := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind}
	when := func() time.Time {
		return noon.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "minutes")) * time.Minute)
	}
	namespace := rapid.SampledFrom([]string{"shop", "bank", "a", "b", "c", "d", "ops", "far"})
	workload := func() plan.ObjectRef {
		return plan.ObjectRef{APIVersion: "apps/v1", Kind: rapid.SampledFrom([]string{"Deployment", "StatefulSet"}).Draw(t, "kind"),
			Namespace: namespace.Draw(t, "ns"), Name: rapid.StringMatching("[a-c]").Draw(t, "name")}
	}
	some := func(what string, f func(i int)) {
		for i := range rapid.IntRange(0, 8).Draw(t, what) {
			f(i)
		}
	}
	some("budgets", func(i int) { setKey(&st.SpentBudgets, namespace.Draw(t, "ns")+fmt.Sprint("/b", i), when()) })
	some("evictions", func(int) {
		e := plan.EvictionCount{Workload: workload(), Minute: when(), Count: rapid.IntRange(1, 9).Draw(t, "count")}
		if !slices.ContainsFunc(st.Evictions, func(o plan.EvictionCount) bool { return o.Workload == e.Workload && o.Minute.Equal(e.Minute) }) {
			st.Evictions = append(st.Evictions, e)
		}
	})
	some("backoffs", func(i int) {
		b := plan.Backoff{Workload: workload(), Since: when(), Failures: 1 + i, Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "m"}}
		b.Until = b.Since.Add(time.Hour)
		if !slices.ContainsFunc(st.Backoffs, func(o plan.Backoff) bool { return o.Workload == b.Workload }) {
			st.Backoffs = append(st.Backoffs, b)
		}
	})
	some("runs", func(i int) {
		run := plan.OpenRun{RunID: fmt.Sprint("r", i), Holder: "me", Started: when()}
		some("reservations", func(j int) {
			w := workload()
			run.Reservations = append(run.Reservations, plan.Reservation{Step: j + 1, Wave: 1,
				Pod: plan.PodRef{Namespace: w.Namespace, Name: "p", UID: fmt.Sprint(i, "-", j)}, Workload: w, At: when()})
		})
		st.Runs = append(st.Runs, run)
	})
	if rapid.Bool().Draw(t, "tripped") {
		st.Breaker = &plan.BreakerTrip{At: when(), Pods: []string{"u"}}
	}
	some("unreadyNodes", func(i int) {
		st.UnreadyNodes = append(st.UnreadyNodes, plan.UnreadyNode{Name: fmt.Sprint("n", i), Seen: noon, Nodes: 100})
	})
	some("schedulers", func(i int) { setKey(&st.Schedulers, fmt.Sprint("s", i), plan.SchedulerBindings{Seen: i}) })
	some("announced", func(i int) { st.Announced = append(st.Announced, fmt.Sprint("usageSilent/", i)) })
	some("strategyRuns", func(i int) { setKey(&st.StrategyRuns, fmt.Sprint("z", i), plan.StrategyRun{Started: when()}) })
	st.Sort()
	return st
}

// Merging a split state returns the same state, and splitting it again returns the same bytes.
func TestSplitThenMergeIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := randomState(t)
		cut := splitState(st)
		if d := cmp.Diff(st, mergeParts(cut)); d != "" {
			t.Fatal(d)
		}
		again := splitState(mergeParts(splitState(st)))
		for name, p := range cut {
			if !slices.Contains(partNames(), name) {
				t.Fatalf("unexpected part %q", name)
			}
			p.Sort()
			other := again[name]
			other.Sort()
			a, _ := json.Marshal(p)
			b, _ := json.Marshal(other)
			if !bytes.Equal(a, b) || len(a) == 0 {
				t.Fatalf("part %s:\n%s\n%s", name, a, b)
			}
			cm, err := packConfigMap(ns, "x", a)
			if err != nil {
				t.Fatal(err)
			}
			if _, text, err := unpackConfigMap(cm, new(unpacked)); err != nil || !bytes.Equal(text, a) {
				t.Fatalf("part %s is unpacked as %s, error %v", name, text, err)
			}
		}
	})
}

// All data of a namespace is in one part, so a crash between two writes never separates an
// eviction and its reservation.
func TestAReservationStaysWithItsEviction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for name, p := range splitState(randomState(t)) {
			for _, e := range p.Evictions {
				if partOf(e.Workload.Namespace) != name {
					t.Fatalf("%s is in the wrong part %s", e.Workload, name)
				}
			}
			for _, run := range p.Runs {
				for _, r := range run.Reservations {
					if partOf(r.Pod.Namespace) != name {
						t.Fatalf("%s is in the wrong part %s", r.Pod, name)
					}
				}
			}
		}
	})
}

// The number of parts is part of the storage format.
func TestTheNumberOfPartsIsFixed(t *testing.T) {
	if got := partNames(); len(got) != 17 || got[0] != "00" || got[15] != "15" || got[16] != "cluster" {
		t.Errorf("%v", got)
	}
	for namespace, want := range map[string]string{"shop": "09", "bank": "07", "": "cluster"} {
		if got := partOf(namespace); got != want {
			t.Errorf("namespace %q is in part %s, want %s", namespace, got, want)
		}
	}
}
