package planverifier_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/verify/goalverifier"
	"github.com/evenkeel-project/evenkeel/verify/modeverifier"
)

// leastPlansPerGoalTamper is lower than plansPerTamper, because some goals are rare: about one plan
// in 250 moves an equal pod although nodes are out of scope.
const leastPlansPerGoalTamper = 3

// TestTamperedGoalsAreNamed breaks plans of all strategies in the ways that their goals add. The
// verifier must name each.
func TestTamperedGoalsAreNamed(t *testing.T) {
	t.Parallel()
	cases := map[uint64]modeCase{}
	for _, x := range goalTampers {
		t.Run(x.name, func(t *testing.T) {
			done := 0
			for seed := uint64(0); seed < plans && done < plansPerTamper; seed++ {
				m, made := cases[seed]
				if !made {
					m = makeAllCase(t, seed)
					cases[seed] = m
				}
				m.plan.Moves, m.plan.Goals, m.plan.PodGoals = slices.Clone(m.plan.Moves), slices.Clone(m.plan.Goals), slices.Clone(m.plan.PodGoals)
				m.rules.Goals = maps.Clone(m.rules.Goals)
				pod, ok := x.apply(&m)
				if !ok {
					continue
				}
				done++
				if found := modeverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, pod, x.want) {
					t.Errorf("seed %d: want %s about %q, found %v", seed, x.want, pod, found)
				}
			}
			if done < leastPlansPerGoalTamper {
				t.Errorf("the change applies to only %d plans", done)
			}
		})
	}
}

var goalTampers = []struct {
	name  string
	want  plan.Code
	apply func(m *modeCase) (pod string, ok bool)
}{
	{"one pod more on a node that has enough equal pods", goalverifier.WorsensGoal, addHarmfulMove(plan.CountAtMost, anyMove)},
	{"a skew that grows", goalverifier.WorsensGoal, addHarmfulMove(plan.SkewAtMost, anyMove)},
	{"two pods that land together", goalverifier.WorsensGoal, addHarmfulMove(plan.PodsApart, anyMove)},
	{"one spread constraint that is traded for another", goalverifier.WorsensGoal, addHarmfulMove(plan.SkewAtMost,
		func(t *goal.Tracker, pod cluster.PodID, from, to cluster.NodeID, worse int) bool {
			better := -1
			t.EachAffected(pod, from, to, func(i int) bool {
				if t.Goals[i].Kind == plan.SkewAtMost && t.Goals[i].Strategy == t.Goals[worse].Strategy &&
					t.Measures[i].ExcessAfter(pod, from, to) < t.Excess(i) {
					better = i
				}
				return true
			})
			return better >= 0
		})},
	{"a conflict that ends for one pod and begins for another", goalverifier.ServesNoGoal, returnMove("apart")},
	{"a pod that returns to a node that its affinity does not allow", goalverifier.ServesNoGoal, returnMove("affine")},
	{"a pod that returns to a node with a taint", goalverifier.ServesNoGoal, returnMove("tainted")},
	{"an equal pod that returns", goalverifier.ServesNoGoal, returnMove("copies")},
	{"an equal pod that lands on a node that does not count", goalverifier.ServesNoGoal, landUncounted("copies")},
	{"a pod that lands on a node that its constraint does not count", goalverifier.ServesNoGoal, landUncounted("constraints")},
	{"a pod that moves to a node that it does not prefer", goalverifier.ServesNoGoal, func(m *modeCase) (string, bool) {
		for i := range m.plan.Moves {
			x := &m.plan.Moves[i]
			if x.Reason.Code != plan.BetterNodeExists {
				continue
			}
			for _, n := range m.o.Nodes {
				if n.Labels["kind"] != "fast" && n.Name != x.From {
					x.To = n.Name
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}},
	{"a pod that lands on a node that it prefers less", goalverifier.WorsensGoal, addLowerMove("affine")},
	{"a pod that lands on a node with more taints", goalverifier.WorsensGoal, addLowerMove("tainted")},
	{"an ended pod that is moved as if it ran", goalverifier.WrongRemoval, editRemoval(func(m *modeCase, x *plan.Move) {
		x.Removal, x.To = "", m.o.Nodes[0].Name
	})},
	{"an ended pod that is moved and removed", goalverifier.WrongRemoval, editRemoval(func(m *modeCase, x *plan.Move) {
		x.To = m.o.Nodes[0].Name
	})},
	{"an ended pod that is removed by the other request", goalverifier.WrongRemoval, editRemoval(func(_ *modeCase, x *plan.Move) {
		x.Removal = map[plan.Removal]plan.Removal{plan.ByEviction: plan.ByDeletion, plan.ByDeletion: plan.ByEviction}[x.Removal]
	})},
	{"a running pod that is removed", goalverifier.WrongRemoval, func(m *modeCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; x.Removal == "" {
				x.Removal, x.To = plan.ByDeletion, ""
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a removal for a strategy that moves only running pods", goalverifier.WrongRemoval, editRemoval(func(_ *modeCase, x *plan.Move) {
		x.Strategy = "restarted"
	})},
	{"a goal with another limit", goalverifier.UnknownGoal, editGoal(plan.CountAtMost, func(g *plan.Goal) { g.Limit++ })},
	{"a goal with another excess", goalverifier.UnknownGoal, editGoal(plan.CountAtMost, func(g *plan.Goal) { g.Excess++ })},
	{"a conflict that does not exist", goalverifier.UnknownGoal, editGoal(plan.PodsApart, func(g *plan.Goal) { g.Excess++ })},
	{"a conflict that is missing", goalverifier.MissingGoal, editGoal(plan.PodsApart, func(g *plan.Goal) { g.Excess-- })},
	{"a goal about a pod that does not match", goalverifier.UnknownGoal, editGoal(plan.PodAway, func(g *plan.Goal) { g.Subject.Name = "another" })},
	{"a goal that is missing", goalverifier.MissingGoal, func(m *modeCase) (string, bool) {
		i := slices.IndexFunc(m.plan.Goals, func(g plan.Goal) bool {
			return g.Kind == plan.CountAtMost || g.Kind == plan.SkewAtMost && g.Strategy != "zones"
		})
		if i < 0 {
			return "", false
		}
		m.plan.Goals = slices.Delete(m.plan.Goals, i, i+1)
		return "", true
	}},
	{"goals about pods that are not counted", goalverifier.MissingGoal, func(m *modeCase) (string, bool) {
		if len(m.plan.PodGoals) == 0 {
			return "", false
		}
		m.plan.PodGoals[0].Unmet--
		return "", true
	}},
	{"a strategy with other arguments", goalverifier.UnknownGoal, func(m *modeCase) (string, bool) {
		if !slices.ContainsFunc(m.plan.Goals, func(g plan.Goal) bool { return g.Strategy == "restarted" }) {
			return "", false
		}
		m.rules.Goals["restarted"] = goalverifier.Strategy{Type: "Restarts", Args: []byte(`{"minRestarts": 100}`)}
		return "", true
	}},
}

func anyMove(*goal.Tracker, cluster.PodID, cluster.NodeID, cluster.NodeID, int) bool { return true }

// addHarmfulMove adds a move after the others that worsens a goal of the kind, as the planner measures it.
func addHarmfulMove(kind plan.GoalKind, fits func(t *goal.Tracker, pod cluster.PodID, from, to cluster.NodeID, worse int) bool) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		t, moved := goal.NewTracker(m.snapshot, m.plan.Goals), map[string]bool{}
		for _, x := range m.plan.Moves {
			if moved[x.Pod.UID] = true; x.Removal == "" {
				t.Move(m.snapshot.PodByUID(x.Pod.UID).ID, m.snapshot.NodeByName(x.From).ID, m.snapshot.NodeByName(x.To).ID)
			}
		}
		for i, g := range m.plan.Goals {
			if g.Kind != kind || g.Soft || g.Strategy == "zones" {
				continue
			}
			for _, id := range g.Pods {
				p := &m.snapshot.Pods[id]
				for n := range m.snapshot.Nodes {
					to := cluster.NodeID(n)
					if moved[string(p.Object.UID)] || to == p.Node || t.Measures[i].ExcessAfter(id, p.Node, to) <= t.Excess(i) || !fits(t, id, p.Node, to, i) {
						continue
					}
					m.plan.Moves = append(m.plan.Moves, plan.Move{Pod: plan.PodRefOf(p), From: m.snapshot.Nodes[p.Node].Name,
						To: m.snapshot.Nodes[to].Name, Strategy: g.Strategy, Goals: []string{g.ID}, Step: len(m.plan.Moves) + 1, Wave: 1})
					return plan.PodRefOf(p).String(), true
				}
			}
		}
		return "", false
	}
}

// addLowerMove adds a move to a node that the strategy ranks lower, for the same strategy.
func addLowerMove(strategy string) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		for _, st := range m.conf.BuildStrategies() {
			if st.Name != strategy || st.Mode == plan.ShowOnly {
				continue
			}
			for _, g := range st.Goals(m.snapshot) {
				if g.Kind != plan.NoLowerRank {
					continue
				}
				for pod, class := range g.Ranks.ClassOf {
					p := &m.snapshot.Pods[pod]
					if class == plan.NoClass || slices.ContainsFunc(m.plan.Moves, func(x plan.Move) bool { return x.Pod == plan.PodRefOf(p) }) {
						continue
					}
					for n, rank := range g.Ranks.OfClass[class] {
						if rank < g.Ranks.OfClass[class][p.Node] {
							m.plan.Moves = append(m.plan.Moves, plan.Move{Pod: plan.PodRefOf(p), From: m.snapshot.Nodes[p.Node].Name,
								To: m.snapshot.Nodes[n].Name, Strategy: strategy, Step: len(m.plan.Moves) + 1, Wave: 1})
							return plan.PodRefOf(p).String(), true
						}
					}
				}
			}
		}
		return "", false
	}
}

// landUncounted lets a move of the strategy end on a node that none of its goals about the pod counts. Without the
// check of these nodes, the excess of a goal would fall.
func landUncounted(strategy string) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		for _, st := range m.conf.BuildStrategies() {
			if st.Name != strategy {
				continue
			}
			goals := st.Goals(m.snapshot)
			for i := range m.plan.Moves {
				x := &m.plan.Moves[i]
				if x.Strategy != strategy || x.DisplacedFor != nil {
					continue
				}
				if to := uncountedNode(m.snapshot, goals, m.snapshot.PodByUID(x.Pod.UID).ID); to != "" && to != x.From {
					x.To = to
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}
}

// uncountedNode returns a node that none of the goals about the pod counts, or "".
func uncountedNode(s *cluster.Snapshot, goals []plan.Goal, pod cluster.PodID) string {
	for n := range s.Nodes {
		if !slices.ContainsFunc(goals, func(g plan.Goal) bool {
			value, _ := s.Nodes[n].Label(g.TopologyKey)
			return slices.Contains(g.Pods, pod) && (g.NotCounted == nil || !g.NotCounted[n]) && slices.Contains(g.Domains, value)
		}) {
			return s.Nodes[n].Name
		}
	}
	return ""
}

// returnMove lets the replacement of a move of the strategy return.
func returnMove(strategy string) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; x.Strategy == strategy && x.Removal == "" && x.DisplacedFor == nil {
				x.To = x.From
				return x.Pod.String(), true
			}
		}
		return "", false
	}
}

// editRemoval changes the first removal of a plan.
func editRemoval(change func(m *modeCase, x *plan.Move)) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		i := slices.IndexFunc(m.plan.Moves, func(x plan.Move) bool { return x.Removal != "" })
		if i < 0 {
			return "", false
		}
		change(m, &m.plan.Moves[i])
		return m.plan.Moves[i].Pod.String(), true
	}
}

// editGoal changes the first goal of a kind.
func editGoal(kind plan.GoalKind, change func(g *plan.Goal)) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		i := slices.IndexFunc(m.plan.Goals, func(g plan.Goal) bool { return g.Kind == kind && g.Excess > 0 })
		if i < 0 {
			return "", false
		}
		change(&m.plan.Goals[i])
		return "", true
	}
}
