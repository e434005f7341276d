// Package settings holds the options of the planner and their defaults. Package settings makes no decision about a
// pod.
package settings

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// Options are the settings of the planner.
type Options struct {
	Guards    guard.Options
	Placement placement.Options
	// Trust says which schedulers are trusted to place pods as predicted.
	Trust  trust.Options
	Limits Limits
	// WindowLimits are the limits of allow windows, by their index in Guards.Windows.Allow.
	WindowLimits map[int]WindowLimits
	InFlight     InFlight
	// MinConfidence is the least probability, from 0 to 1, with which the replacement must land on an acceptable
	// node.
	MinConfidence float64
	// MaxUnavailableWithoutPDB limits the unavailable pods of a workload that no PodDisruptionBudget selects.
	MaxUnavailableWithoutPDB int
	// Steer selects how the evictor steers the scheduler if a predicted landing is not certain enough. The zero value
	// and hints.None disable steering.
	Steer hints.Kind
	// SteerMaxFrac is the largest fraction of the eligible nodes that may be hinted at once.
	SteerMaxFrac float64
	// Pressure is the hint that marks nodes under pressure.
	Pressure PressureHint
	// HintsNodes says that the controller hints nodes under pressure, even without any strategy.
	HintsNodes bool
	// HintRules say which nodes should carry the pressure hint. Without rules, no node should.
	HintRules pressure.Options
	// PredictHints makes dry runs plan as if the hints of HintRules were already written. See Planner.PredictHints.
	PredictHints bool
	// Breaker says when a tripped breaker may close again.
	Breaker breaker.Options
	// MinReplacementAge is the least age at which the replacement of an evicted pod may be evicted.
	MinReplacementAge time.Duration
	// MaxPredictions is the number of landings that a plan may predict, or 0 for no limit. At the limit, the planner
	// returns the best plan so far. See plan.Plan.SearchLimitReached.
	MaxPredictions int
	// MaxPlanTime is the time that a plan may take. The planner reads no clock: Snapshot.Work ends the plan.
	MaxPlanTime time.Duration
	// DisplaceAcrossNamespaces allows that a pod makes room for a pod of another namespace.
	DisplaceAcrossNamespaces bool
	// Strategies lists all enabled strategies in order, so that the plan can report strategies without a goal.
	Strategies []StrategyInfo
	// Mode is the mode of the strategies for which moves are made. Empty means every mode.
	Mode plan.StrategyMode
	// ConfigHash is copied into the plan.
	ConfigHash string
	// SamplesPerCode limits the rejections listed per code. A negative value lists all rejections.
	SamplesPerCode int
}

// Limits bound the evictions of one pass. Percentages are shares of the bound pods of the cluster, node, namespace,
// owner or zone.
type Limits struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone plan.CountLimit
	PerHour                                           PerHour
}

// PerHour bounds the evictions of the last hour, including those of earlier passes. Percentages are not supported.
type PerHour struct {
	Owner, Namespace, Cluster plan.CountLimit
}

// InFlight bounds the evictions of one wave: pods in flight at once.
type InFlight struct {
	Total, PerNode, PerOwner int
}

// DefaultOptions returns the values of the shipped configuration.
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
		SamplesPerCode:           20,
		MaxPredictions:           500_000,
	}
}

func (o Options) Steers() bool { return o.Steer == hints.Taint || o.Steer == hints.Label }

// StrategyInfo describes an enabled strategy, whether the strategy is due in this pass or not.
type StrategyInfo struct {
	Name string
	// Needs describes in words what the strategy needs before it can request a goal.
	Needs string
	// ByLoad lists the resources whose usage the strategy needs.
	ByLoad []string
	// Mode says who decides about the strategy's moves. Empty means plan.Automatic.
	Mode plan.StrategyMode
	// Own holds the rules that only moves for this strategy obey, besides those of Options. Nil means none.
	Own *StrategyRules
	// Soft says that moves for the strategy come after those for all others, and worsen no goal.
	Soft bool
	// LandingNotRequired says that the strategy may move a pod although no place is predicted for its replacement.
	LandingNotRequired bool
	// Packs says that the strategy fills some nodes to empty others.
	Packs bool
	// Settings holds the strategy's own settings for the plan. Nil means none.
	Settings *plan.StrategySettings
}

// PressureHint is the mark of a node under pressure: a label, or a taint with the effect PreferNoSchedule. The hint
// counts regardless of its writer. An empty key matches nothing.
type PressureHint struct {
	LabelKey, LabelValue string
	TaintKey             string
	// Owned tells the hints of Evenkeel from records that others wrote.
	Owned pressure.Owned
}

// ActiveOn reports whether the node carries a valid hint. Hints written by Evenkeel are valid until they expire.
// Hints of other writers do not expire. Placement still uses every label and taint on the node, as the scheduler
// does.
func (h PressureHint) ActiveOn(n *corev1.Node, now time.Time) bool {
	label, taint := h.present(n)
	if !label && !taint {
		return false
	}
	ours, recorded := h.Owned.FromNode(n)
	if !recorded || !ours.Expired(now) {
		return true
	}
	return label && ours.Label != h.LabelKey+"="+h.LabelValue || taint && ours.Taint != h.TaintKey
}

// present reports whether the label and the taint are on the node.
func (h PressureHint) present(n *corev1.Node) (label, taint bool) {
	v, labelled := n.Labels[h.LabelKey]
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; h.TaintKey != "" && t.Key == h.TaintKey && t.Effect == corev1.TaintEffectPreferNoSchedule {
			taint = true
		}
	}
	return labelled && h.LabelKey != "" && v == h.LabelValue, taint
}

// NodesUnderPressure reports, by node, whether the node carries a valid hint. The planner drains these nodes first
// and moves nothing to them.
func (h PressureHint) NodesUnderPressure(s *cluster.Snapshot, now time.Time) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = h.ActiveOn(s.Nodes[i].Object, now)
	}
	return out
}
