package goal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// FirstGoals marks the goals that the planner handles before all others: unmet requested goals about nodes that are
// drained first or under pressure. Only goals with the highest weight of all unmet goals qualify. First goals use the
// limits first.
func (t *Tracker) FirstGoals() []bool {
	heaviest := 0.0
	for i := range t.Goals {
		if g := &t.Goals[i]; Requests(t, i) && t.Excess(i) > 0 {
			heaviest = max(heaviest, g.Weight)
		}
	}
	out := make([]bool, len(t.Goals))
	for i := range out {
		g := &t.Goals[i]
		out[i] = !g.Constraint && t.Excess(i) > 0 && g.Weight >= heaviest && t.drainRank(i) == 0
	}
	return out
}

// FirstGoalRank returns 0 for the goals in First, and 1 for others.
func (t *Tracker) FirstGoalRank(g int) int {
	return rank(t.First[g])
}

// UnmetByPriority returns the unmet requested goals, sorted by higher weight, drained node, more attempts in stuck,
// kind, higher excess, and goal index. Attempts do not count for goals in the order of their strategy. Of the other
// goals, those whose excess differs by less than 10 % from that of the first count as equal: the goal with the pod of
// the lowest priority comes first.
func (t *Tracker) UnmetByPriority(stuck []int) []int {
	all := make([]needy, 0, CountUnmet(t, nil)) // a plan may have thousands
	for i := range t.Goals {
		if g := &t.Goals[i]; Requests(t, i) && t.Excess(i) > 0 {
			kind, tried := t.kinds[i], stuck[i]
			if kind.stated {
				tried = 0
			}
			all = append(all, needy{i, t.drainRank(i), tried, kind.order, g.Weight, t.ReportedExcess(i), 0})
		}
	}
	slices.SortFunc(all, compareNeedy)
	for from := 0; from < len(all); {
		first, until := all[from], from+1
		for until < len(all) && all[until].weight == first.weight && all[until].drained == first.drained && all[until].stuck == first.stuck &&
			all[until].kind == first.kind && all[until].excess > 0.9*first.excess && !t.InStatedOrder(first.goal) {
			until++
		}
		if equal := all[from:until]; len(equal) > 1 {
			for i := range equal {
				equal[i].lowest = t.lowestPriority(equal[i].goal)
			}
			slices.SortStableFunc(equal, func(a, b needy) int { return cmp.Compare(a.lowest, b.lowest) })
		}
		from = until
	}
	out := make([]int, len(all))
	for i := range all {
		out[i] = all[i].goal
	}
	return out
}

// needy is an unmet goal with what decides its place in UnmetByPriority.
type needy struct {
	goal, drained, stuck, kind int
	weight, excess             float64
	lowest                     int32 // priority of its pods, if other goals count as equal
}

// compareNeedy reads no more than it needs: cmp.Or compares everything.
func compareNeedy(a, b needy) int {
	if a.weight != b.weight {
		return cmp.Compare(b.weight, a.weight)
	}
	if a.drained != b.drained {
		return a.drained - b.drained
	}
	if a.stuck != b.stuck {
		return b.stuck - a.stuck
	}
	if a.kind != b.kind {
		return a.kind - b.kind
	}
	if a.excess != b.excess {
		return cmp.Compare(b.excess, a.excess)
	}
	return a.goal - b.goal
}

// CountUnmet returns the number of unmet requested goals, and calls f for each of them unless f is nil.
func CountUnmet(t *Tracker, f func(g int)) (n int) {
	for i := range t.Goals {
		if Requests(t, i) && t.Excess(i) > 0 {
			if n++; f != nil {
				f(i)
			}
		}
	}
	return n
}

// lowestPriority returns the lowest priority of the pods that goal g is about, or of the pods on its node.
func (t *Tracker) lowestPriority(g int) int32 {
	key, pods := g, t.Goals[g].Pods
	if of := &t.Goals[g]; of.Kind == plan.NodeBelow {
		key, pods = -1-int(of.Node), t.Snapshot.Nodes[of.Node].Pods // goals about one node share the result
	}
	if lowest, known := t.lowest[key]; known {
		return lowest
	}
	lowest := int32(math.MaxInt32)
	for _, id := range pods {
		lowest = min(lowest, t.Snapshot.Pods[id].Priority)
	}
	t.lowest[key] = lowest
	return lowest
}

// Tier is what brings a goal before others: its weight, its node, its kind or the order of its strategy against goals
// of other kinds, and its moves. Among goals of one tier, the search is fair to namespaces.
type Tier struct {
	weight         float64
	order, drained int
	hasMoves       bool
}

// TierOf returns the tier of goal g.
func TierOf(t *Tracker, g int) Tier {
	return Tier{t.Goals[g].Weight, t.kinds[g].order, t.drainRank(g), HasMoves(t, g)}
}

// Namespace returns the namespace of the pods of goal i, or "" for a goal about a node.
func Namespace(t *Tracker, i int) string { return t.Goals[i].Subject.Namespace }

// InStatedOrder reports whether goal g keeps its place in the order of its strategy. A later goal of the strategy must
// not overtake it because of other goals.
func (t *Tracker) InStatedOrder(g int) bool { return t.kinds[g].stated }

// drainRank returns 0 for goals about nodes that are drained first or under pressure, and 1 for others.
func (t *Tracker) drainRank(i int) int {
	g := &t.Goals[i]
	return rank(g.Kind == plan.NodeBelow && (t.UnderPressure != nil && t.UnderPressure[g.Node] ||
		t.Annotations.OfNode(t.Snapshot, g.Node).DrainFirst))
}

// rank returns 0 for goals that come first, and 1 for others.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Number sorts goals into a stable order and sets their excess. Number names the goals with excess g1, g2, and so on.
func Number(s *cluster.Snapshot, goals []plan.Goal) []plan.Goal {
	t := newTracker(s, sortedByKey(s, goals), func(*plan.Goal) bool { return false }) // it follows no moves
	t.number()
	return t.Goals
}

func (t *Tracker) number() {
	n := 0
	for i := range t.Goals {
		g := &t.Goals[i]
		if g.Kind == plan.PodAway && t.Snapshot.Pods[g.Pods[0]].Node != cluster.NoNode {
			g.From = t.Snapshot.Nodes[t.Snapshot.Pods[g.Pods[0]].Node].Name
		}
		g.Excess, g.ID = t.ReportedExcess(i), ""
		if g.Excess > 0 && !g.Constraint {
			n++
			g.ID = fmt.Sprintf("g%d", n)
		}
	}
}

// Restart makes the current state the start: it sets the excess and the numbers of the goals again, in the list that
// was given to NewTracker.
func (t *Tracker) Restart() {
	t.number()
	t.begin()
}

// begin sets the values that describe the start to those of the current state.
func (t *Tracker) begin() {
	for i, m := range t.Measures {
		t.InitialExcess[i] = max(1, m.Excess())
	}
	t.First = t.FirstGoals()
	t.askAnew()
}

// askAnew records that the goals ask for other pods now.
func (t *Tracker) askAnew() {
	t.moved++
	t.askedAt = t.moved
}

// sortedByKey sorts goals by their keys, and computes each key once. It names the groups of goals with the same key.
func sortedByKey(s *cluster.Snapshot, goals []plan.Goal) []plan.Goal {
	type keyed struct {
		key string
		at  int
	}
	order := make([]keyed, len(goals))
	for i := range goals {
		order[i] = keyed{Key(goals[i]), i}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	out := make([]plan.Goal, len(goals))
	for i, x := range order {
		out[i] = goals[x.at]
		if i > 0 && x.key == order[i-1].key {
			nameGroup(s, &out[i-1])
			nameGroup(s, &out[i])
		}
	}
	return out
}

// nameGroup names the group of pods of a goal, because another goal has the same subject.
func nameGroup(s *cluster.Snapshot, g *plan.Goal) {
	if g.Kind != plan.SkewAtMost && g.Kind != plan.CountAtMost || g.Group != "" || len(g.Pods) == 0 {
		return
	}
	first := &s.Pods[g.Pods[0]]
	isShared := func(get func(*cluster.Pod) string) bool {
		return get(first) != "" && !slices.ContainsFunc(g.Pods, func(id cluster.PodID) bool { return get(&s.Pods[id]) != get(first) })
	}
	switch {
	case isShared(controllerName) && first.Controller.Name != g.Subject.Name:
		g.Group = controllerName(first)
	case isShared(revision):
		g.Group = "revision " + revision(first)
	default:
		g.Group = fmt.Sprintf("%s, such as %s", plural.Count(len(g.Pods), "pod"), first.Object.Name)
	}
}

// controllerName returns the kind and the name of the controller of a pod, or "".
func controllerName(p *cluster.Pod) string {
	if p.Controller == nil {
		return ""
	}
	return p.Controller.Kind + " " + p.Controller.Name
}

// revision returns the revision of a pod of a StatefulSet, or "".
func revision(p *cluster.Pod) string { return p.Object.Labels[appsv1.ControllerRevisionHashLabelKey] }

// Key orders goals. Goals about single pods keep the order in which their strategy states them.
func Key(g plan.Goal) string {
	if kinds[g.Kind].stated {
		return strings.Join([]string{g.Strategy, string(g.Kind)}, "\x00")
	}
	return strings.Join([]string{g.Strategy, string(g.Kind), g.Subject.String(), g.Resource, g.TopologyKey}, "\x00")
}
