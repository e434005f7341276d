package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/plan"
)

func TestAStateReadsBackAsItWasWritten(t *testing.T) {
	want := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.StateKind,
		SpentBudgets: map[string]time.Time{"shop/web": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		Schedulers:   map[string]plan.Bindings{"fancy": {Seen: 70, Foretold: 60, Hits: 58}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.ReadState(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if none, err := plan.ReadState(nil); err != nil || len(none.Schedulers) != 0 {
		t.Errorf("no text: %+v, %v", none, err)
	}
}

func TestAStateThatCannotBeIsRefused(t *testing.T) {
	const begin = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState",`
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf(`"s%d":{"seen":1,"foretold":1,"hits":1}`, i)
	}
	for text, want := range map[string]string{
		`{"apiVersion":"evenkeel.io/v2","kind":"PlannerState"}`:                     "want evenkeel.io/v1alpha1 PlannerState",
		begin + `"schedulers":{"a":{"seen":3,"foretold":2,"hits":3}}}`:              `schedulers["a"]: want 0 <= hits <= foretold <= seen`,
		begin + `"schedulers":{"a":{"seen":1,"foretold":2,"hits":1}}}`:              "want 0 <= hits",
		begin + `"schedulers":{"a":{"seen":0,"foretold":0,"hits":-1}}}`:             "want 0 <= hits",
		begin + `"schedulers":{"":{"seen":0,"foretold":0,"hits":0}}}`:               "and a name",
		begin + `"schedulers":{` + strings.Join(many, ",") + `}}`:                   "17 are too many (want at most 16)",
		begin + `"trusted":["a"]}`:                                                  `unknown field "trusted"`,
		`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState"} {"more":true}`: "something stands behind it",
	} {
		if _, err := plan.ReadState([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
