package history

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// BenefitOptions say when a strategy no longer pays for its evictions.
type BenefitOptions struct {
	// Floor is the least share of the foretold benefit that evictions must bring;
	// 0: no strategy is ever held.
	Floor float64
	// MinEvictions must weigh in before a strategy is judged.
	MinEvictions int
	// Hold is how long a strategy is held that does not pay off.
	Hold time.Duration
}

// DefaultBenefit are the values of the shipped configuration.
func DefaultBenefit() BenefitOptions {
	return BenefitOptions{Floor: 0.25, MinEvictions: 10, Hold: 24 * time.Hour}
}

// Gain is what the evictions of one pass were foretold to bring to the goals of a
// strategy, and what they brought: shares of the goals' excess, times their
// weights. What was brought may be negative.
type Gain struct {
	Evictions          int
	Foretold, Realised float64
}

// halfLives is how many times MinEvictions later an eviction weighs half. Evictions
// that are made one by one then add up to 1/(1-2^(-1/(2m))), about 2.9 m for m =
// MinEvictions: well above m, so that a strategy can be judged however small its
// passes are, and forgets what it was like some dozens of evictions ago.
const halfLives = 2

// AddBenefit puts the gains of a pass, by strategy, into the accounts. Older
// evictions count for less: each halves in weight over twice MinEvictions further
// ones. A strategy whose account then lies below the floor is held from now on; one
// whose hold is over begins a new account. Accounts of strategies that are not in
// known, those of the configuration, are closed.
func AddBenefit(st plan.PlannerState, gains map[string]Gain, known []string, now time.Time, o BenefitOptions) plan.PlannerState {
	accounts := map[string]plan.Benefit{}
	for name, b := range st.Benefits {
		over := !b.SuspendedUntil.IsZero() && !now.Before(b.SuspendedUntil)
		if slices.Contains(known, name) && !over {
			accounts[name] = b
		}
	}
	for name, g := range gains {
		if g.Evictions < 1 || !slices.Contains(known, name) || !finite(g.Foretold) || !finite(g.Realised) {
			continue
		}
		b := accounts[name]
		left := math.Exp2(-float64(g.Evictions) / float64(halfLives*max(1, o.MinEvictions)))
		b.Evictions = b.Evictions*left + float64(g.Evictions)
		b.Predicted = b.Predicted*left + g.Foretold
		b.Realised = b.Realised*left + g.Realised
		if b.SuspendedUntil.IsZero() && o.fails(b) {
			b.SuspendedUntil = now.UTC().Add(o.Hold)
		}
		accounts[name] = b
	}
	st.Benefits = accounts
	if len(accounts) == 0 {
		st.Benefits = nil
	}
	return st
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// fails reports whether an account that says enough lies below the floor. Where
// nothing was foretold, nothing can be missed.
func (o BenefitOptions) fails(b plan.Benefit) bool {
	return o.Floor > 0 && b.Evictions >= float64(o.MinEvictions) && b.Predicted > 0 && b.Realised < (o.Floor-rounding)*b.Predicted
}

// rounding lets a quarter of it be no less than 0.25.
const rounding = 1e-9

// Held says why a strategy is held, and whether it is. Its goals are then not asked
// for; they are still not to be worsened.
func Held(st plan.PlannerState, strategy string, now time.Time, o BenefitOptions) (plan.Reason, bool) {
	b, ok := st.Benefits[strategy]
	if !ok || o.Floor <= 0 || b.SuspendedUntil.IsZero() || !now.Before(b.SuspendedUntil) {
		return plan.Reason{}, false
	}
	share := 0.0
	if b.Predicted > 0 {
		share = b.Realised / b.Predicted
	}
	return plan.Reason{Code: plan.StrategyIneffective, Message: fmt.Sprintf(
		"its evictions brought %.0f%% of what they were foretold to, less than %.4g%% (benefit.floor, over %.4g evictions); it is held until %s",
		100*share, 100*o.Floor, b.Evictions, b.SuspendedUntil.UTC().Format(time.RFC3339))}, true
}

// HeldStrategies lists the holds of strategies, by name.
func HeldStrategies(st plan.PlannerState, now time.Time, o BenefitOptions) []plan.EvictionBlock {
	var out []plan.EvictionBlock
	for _, name := range slices.Sorted(maps.Keys(st.Benefits)) {
		if r, held := Held(st, name, now, o); held {
			until := st.Benefits[name].SuspendedUntil.UTC()
			out = append(out, plan.EvictionBlock{Reason: r, Strategy: name, Since: until.Add(-o.Hold), Until: until})
		}
	}
	return out
}
