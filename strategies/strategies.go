// Package strategies holds the ordered list of strategies. A strategy looks at
// a snapshot and states goals about it, also those that are met; it never picks
// pods and never knows what other strategies want.
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

// Strategy states goals about a snapshot. The same snapshot gives the same
// goals in the same order.
type Strategy interface {
	Goals(s *cluster.Snapshot) []plan.Goal
	// Needs says in words what a snapshot must have for there to be a goal,
	// from the arguments alone: "a Ready node ..., in scope".
	Requirements() string
}

// Definition makes strategies of one type. New reads the arguments (JSON) of
// the strategy called name and reports every mistake in them.
type Definition struct {
	Type string
	New  func(name string, args []byte, scope cluster.Scope) (Strategy, []arg.Error)
}

// All are the strategies of this version, in the order in which their goals are
// served when they weigh the same. Adding one is a folder and a line here.
var All = []Definition{
	{"ZoneSpread", adapt(zonespread.New)},
	{"NodeLoad", adapt(nodeload.New)},
}

func adapt[S Strategy](f func(string, []byte, cluster.Scope) (S, []arg.Error)) func(string, []byte, cluster.Scope) (Strategy, []arg.Error) {
	return func(name string, args []byte, scope cluster.Scope) (Strategy, []arg.Error) {
		return f(name, args, scope)
	}
}

// Types names all types in order.
func Types() []string {
	types := make([]string, len(All))
	for i, d := range All {
		types[i] = d.Type
	}
	return types
}

// New makes the strategy called name of the given type.
func New(name, typ string, args []byte, scope cluster.Scope) (Strategy, []arg.Error) {
	for _, d := range All {
		if d.Type == typ {
			return d.New(name, args, scope)
		}
	}
	return nil, []arg.Error{{Message: fmt.Sprintf("unknown strategy type %q (want one of %s)", typ, strings.Join(Types(), ", "))}}
}
