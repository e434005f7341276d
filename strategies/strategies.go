// Package strategies lists the strategies in order. A strategy reads a snapshot and states goals, including goals that
// are already met. It never selects pods, and it never knows about other strategies.
package strategies

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
)

// Strategy states goals. It returns the same goals in the same order for the same snapshot.
type Strategy interface {
	Goals(s *cluster.Snapshot) []plan.Goal
	// Requirements says in words what a snapshot must contain before the strategy states a goal, such as "a Ready node
	// with cpu, in scope". It depends only on the arguments.
	Requirements() string
	// UsageNeeds returns the measured usage that the strategy needs.
	UsageNeeds() arg.UsageNeeds
}

// Definition describes one type of strategy. New creates the strategy called name from its arguments (JSON), and returns
// every error in them.
type Definition struct {
	Type string
	New  func(name string, args []byte, scope cluster.Scope) (Strategy, []arg.Error)
}

// All are the types of strategies. Among goals of equal weight, the planner serves the goals of earlier types first. To
// add a strategy, add a folder and a line here.
var All = []Definition{
	{Type: "ZoneSpread", New: adapt(zonespread.New)},
	{Type: "NodeLoad", New: adapt(nodeload.New)},
}

func adapt[S Strategy](f func(string, []byte, cluster.Scope) (S, []arg.Error)) func(string, []byte, cluster.Scope) (Strategy, []arg.Error) {
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

// New creates the strategy called name of type typ, and returns every error in its arguments.
func New(name, typ string, args []byte, scope cluster.Scope) (Strategy, []arg.Error) {
	for _, d := range All {
		if d.Type == typ {
			return d.New(name, args, scope)
		}
	}
	return nil, []arg.Error{{Message: fmt.Sprintf("unknown strategy type %q (want one of %s)", typ, strings.Join(Types(), ", "))}}
}
