package topologyspread_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
)

func TestGoals(t *testing.T) {
	golden.Pairs(t, "testdata/goals.txtar", func(t *testing.T, given []byte) string {
		return scenario.GoalsText(t, given, func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal {
			st, errs := topologyspread.New("constraints", args, scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return st.Goals(s)
		})
	})
}

func TestInvalidArguments(t *testing.T) {
	for in, want := range map[string]string{
		``: "",
		`{"whenUnsatisfiable":["ScheduleAnyway"]}`:                         "",
		`{"whenUnsatisfiable":["ScheduleAnyway","DoNotSchedule"]}`:         "",
		`{"whenUnsatisfiable":[]}`:                                         "whenUnsatisfiable: is empty (want [DoNotSchedule], [ScheduleAnyway] or both)",
		`{"whenUnsatisfiable":"DoNotSchedule"}`:                            `whenUnsatisfiable: want a list, found "DoNotSchedule"`,
		`{"whenUnsatisfiable":["Hard"]}`:                                   `whenUnsatisfiable[0]: "Hard" is unknown (want DoNotSchedule or ScheduleAnyway)`,
		`{"whenUnsatisfiable":["DoNotSchedule","doNotSchedule"]}`:          `whenUnsatisfiable[1]: "doNotSchedule" is unknown (did you mean DoNotSchedule?) (want DoNotSchedule or ScheduleAnyway)`,
		`{"whenUnsatisfiable":["DoNotSchedule","DoNotSchedule"]}`:          `whenUnsatisfiable[1]: "DoNotSchedule" is listed twice`,
		`{"constraints":["DoNotSchedule"]}`:                                `constraints: unknown argument`,
		`{"whenUnsatisfiable":[true]}`:                                     `whenUnsatisfiable[0]: want a word, found "true"`,
		`{"whenUnsatisfiable":["DoNotSchedule"],"whenUnsatisfiable":null}`: `whenUnsatisfiable: duplicate key (first on line 1)`,
		`[]`: `want keys and values, found a list`,
	} {
		_, errs := topologyspread.New("constraints", []byte(in), cluster.Scope{})
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", in, text, want)
		}
	}
}
