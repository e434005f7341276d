// Package strategies lists the strategies in order. A strategy reads a snapshot and states goals, including goals that
// are already met. A strategy never selects pods and does not depend on other strategies.
package strategies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/antiaffinity"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/duplicates"
	"github.com/evenkeel-project/evenkeel/strategies/failedpods"
	"github.com/evenkeel-project/evenkeel/strategies/lifetime"
	"github.com/evenkeel-project/evenkeel/strategies/nodeaffinity"
	"github.com/evenkeel-project/evenkeel/strategies/nodeconsolidation"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/strategies/nodetaints"
	"github.com/evenkeel-project/evenkeel/strategies/restarts"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
)

// Strategy states goals. It returns the same goals in the same order for the same snapshot.
type Strategy interface {
	Goals(s *cluster.Snapshot) []plan.Goal
	// Requirements describes what a snapshot must contain before the strategy states a goal, such as "a Ready node with
	// cpu, in scope". The text depends only on the arguments. It is "" for a strategy that states goals only about
	// violations: if it has no goal, nothing is missing.
	Requirements() string
	// UsageNeeds returns the measured usage that the strategy needs.
	UsageNeeds() arg.UsageNeeds
}

// Warner is a strategy that can say which of its arguments are valid but probably mistakes.
type Warner interface {
	// Warnings returns one entry for each such argument.
	Warnings() []arg.Error
}

// constructor creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
type constructor[S Strategy] func(name string, args []byte, scope cluster.Scope) (S, []arg.Error)

// Definition describes one type of strategy.
type Definition struct {
	Type string
	New  constructor[Strategy]
	// Args is the type of the arguments. Their names are the JSON names of its fields.
	Args reflect.Type
	// LandingOptional says that a pod contributes to the goals by leaving, although its replacement
	// may stay Pending. For other types, the value of a move depends on the node of the
	// replacement.
	LandingOptional bool
	// Packs says that the strategy fills some nodes to empty others.
	Packs bool
}

// Lookup returns the definition of a type, or the zero value if there is none.
func Lookup(typ string) Definition {
	i := slices.IndexFunc(All, func(d Definition) bool { return d.Type == typ })
	if i < 0 {
		return Definition{}
	}
	return All[i]
}

// All are the types of strategies. Among goals of equal weight, the planner works on the goals of earlier types first.
// To add a strategy, add a folder and a line here.
var All = []Definition{
	{Type: "ZoneSpread", New: asStrategy(zonespread.New), Args: reflect.TypeFor[zonespread.Args]()},
	{Type: "TopologySpread", New: asStrategy(topologyspread.New), Args: reflect.TypeFor[topologyspread.Args]()},
	{Type: "Duplicates", New: asStrategy(duplicates.New), Args: reflect.TypeFor[duplicates.Args](), LandingOptional: true},
	{Type: "InterPodAntiAffinity", New: asStrategy(antiaffinity.New), Args: reflect.TypeFor[antiaffinity.Args](), LandingOptional: true},
	{Type: "NodeLoad", New: asStrategy(nodeload.New), Args: reflect.TypeFor[nodeload.Args]()},
	{Type: "Restarts", New: asStrategy(restarts.New), Args: reflect.TypeFor[restarts.Args](), LandingOptional: true},
	{Type: "Lifetime", New: asStrategy(lifetime.New), Args: reflect.TypeFor[lifetime.Args](), LandingOptional: true},
	{Type: "FailedPods", New: asStrategy(failedpods.New), Args: reflect.TypeFor[failedpods.Args](), LandingOptional: true},
	{Type: "NodeAffinity", New: asStrategy(nodeaffinity.New), Args: reflect.TypeFor[nodeaffinity.Args](), LandingOptional: true},
	{Type: "NodeTaints", New: asStrategy(nodetaints.New), Args: reflect.TypeFor[nodetaints.Args](), LandingOptional: true},
	{Type: "NodeConsolidation", New: asStrategy(nodeconsolidation.New), Args: reflect.TypeFor[nodeconsolidation.Args](), Packs: true},
}

func asStrategy[S Strategy](f constructor[S]) constructor[Strategy] {
	return func(name string, args []byte, scope cluster.Scope) (Strategy, []arg.Error) {
		return f(name, args, scope)
	}
}

// Types returns the names of all types, in order.
func Types() []string {
	types := make([]string, len(All))
	for i, d := range All {
		types[i] = d.Type
	}
	return types
}

// Arguments returns the names of the arguments of a type of strategy.
func Arguments(typ string) (names []string) {
	args := Lookup(typ).Args
	if args == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(args) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// HasArgument reports whether strategies of the type have an argument of the name.
func HasArgument(typ, name string) bool { return slices.Contains(Arguments(typ), name) }

// New creates the strategy called name of type typ, and returns all errors of its arguments.
func New(name, typ string, args []byte, scope cluster.Scope) (Strategy, []arg.Error) {
	if d := Lookup(typ); d.New != nil {
		return d.New(name, args, scope)
	}
	return nil, []arg.Error{{Message: fmt.Sprintf("unknown strategy type %q (want one of %s)", typ, strings.Join(Types(), ", "))}}
}

// WhyNoGoal says why a strategy states no goal about the pod: a strategy that removes pods that have ended about such a
// pod, and a strategy whose data about the node of another pod is unknown. It returns "" for other strategies, and if
// there is a goal.
func WhyNoGoal(st Strategy, s *cluster.Snapshot, p *cluster.Pod) string {
	if !p.Terminal {
		if of, ok := st.(interface {
			WhyUnknown(s *cluster.Snapshot, n cluster.NodeID) string
		}); ok && p.Node != cluster.NoNode {
			return of.WhyUnknown(s, p.Node)
		}
		return ""
	}
	if of, ok := st.(interface {
		WhyNoGoal(s *cluster.Snapshot, p *cluster.Pod) string
	}); ok {
		return of.WhyNoGoal(s, p)
	}
	return ""
}
