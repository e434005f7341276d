// Package strategies lists the strategies in order. A strategy reads a snapshot and states goals, including goals that
// are already met. A strategy never selects pods and does not depend on other strategies.
package strategies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
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
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
)

// Definition describes one type of strategy.
type Definition struct {
	Type string
	// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
	New func(name string, args []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error)
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
	{Type: "ZoneSpread", New: zonespread.New, Args: reflect.TypeFor[zonespread.Args]()},
	{Type: "TopologySpread", New: topologyspread.New, Args: reflect.TypeFor[topologyspread.Args]()},
	{Type: "Duplicates", New: duplicates.New, Args: reflect.TypeFor[duplicates.Args](), LandingOptional: true},
	{Type: "InterPodAntiAffinity", New: antiaffinity.New, Args: reflect.TypeFor[antiaffinity.Args](), LandingOptional: true},
	{Type: "NodeLoad", New: nodeload.New, Args: reflect.TypeFor[nodeload.Args]()},
	{Type: "Restarts", New: restarts.New, Args: reflect.TypeFor[restarts.Args](), LandingOptional: true},
	{Type: "Lifetime", New: lifetime.New, Args: reflect.TypeFor[lifetime.Args](), LandingOptional: true},
	{Type: "FailedPods", New: failedpods.New, Args: reflect.TypeFor[failedpods.Args](), LandingOptional: true},
	{Type: "NodeAffinity", New: nodeaffinity.New, Args: reflect.TypeFor[nodeaffinity.Args](), LandingOptional: true},
	{Type: "NodeTaints", New: nodetaints.New, Args: reflect.TypeFor[nodetaints.Args](), LandingOptional: true},
	{Type: "NodeConsolidation", New: nodeconsolidation.New, Args: reflect.TypeFor[nodeconsolidation.Args](), Packs: true},
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
func New(name, typ string, args []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	if d := Lookup(typ); d.New != nil {
		return d.New(name, args, scope)
	}
	return strategy.Strategy{}, []arg.Error{{Message: fmt.Sprintf("unknown strategy type %q (want one of %s)", typ, strings.Join(Types(), ", "))}}
}

// WhyNoGoal says why a strategy states no goal about the pod: a strategy that removes pods that have ended about such a
// pod, and a strategy whose data about the node of another pod is unknown. It returns "" for other strategies, and if
// there is a goal.
func WhyNoGoal(st strategy.Strategy, s *cluster.Snapshot, p *cluster.Pod) string {
	switch {
	case p.Terminal && st.WhyNoGoal != nil:
		return st.WhyNoGoal(s, p)
	case !p.Terminal && p.Node != cluster.NoNode && st.WhyUnknown != nil:
		return st.WhyUnknown(s, p.Node)
	}
	return ""
}
