// Package placeless checks the moves of a plan without a predicted place: which strategies make
// them, that they come last, and that none of them needs another. It follows "Moves without a
// predicted place" in docs/reference/strategies.md, and shares no code with the planner. It never
// checks the budgets and guards of these moves, which are those of all moves.
package placeless

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Codes of the violations.
const (
	PlaceRequired    plan.Code = "PlaceRequired"    // the strategy, or the goal of the move, requires a predicted place
	PlaceMixedUp     plan.Code = "PlaceMixedUp"     // the move has fields of a move with a place
	NotLast          plan.Code = "NotLast"          // the move is not in a last wave of such moves
	TooManyPlaceless plan.Code = "TooManyPlaceless" // the wave has more such moves than may stay Pending
	GoalShared       plan.Code = "GoalShared"       // two such moves contribute to the same goal
	LandsBadly       plan.Code = "LandsBadly"       // the replacement is too likely to land where the move does not help
)

// Rules are the settings for moves without a predicted place.
type Rules struct {
	// Strategies may make such moves.
	Strategies []string
	// MaxPending is the largest number of such moves in a plan.
	MaxPending int
	// MinConfidence is the least probability that the replacement stays Pending or lands well.
	MinConfidence float64
}

// Violation is a rule that a move breaks.
type Violation struct {
	Move   plan.Move
	Code   plan.Code
	Detail string
}

// Sureness returns the probability that is compared with minConfidence: that the replacement lands
// on an acceptable node, or stays Pending if it may.
func Sureness(m plan.Move) float64 {
	if m.WithoutPlace() {
		return m.Confidence + m.PendingProbability + 1e-9
	}
	return m.Confidence
}

// Check returns all violations in the order of the moves.
func Check(p plan.Plan, rules Rules) (out []Violation) {
	last, placeless := 0, 0
	byGoal := map[string]int{}
	for _, m := range p.Moves {
		last = max(last, m.Wave)
	}
	for _, m := range p.Moves {
		if !m.WithoutPlace() {
			continue
		}
		report := func(code plan.Code, format string, args ...any) {
			out = append(out, Violation{m, code, fmt.Sprintf(format, args...)})
		}
		if placeless++; placeless > rules.MaxPending {
			report(TooManyPlaceless, "it is number %d without a place; the limit is %d", placeless, rules.MaxPending)
		}
		if !slices.Contains(rules.Strategies, m.Strategy) {
			report(PlaceRequired, "strategy %s requires a place", m.Strategy)
		}
		if m.To != "" || m.Removal != "" || m.DisplacedFor != nil || m.Acceptable.Nodes > 0 || m.Steered() {
			report(PlaceMixedUp, "it has a node, removes a pod that has ended, makes room, or is steered")
		}
		if i := slices.IndexFunc(p.Moves, func(x plan.Move) bool { return x.Wave == m.Wave && !x.WithoutPlace() }); m.Wave != last || i >= 0 {
			report(NotLast, "it is in wave %d of %d, or shares its wave with a move with a place", m.Wave, last)
		}
		if Sureness(m) < rules.MinConfidence {
			report(LandsBadly, "it stays Pending or lands well with probability %v only", Sureness(m))
		}
		for _, g := range p.Goals {
			if !slices.Contains(m.Goals, g.ID) {
				continue
			}
			if byGoal[g.ID]++; byGoal[g.ID] > 1 {
				report(GoalShared, "another move without a place contributes to goal %s", g.ID)
			}
			if g.Kind != plan.PodAway && g.Kind != plan.CountAtMost && g.Kind != plan.PodsApart {
				report(PlaceRequired, "goal %s (%s) depends on the landing", g.ID, g.Kind)
			}
		}
	}
	return out
}
