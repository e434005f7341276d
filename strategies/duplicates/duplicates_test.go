package duplicates_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/duplicates"
)

func TestGoals(t *testing.T) {
	golden.Pairs(t, "testdata/goals.txtar", func(t *testing.T, given []byte) string {
		return scenario.GoalsText(t, given, func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal {
			d, errs := duplicates.New("duplicates", args, scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return d.Goals(s)
		})
	})
}

func TestInvalidArguments(t *testing.T) {
	for in, want := range map[string]string{
		``:                         "",
		`{"excludeOwnerKinds":[]}`: "",
		`{"excludeOwnerKinds":["Job", "Rollout"]}`:        "",
		`{"excludeOwnerKinds":"Job"}`:                     `excludeOwnerKinds: want a list, found "Job"`,
		`{"excludeOwnerKinds":[1]}`:                       `excludeOwnerKinds[0]: want a word, found "1"`,
		`{"excludeOwnerKinds":["Job", "Job"]}`:            `excludeOwnerKinds[1]: "Job" is listed twice`,
		`{"excludeOwnerKinds":["replicaset"]}`:            `excludeOwnerKinds[0]: "replicaset" is not a kind (did you mean ReplicaSet?)`,
		`{"excludeOwnerKinds":["StatefulSets"]}`:          `excludeOwnerKinds[0]: "StatefulSets" is not a kind (did you mean StatefulSet?)`,
		`{"excludeOwnerKinds":[""]}`:                      `excludeOwnerKinds[0]: is empty (want a kind such as ReplicaSet)`,
		`{"excludeOwnerKinds":["apps/v1"]}`:               `excludeOwnerKinds[0]: "apps/v1" is not a kind (want one such as ReplicaSet)`,
		`{"excludeOwnersKinds":["Job"]}`:                  `excludeOwnersKinds: unknown argument (did you mean excludeOwnerKinds?)`,
		`{"excludeOwnerKinds":[],"excludeOwnerKinds":[]}`: `excludeOwnerKinds: duplicate key (first on line 1)`,
		`[]`: `want keys and values, found a list`,
	} {
		_, errs := duplicates.New("duplicates", []byte(in), cluster.Scope{})
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", in, text, want)
		}
	}
}
