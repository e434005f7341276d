// Package settings holds the options of the planner and their defaults. It never decides
// anything about a pod.
package settings

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/trust"
	"time"
)

// Options are the settings of the planner.
type Options struct {
	Guards    guard.Options
	Placement placement.Options
	// Trust says which schedulers that are not in Placement are taken for the
	// default profile.
	Trust    trust.Options
	Limits   Limits
	InFlight InFlight
	// MinConfidence is the least probability with which the replacement must
	// land on an acceptable node.
	MinConfidence float64
	// MaxUnavailableWithoutPDB bounds the unavailable pods of a workload that
	// no PodDisruptionBudget selects.
	MaxUnavailableWithoutPDB int
	// Steer is how the scheduler is steered where prediction alone is not
	// enough; the zero value, as hints.None, means not at all.
	Steer hints.Kind
	// SteerMaxFrac is the largest share of the nodes that may be hinted at once.
	SteerMaxFrac float64
	// Pressure is how nodes under pressure are told from others.
	Pressure PressureHint
	// HintsNodes says that nodes under pressure are hinted, for which no strategy is
	// needed: a configuration without any then has something to do.
	HintsNodes bool
	// HintRules say which nodes are to carry it; without rules none is.
	HintRules pressure.Options
	// PredictHints: plans are made as if the hints of HintRules were written (a dry run,
	// which writes none). See Planner.PredictHints.
	PredictHints bool
	// Breaker says when the breaker, once it has tripped, may close again.
	Breaker breaker.Options
	// MinReplacementAge is how long a pod that came in place of an evicted one is not evicted again.
	MinReplacementAge time.Duration
	// Benefit says when a strategy is held that does not pay off.
	Benefit history.BenefitOptions
	// MaxPredictions is how many landings a plan may foretell; 0: any number. After that the
	// plan is the best so far, see plan.Plan.CutShort.
	MaxPredictions int
	// NoSteps: only single moves are made, each of which serves a goal by itself; pods
	// are not moved to make room for others.
	NoSteps bool
	// Strategies are all that are enabled, in order, so that one without a goal
	// can be told from one whose goals are met.
	Strategies []StrategyInfo
	// ConfigHash is copied into the plan.
	ConfigHash string
	// SamplesPerCode bounds the rejections kept per code; negative: all.
	SamplesPerCode int
}

// Limits bound the evictions of one pass. Each Count is of the pods it is
// about: those bound in the cluster, on the node, in the namespace, of the
// owner, in the zone.
type Limits struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone plan.CountLimit
	PerHour                                           PerHour
}

// PerHour bounds evictions over the last hour, those of former passes included.
// Shares make no sense here.
type PerHour struct {
	Owner, Namespace, Cluster plan.CountLimit
}

// InFlight bounds the evictions of one wave: pods that are away at once.
type InFlight struct {
	Total, PerNode, PerOwner int
}

// DefaultOptions are the values of the shipped configuration.
func DefaultOptions() Options {
	return Options{
		Guards: guard.DefaultOptions(),
		Limits: Limits{
			PerPass: plan.Absolute(50), PerNode: plan.Absolute(5), PerNamespace: plan.Percent(20),
			PerOwner: plan.Percent(50), PerZone: plan.Absolute(20),
			PerHour: PerHour{Owner: plan.Absolute(10), Namespace: plan.Absolute(100), Cluster: plan.Absolute(300)},
		},
		Trust:                    trust.Options{MinBindings: 50, MinHitRate: 0.9},
		InFlight:                 InFlight{Total: 16, PerNode: 2, PerOwner: 1},
		MinConfidence:            0.9,
		Steer:                    hints.None,
		SteerMaxFrac:             0.67,
		MaxUnavailableWithoutPDB: 1,
		MinReplacementAge:        10 * time.Minute,
		Breaker:                  breaker.DefaultOptions(),
		Benefit:                  history.DefaultBenefit(),
		SamplesPerCode:           20,
		MaxPredictions:           500_000,
	}
}

// Validate reports every setting with which no sound plan can be made.
func (o Options) Validate() []error {
	var errs []error
	if !(o.MinConfidence > 0 && o.MinConfidence <= 1) {
		errs = append(errs, fmt.Errorf("minConfidence: %v is not a fraction above 0, at most 1", o.MinConfidence))
	}
	if o.Steers() && !(o.SteerMaxFrac > 0 && o.SteerMaxFrac <= 1) {
		errs = append(errs, fmt.Errorf("steerMaxFrac: %v is not a fraction above 0, at most 1", o.SteerMaxFrac))
	}
	if s := o.Trust; s.MinBindings > 0 && !(s.MinHitRate > 0 && s.MinHitRate <= 1) {
		errs = append(errs, fmt.Errorf("shadow.minHitRate: %v is not a fraction above 0, at most 1", s.MinHitRate))
	}
	if o.InFlight.Total < 1 || o.InFlight.PerNode < 1 || o.InFlight.PerOwner < 1 {
		errs = append(errs, fmt.Errorf("inFlight: every value must be 1 or more, got %+v", o.InFlight))
	}
	if o.MaxPredictions < 0 {
		errs = append(errs, fmt.Errorf("effort: %d is negative", o.MaxPredictions))
	}
	return errs
}

func (o Options) Steers() bool { return o.Steer == hints.Taint || o.Steer == hints.Label }

// StrategyInfo is an enabled strategy, due or not.
type StrategyInfo struct {
	Name string
	// Needs says in words what there must be for it to state a goal.
	Needs string
	// ByLoad are the resources of which it needs to know the use; empty: none.
	ByLoad []string
}
