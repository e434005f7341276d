package search

import (
	"time"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// Options are the settings of the planner.
type Options struct {
	eligibility.Options
	Placement placement.Options
	// Trust says which schedulers are trusted to place pods as predicted.
	Trust  trust.Options
	Limits limits.Options
	// WindowLimits are the limits of allow windows, by their index in Guards.Windows.Allow.
	WindowLimits map[int]limits.WindowLimits
	// MinConfidence is the least probability, from 0 to 1, with which the replacement must land on an acceptable
	// node.
	MinConfidence float64
	// Steer selects how the evictor steers the scheduler if a predicted landing is not certain enough. The zero value
	// and hints.None disable steering.
	Steer hints.Kind
	// HintsNodes says that the controller hints nodes under pressure, even without any strategy.
	HintsNodes bool
	// HintRules say which nodes should carry the pressure hint. Without rules, no node should.
	HintRules pressure.Options
	// PredictHints makes dry runs plan as if the hints of HintRules were already written. See Planner.PredictHints.
	PredictHints bool
	// Breaker says when a tripped breaker may close again.
	Breaker breaker.Options
	// MaxPredictions is the number of landings that a plan may predict, or 0 for no limit. At the limit, the planner
	// returns the best plan so far. See plan.Plan.SearchLimitReached.
	MaxPredictions int
	// MaxPlanTime is the time that a plan may take. The planner reads no clock: Snapshot.Work ends the plan.
	MaxPlanTime time.Duration
	// DisplaceAcrossNamespaces allows that a pod makes room for a pod of another namespace.
	DisplaceAcrossNamespaces bool
	// ConfigHash is copied into the plan.
	ConfigHash string
	// SamplesPerCode limits the rejections listed per code. A negative value lists all rejections.
	SamplesPerCode int
}

// DefaultOptions returns the values of the shipped configuration.
func DefaultOptions() Options {
	return Options{
		Options: eligibility.Options{Guards: guard.DefaultOptions(), InFlight: eligibility.InFlight{Total: 16, PerNode: 2, PerOwner: 1},
			MaxUnavailableWithoutPDB: 1, MinReplacementAge: 10 * time.Minute},
		Limits: limits.Options{
			PerPass: plan.Absolute(50), PerNode: plan.Absolute(5), PerNamespace: plan.Percent(20),
			PerOwner: plan.Percent(50), PerZone: plan.Absolute(20),
			PerHour: limits.PerHour{Owner: plan.Absolute(10), Namespace: plan.Absolute(100), Cluster: plan.Absolute(300)},
		},
		Trust:          trust.Options{MinBindings: 50, MinHitRate: 0.9},
		MinConfidence:  0.9,
		Steer:          hints.None,
		Breaker:        breaker.DefaultOptions(),
		SamplesPerCode: 20,
		MaxPredictions: 500_000,
	}
}

func (o Options) Steers() bool { return o.Steer == hints.Taint || o.Steer == hints.Label }

// OpenWindowLimits returns the limits of the allow windows that are open, if every open one has limits. Otherwise it
// returns none: the limits of the configuration alone apply.
func (o *Options) OpenWindowLimits(now time.Time) []limits.WindowLimits {
	if len(o.WindowLimits) == 0 {
		return nil
	}
	var out []limits.WindowLimits
	for i, w := range o.Guards.Windows.Allow {
		if !w.Open(now) {
			continue
		}
		l, has := o.WindowLimits[i]
		if !has {
			return nil
		}
		out = append(out, l)
	}
	return out
}
