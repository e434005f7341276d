package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/plan"
)

func TestPlannerStateRoundTrip(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}
	c := d
	c.Name = "c"
	want := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind,
		SpentBudgets: map[string]time.Time{"shop/web": at},
		Announced:    []string{"breakerTripped/2026-01-01T00:00:00Z", "usageSilent/"},
		UnreadyNodes: []plan.UnreadyNode{{Name: "n1", Seen: at, Nodes: 40}},
		Schedulers:   map[string]plan.SchedulerBindings{"fancy": {Seen: 70, Predicted: 60, Hits: 58}},
		StrategyRuns: map[string]plan.StrategyRun{"zones": {Started: at, ByEvent: at}},
		Evictions: []plan.EvictionCount{{Workload: c, Minute: at, Count: 2}, {Workload: d, Minute: at, Count: 1},
			{Workload: d, Minute: at.Add(time.Minute), Count: 1}},
		Backoffs: []plan.Backoff{{Workload: c, Since: at, Until: at, Failures: 1}, {Workload: d, Since: at, Until: at, Failures: 1}},
		Runs: []plan.OpenRun{{RunID: "a", Reservations: []plan.Reservation{{Step: 1, Pod: plan.PodRef{UID: "x"}, Workload: d},
			{Step: 2, Pod: plan.PodRef{UID: "a"}, Workload: d}}},
			{RunID: "b"}},
		Pause: &plan.Pause{Since: at, By: "me"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.ReadPlannerState(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// A person may write a state with lists in any order.
	slices.Reverse(want.Evictions)
	slices.Reverse(want.Backoffs)
	slices.Reverse(want.Runs)
	slices.Reverse(want.Announced)
	slices.Reverse(want.Runs[1].Reservations)
	text, _ = json.Marshal(want)
	mixed, err := plan.ReadPlannerState(text)
	if d := cmp.Diff(got, mixed); d != "" || err != nil {
		t.Error(err, d)
	}
	if none, err := plan.ReadPlannerState(nil); err != nil || len(none.Evictions) != 0 || len(none.Schedulers) != 0 ||
		none.Kind != plan.PlannerStateKind {
		t.Errorf("no text: %+v, %v", none, err)
	}
}

func TestInvalidPlannerStatesAreRefused(t *testing.T) {
	const begin = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState",`
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf(`"s%d":{"seen":1,"predicted":1,"hits":1}`, i)
	}
	runs := make([]string, 1001)
	for i := range runs {
		runs[i] = fmt.Sprintf(`"s%d":{"byEvent":"2026-01-01T00:00:00Z"}`, i)
	}
	for text, want := range map[string]string{
		`{"apiVersion":"evenkeel.io/v2","kind":"PlannerState","more":1}`:                                                                                 "the document is a evenkeel.io/v2 PlannerState (want evenkeel.io/v1alpha1 PlannerState)",
		`{"apiVersion":"evenkeel.io/v1alpha1","kind":"Plan"}`:                                                                                            "want evenkeel.io/v1alpha1 PlannerState",
		begin + `"evictions":[{"workload":{"kind":"Deployment","name":"d"},"minute":"2026-01-01T00:00:00Z","count":0}]}`:                                 "evictions[0]: want",
		begin + `"evictions":[{"workload":{"kind":"Deployment","name":""},"minute":"2026-01-01T00:00:00Z","count":1}]}`:                                  "evictions[0]: want",
		begin + `"backoffs":[{"workload":{"kind":"Deployment","name":"d"},"failures":0}]}`:                                                               "backoffs[0]: want",
		begin + `"backoffs":[{"workload":{"kind":"Deployment","name":"d"},"failures":1,"since":"2026-01-01T00:00:00Z","until":"2025-01-01T00:00:00Z"}]}`: "backoffs[0]: want",
		begin + `"announced":[""]}`:                                    "announced[0]: want 1 to 512 bytes",
		begin + `"announced":["` + strings.Repeat("a", 513) + `"]}`:    "announced[0]: want 1 to 512 bytes",
		begin + `"announced":["a"` + strings.Repeat(`,"a"`, 32) + `]}`: "announced: 33 entries (want at most 32)",
		begin + `"runs":[{"reservations":[]}]}`:                        "runs[0].runID: missing",
		begin + `"runs":[{"runID":"r","reservations":[{"pod":{"namespace":"a","name":"b"},"workload":{"name":"d"}}]}]}`: "runs[0].reservations[0]: want",
		begin + `"schedulers":{"a":{"seen":3,"predicted":2,"hits":3}}}`:                                                 `schedulers["a"]: want 0 <= hits <= predicted <= seen`,
		begin + `"schedulers":{"a":{"seen":1,"predicted":2,"hits":1}}}`:                                                 "want 0 <= hits",
		begin + `"schedulers":{"a":{"seen":0,"predicted":0,"hits":-1}}}`:                                                "want 0 <= hits",
		begin + `"schedulers":{"":{"seen":0,"predicted":0,"hits":0}}}`:                                                  "and a name",
		begin + `"schedulers":{` + strings.Join(many, ",") +
			`}}`: "17 entries (want at most 16)",
		begin + `"unreadyNodes":[{"name":"a","seen":"2026-01-01T00:00:00Z"}]}`:      "unreadyNodes[0]: want a name, a time, and 1 node or more",
		begin + `"unreadyNodes":[{"name":"a","nodes":3}]}`:                          "unreadyNodes[0]: want a name",
		begin + `"unreadyNodes":[{"seen":"2026-01-01T00:00:00Z","nodes":3}]}`:       "unreadyNodes[0]: want a name",
		begin + `"strategyRuns":{"zones":{}}}`:                                      `strategyRuns["zones"]: want the name of a strategy, and the start of its last pass`,
		begin + `"strategyRuns":{"":{"byEvent":"2026-01-01T00:00:00Z"}}}`:           `strategyRuns[""]: want the name`,
		begin + `"strategyRuns":{` + strings.Join(runs, ",") + `}}`:                 "1001 entries (want at most 1000)",
		begin + `"trusted":["a"]}`:                                                  `unknown field "trusted"`,
		`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState"} {"more":true}`: "unexpected data after the document",
	} {
		if _, err := plan.ReadPlannerState([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Earlier programs refuse a state in which a strategy has no field started, so each written state has it.
func TestStrategyRunsForEarlierPrograms(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const begin, end = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","strategyRuns":{"zones":`, `}}`
	for stored, want := range map[string]string{
		`{"byEvent":"2026-01-01T00:00:00Z"}`:                                  `{"started":"2026-01-01T00:00:00Z","byEvent":"2026-01-01T00:00:00Z"}`,
		`{"started":"2026-01-01T00:00:00Z"}`:                                  `{"started":"2026-01-01T00:00:00Z"}`,
		`{"started":"2026-01-01T00:10:00Z","byEvent":"2026-01-01T00:00:00Z"}`: `{"started":"2026-01-01T00:10:00Z","byEvent":"2026-01-01T00:00:00Z"}`,
	} {
		st, err := plan.ReadPlannerState([]byte(begin + stored + end))
		if err != nil {
			t.Errorf("%s: %v", stored, err)
			continue
		}
		if r := st.StrategyRuns["zones"]; strings.Contains(stored, "byEvent") != r.ByEvent.Equal(at) {
			t.Errorf("%s: read %+v", stored, r)
		}
		if got, err := json.Marshal(st); err != nil || string(got) != begin+want+end {
			t.Errorf("%s: wrote %s, %v, want %s", stored, got, err, want)
		}
	}
}
