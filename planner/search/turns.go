package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// turns hands out goals. If a limit is shared by namespaces, it is fair to them: among goals of one tier, the next goal
// is one of the namespace with the fewest evictions in this pass and in the last hour, those included that waiting
// goals still need; among equals, one of the namespace with the fewest goals tried. So no namespace can take all
// evictions of every pass, or all its time, however many goals it has. Each namespace keeps the order of its goals. All
// goals about nodes form one party, because their pods belong to many namespaces.
type turns struct {
	goals   *goal.Tracker
	limits  *limits.Counter
	rest    []int // in order, without the tier in parties
	parties []party
	kept    map[string]int
}

// party is the goals of one namespace in the current tier.
type party struct {
	namespace string
	goals     []int
	tried     int // goals that next returned
}

func (c *rounds) newTurns(todo []int) *turns {
	return &turns{c.sim.Goals, c.account.Limits, todo, nil, map[string]int{}}
}

// next returns the next goal, or false if there is none.
func (t *turns) next() (g int, ok bool) {
	if len(t.parties) == 0 && !t.nextTier() {
		return 0, false
	}
	at := 0
	if len(t.parties) > 1 {
		fewest := t.evictions(0)
		for i := 1; i < len(t.parties); i++ {
			if n := t.evictions(i); n < fewest || n == fewest && t.parties[i].tried < t.parties[at].tried {
				at, fewest = i, n
			}
		}
	}
	p := &t.parties[at]
	p.tried++
	if g, p.goals = p.goals[0], p.goals[1:]; len(p.goals) == 0 {
		t.parties = slices.Delete(t.parties, at, at+1)
	}
	return g, true
}

func (t *turns) evictions(party int) int {
	ns := t.parties[party].namespace
	return t.limits.InNamespace(ns) + t.kept[ns]
}

// nextTier fills parties with the next tier.
func (t *turns) nextTier() bool {
	if len(t.rest) == 0 {
		return false
	}
	n, first := 1, goal.TierOf(t.goals, t.rest[0])
	for n < len(t.rest) && goal.TierOf(t.goals, t.rest[n]) == first {
		n++
	}
	tier := t.rest[:n]
	t.rest = t.rest[n:]
	if !t.limits.Shared() {
		t.parties = append(t.parties, party{goals: tier})
		return true
	}
	at := map[string]int{}
	for _, g := range tier {
		ns := goal.Namespace(t.goals, g)
		i, known := at[ns]
		if !known {
			i = len(t.parties)
			at[ns] = i
			t.parties = append(t.parties, party{namespace: ns})
		}
		t.parties[i].goals = append(t.parties[i].goals, g)
	}
	return true
}

// keep counts the evictions that a waiting goal still needs for its namespace.
func (t *turns) keep(g, evictions int) { t.kept[goal.Namespace(t.goals, g)] += evictions }

// keptForOthers reports whether a namespace with fewer evictions waits for evictions.
func (t *turns) keptForOthers(ns string) bool {
	for other, kept := range t.kept {
		if kept > 0 && other != ns && t.limits.InNamespace(other)+kept < t.limits.InNamespace(ns)+t.kept[ns] {
			return t.limits.Shared()
		}
	}
	return false
}

// left returns the goals that next has not returned, in their order, except that the current tier is ordered by party.
func (t *turns) left() (out []int) {
	for _, p := range t.parties {
		out = append(out, p.goals...)
	}
	return append(out, t.rest...)
}
