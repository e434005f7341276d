package report

import (
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// leaving says what a goal wants of pods, as in "1 pod to move" and "pods away from their nodes".
type leaving struct{ toDo, done string }

var (
	moved             = leaving{"move", "away from their nodes"}
	replaced          = leaving{"replace", "replaced"}
	removed           = leaving{"remove", "removed"}
	replacedOrRemoved = leaving{"replace or remove", "replaced or removed"}
)

// leavingWords returns the words for the pods of a goal. A goal that is about the pod and not about its node is met if
// the pod is replaced, even on the same node.
func leavingWords(g plan.Goal) leaving {
	switch {
	case g.Kind != plan.PodAway || !g.MayReturn:
		return moved
	case g.Removal != "":
		return removed
	}
	return replaced
}

// wordsOfStrategy returns the words for all goals about single pods of the strategy of g that the plan lists.
func wordsOfStrategy(p plan.Plan, g plan.Goal) leaving {
	words := leavingWords(g)
	for _, other := range p.Goals {
		if other.Kind == plan.PodAway && other.Strategy == g.Strategy && leavingWords(other) != words {
			return replacedOrRemoved
		}
	}
	return words
}

// podsToMoveText writes a number of pods that must still leave. The verb says what happens to them.
func podsToMoveText(pods int, verb string) string {
	if pods == 0 {
		return "met"
	}
	return plural.Count(pods, "pod") + " to " + verb
}
