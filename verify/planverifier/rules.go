package planverifier

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/placeless"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// Rules holds the settings that a plan must obey. See docs/reference/config.md.
type Rules struct {
	NodeSelector        labels.Selector // nil: all
	VirtualNodeSelector labels.Selector // nil: none
	NamespaceSelector   labels.Selector // nil: all
	PodSelector         labels.Selector // nil: all
	Include, Exclude    []string        // namespaces
	Trusted             []string        // trustedNamespaces

	// Protect contains the names in guards.protect.
	Protect                  map[string]bool
	SafeLocalVolumes         []string
	ProtectedStorageClasses  []string
	Controllers              []string // group/Kind
	Groups                   []string // programs
	GroupKeys                []string // of other programs
	BlockingPods             []PodSelector
	DisplaceAcrossNamespaces bool
	NewArchitectures         bool          // placement.newArchitectures
	NodeMarks                targets.Marks // placement.nodeMarks
	MinReplicas              int
	MinPodAge                time.Duration
	// MaxGracePeriod is the longest time that a pod may take to terminate; 0 means no limit.
	// GracePeriodSeconds replaces the grace periods of the pods.
	MaxGracePeriod     time.Duration
	GracePeriodSeconds *int64
	// PriorityBelow is a number or the name of a PriorityClass.
	PriorityBelow string
	// NoEvictionMandatory is guards.noEvictionPolicy: mandatory.
	NoEvictionMandatory bool

	MaxUnavailableWithoutPDB                            int
	PerPass, PerNode, PerNamespace, PerOwner, PerZone   Limit
	InFlightTotal, InFlightPerNode, InFlightPerWorkload Limit

	// PerHourOwner, PerHourNamespace and PerHourCluster limit the evictions within an hour. The
	// hourly limits also count the evictions in State.
	PerHourOwner, PerHourNamespace, PerHourCluster Limit
	// State is the planner state before the pass.
	State plan.PlannerState

	Allow, Deny []windows.Window
	// WindowLimits are the limits of allow windows, by their index in Allow. Windows without limits have no entry.
	WindowLimits map[int]WindowLimits
	// UsageStrategies lists the strategies that act on measured usage. Usage older than MaxAge is
	// unknown. MinCoverage is the minimum share of the nodes in scope that must have known usage.
	UsageStrategies []UsageStrategy
	MaxAge          time.Duration
	MinCoverage     float64
	// Location is the default time zone of windows.
	Location *time.Location
	// Landing holds the settings for moves without a predicted place.
	Landing placeless.Rules
	// Strategies holds the settings of all strategies. Without any, the verifier ignores the strategies of moves.
	Strategies []StrategyRules
	// Emptying holds the arguments of the NodeConsolidation strategies, by name.
	Emptying map[string]emptied.Rules
}

// IsVirtual reports whether a service or another cluster runs the pods of the node.
func (r *Rules) IsVirtual(n *corev1.Node) bool {
	for key, value := range n.Labels {
		switch key + "=" + value {
		case "eks.amazonaws.com/compute-type=fargate", "type=virtual-kubelet", "node.kubernetes.io/instance-type=eklet",
			"liqo.io/type=virtual-node":
			return true
		}
		if key == "node-role.kubernetes.io/virtual-node" {
			return true
		}
	}
	for _, t := range n.Spec.Taints {
		switch t.Key {
		case "virtual-kubelet.io/provider", "eks.tke.cloud.tencent.com/eklet", "virtual-node.liqo.io/not-allowed":
			return true
		case "eks.amazonaws.com/compute-type":
			return t.Value == "fargate"
		case "vci.vke.volcengine.com/node-type":
			return t.Value == "vci"
		}
	}
	return r.VirtualNodeSelector != nil && r.VirtualNodeSelector.Matches(labels.Set(n.Labels))
}

// UsageStrategy is one resource of a NodeLoad strategy that acts on measured usage.
type UsageStrategy struct {
	Strategy, Resource string
	// Target is a fraction of the node's allocatable amount.
	Target float64
	// For is the number of consecutive samples for which a node must be above Target.
	For int
	// When are fractions that a node must use more of than this, by resource, before pods leave it.
	When map[string]float64
}

// PodSelector selects pods by their labels, in one namespace or in all.
type PodSelector struct {
	Selector  labels.Selector
	Namespace string
}

// Limit is a number of pods, a percentage of them, or unlimited.
type Limit struct {
	N         int
	Percent   bool
	Unlimited bool
}

// WindowLimits are the limits of one window.
type WindowLimits struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone Limit
	PerHourOwner, PerHourNamespace, PerHourCluster    Limit
}

// forPods returns the limit for a number of pods. A percentage above 0 is rounded down to whole
// pods, but is at least 1.
func (l Limit) forPods(pods int) int {
	if l.Unlimited {
		return math.MaxInt
	}
	if !l.Percent || l.N == 0 {
		return l.N
	}
	return max(1, pods*l.N/100)
}

// Violation describes one rule that a plan breaks.
type Violation struct {
	Step int // of the move; 0 if the violation concerns the whole plan
	Pod  string
	// Code is the reason code that forbids the move, or one of the codes below.
	Code   plan.Code
	Detail string
}

// Codes for violations that have no reason code in package plan.
const (
	MalformedPlan    plan.Code = "MalformedPlan"    // steps, waves or names are inconsistent
	PodTwice         plan.Code = "PodTwice"         // a pod is moved twice
	InFlight         plan.Code = "InFlight"         // too many pods are in flight at once
	UnexplainedStay  plan.Code = "UnexplainedStay"  // a pod that could help a goal stays without a reason
	NotInEveryOrder  plan.Code = "NotInEveryOrder"  // a replacement fits only in some orders of its wave
	WindowNotWatched plan.Code = "WindowNotWatched" // NotAfter is not the time at which a window closes
)
