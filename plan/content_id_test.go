package plan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestContentIDHashesTheJSON checks that the moves, which are encoded one by one, are where the JSON of the plan has
// them.
func TestContentIDHashesTheJSON(t *testing.T) {
	two := []plan.Move{{Step: 1, From: `"moves":[`, Goals: []string{"<a>"}}, {Step: 2}}
	proposals := []plan.Proposal{{Plan: plan.Plan{Moves: two}}}
	for name, p := range map[string]plan.Plan{
		"no list": {}, "no move": {Moves: []plan.Move{}}, "one move": {ConfigHash: `"moves":[`, Moves: two[:1]}, "two moves": {Moves: two},
		"proposals": {Moves: two, Proposals: proposals}, "no list but proposals": {Proposals: proposals},
		"no move but proposals": {Moves: []plan.Move{}, Proposals: proposals},
	} {
		text, err := json.Marshal(p)
		sum := sha256.Sum256(text)
		if want := hex.EncodeToString(sum[:8]); err != nil || plan.ContentID(p) != want {
			t.Errorf("%s: %s, want %s of %s (%v)", name, plan.ContentID(p), want, text, err)
		}
	}
}

// TestContinueNumbering checks that a second plan continues the numbers of the first, and that neither plan changes.
func TestContinueNumbering(t *testing.T) {
	first := plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1}, {Step: 3, Wave: 2}, {Step: 2, Wave: 1}}}
	next := plan.Plan{ID: "x", Moves: []plan.Move{{Step: 1, Wave: 1}, {Step: 2, Wave: 3}}, Hints: []plan.WaveHints{{Wave: 3}}}
	got := next.ContinueNumbering(first)
	if got.Moves[0].Step != 4 || got.Moves[0].Wave != 3 || got.Moves[1].Step != 5 || got.Moves[1].Wave != 5 || got.Hints[0].Wave != 5 {
		t.Errorf("moves %+v, hints %+v", got.Moves, got.Hints)
	}
	if got.ID != plan.ContentID(got) || got.ID == next.ID || next.Moves[0].Step != 1 || next.Hints[0].Wave != 3 {
		t.Errorf("ID %s of %+v, from %+v", got.ID, got.Moves, next)
	}
	if alone := next.ContinueNumbering(plan.Plan{}); alone.Moves[1].Step != 2 || alone.Moves[1].Wave != 3 {
		t.Errorf("after an empty plan: %+v", alone.Moves)
	}
}
