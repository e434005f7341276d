// Package compare says what the policy of another program finds wrong in a cluster, and what a plan does about each
// violation.
//
// The policy is given as the goals of the strategies to which it was converted. Package compare measures these goals in
// the snapshot and after the moves of the plan. It never plans, and never converts a policy.
package compare

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// Strategy is a strategy with its goals in the snapshot.
type Strategy struct {
	Name, Type string
	Goals      []plan.Goal
	// NoData names the usage data that the strategy lacks. It is empty if the strategy has its data.
	NoData string
}

// Input is what a comparison depends on.
type Input struct {
	Snapshot *cluster.Snapshot
	// Plan is the plan of the configuration for this snapshot. Its rejections must have all samples.
	Plan plan.Plan
	// Own are the strategies of the configuration, and Policy those of the converted policy.
	Own, Policy []Strategy
}

// Compare measures the goals of the policy before and after the moves of the plan. It leaves out the goals for which
// the policy waits, because the other program would not act on them either.
func Compare(in Input) plan.Comparison {
	c := &comparison{Input: in, policy: newMeasured(in.Snapshot, in.Policy), own: newMeasured(in.Snapshot, in.Own)}
	c.indexGoals()
	c.indexRejections()
	c.applyPlan()
	out := plan.Comparison{
		APIVersion: plan.APIVersion, Kind: "Comparison", TakenAt: in.Plan.TakenAt, Cluster: in.Plan.Cluster,
		ConfigHash: in.Plan.ConfigHash, Evictions: len(in.Plan.Moves), OtherDeschedulers: in.Plan.OtherDeschedulers,
		Plugins: []plan.ComparedPlugin{}, Violations: []plan.Violation{},
	}
	for _, st := range in.Policy {
		plugin := plan.ComparedPlugin{Plugin: PluginOf(st.Type), Strategy: st.Name, NoData: st.NoData}
		for i := range c.policy.goals() {
			if c.policy.goals()[i].Strategy != st.Name {
				continue
			}
			if v, is := c.violation(i); is {
				count(&plugin, v.Result)
				v.Plugin, v.Goal.ID = plugin.Plugin, fmt.Sprintf("v%d", len(out.Violations)+1)
				out.Violations = append(out.Violations, v)
			}
		}
		if plugin.Found == 0 {
			plugin.Waiting = c.waiting(st.Name)
		}
		out.Plugins = append(out.Plugins, plugin)
	}
	return out
}

// comparison holds the goals of both sides and follows the moves of the plan.
type comparison struct {
	Input
	policy, own *measured
	// nodes and pods hold the goals of own about each node and each pod.
	nodes map[cluster.NodeID][]int
	pods  map[cluster.PodID][]int
	// rejections of the plan and its proposals, by pod (namespace/name).
	rejections map[string][]plan.Rejection
}

// measured are goals with their excess after the moves that passes execute, and after those of each proposal.
type measured struct {
	tracker *goal.Tracker
	moves   map[int][]plan.ViolationMove // by goal: those that lower its excess
	worse   map[int][]plan.ViolationMove // by goal: those that raise its excess
	then    map[plan.StrategyMode]*measured
}

func newMeasured(s *cluster.Snapshot, strategies []Strategy) *measured {
	var all []plan.Goal
	for _, st := range strategies {
		all = append(all, st.Goals...)
	}
	return measuredBy(goal.NewTracker(s, goal.Number(s, all)))
}

func measuredBy(t *goal.Tracker) *measured {
	return &measured{t, map[int][]plan.ViolationMove{}, map[int][]plan.ViolationMove{}, map[plan.StrategyMode]*measured{}}
}

func (m *measured) goals() []plan.Goal { return m.tracker.Goals }

// apply follows the moves. Pods that the snapshot lacks are left out.
func (m *measured) apply(moves []plan.Move) {
	s := m.tracker.Snapshot
	for _, mv := range moves {
		p, to := s.PodByKey(mv.Pod.String()), cluster.NoNode
		if p == nil {
			continue
		}
		if n := s.NodeByName(mv.To); n != nil {
			to = n.ID
		}
		before := map[int]int64{}
		m.tracker.EachAffected(p.ID, p.Node, to, func(i int) bool { before[i] = m.tracker.Excess(i); return true })
		m.tracker.Move(p.ID, p.Node, to)
		for i, excess := range before {
			step := plan.ViolationMove{Pod: mv.Pod, From: mv.From, To: mv.To, Strategy: mv.Strategy}
			switch now := m.tracker.Excess(i); {
			case now < excess:
				m.moves[i] = append(m.moves[i], step)
			case now > excess:
				m.worse[i] = append(m.worse[i], step)
			}
		}
	}
}

// applyPlan follows the moves that passes execute, and from there those of each proposal.
func (c *comparison) applyPlan() {
	for _, m := range [...]*measured{c.policy, c.own} {
		m.apply(c.Plan.Moves)
		for _, p := range c.Plan.Proposals {
			next := measuredBy(m.tracker.Clone())
			next.apply(p.Plan.Moves)
			m.then[p.Mode] = next
		}
	}
}

// violation describes goal i of the policy. It returns false if the goal is met before and after, or if the policy
// waits.
func (c *comparison) violation(i int) (plan.Violation, bool) {
	g := c.policy.goals()[i]
	if g.Wait.Code != "" {
		return plan.Violation{}, false
	}
	v := plan.Violation{Goal: g, ExcessAfter: c.policy.tracker.ReportedExcess(i), Moves: slices.Clone(c.policy.moves[i]),
		Strategies: []string{}}
	looking := c.lookingAt(&g)
	for _, o := range looking {
		if name := c.own.goals()[o].Strategy; !slices.Contains(v.Strategies, name) {
			v.Strategies = append(v.Strategies, name)
		}
	}
	slices.Sort(v.Strategies)
	switch {
	case g.Excess <= 0 && v.ExcessAfter <= 0:
		return v, false
	case g.Excess <= 0:
		v.Result, v.Moves = plan.ViolationCaused, slices.Clone(c.policy.worse[i])
	case v.ExcessAfter <= 0:
		v.Result = plan.ViolationRepaired
	default:
		c.describeUnrepaired(&v, i, looking)
	}
	if v.Moves == nil {
		v.Moves = []plan.ViolationMove{}
	}
	return v, true
}

// waiting counts the nodes above their target on which a strategy of the policy does not act, because too few nodes are
// under-utilized. It returns "" if there are none.
func (c *comparison) waiting(strategy string) string {
	nodes, why := map[cluster.NodeID]bool{}, ""
	for _, g := range c.policy.goals() {
		if g.Strategy == strategy && g.Excess > 0 && g.Wait.Code == plan.TooFewUnderUtilized {
			nodes[g.Node], why = true, g.Wait.Message
		}
	}
	switch len(nodes) {
	case 0:
		return ""
	case 1:
		return "1 node is " + why
	}
	return fmt.Sprintf("each of %d nodes is %s", len(nodes), why)
}

// describeUnrepaired sets the result of a violation that the moves of passes do not repair.
func (c *comparison) describeUnrepaired(v *plan.Violation, i int, looking []int) {
	for _, of := range [...]struct {
		mode   plan.StrategyMode
		result plan.ViolationResult
	}{{plan.Approve, plan.ViolationWaitsForApproval}, {plan.ShowOnly, plan.ViolationShown}} {
		if next := c.policy.then[of.mode]; next != nil && next.tracker.Excess(i) <= 0 {
			v.Result, v.ExcessAfter = of.result, 0
			v.Moves = slices.Concat(c.policy.moves[i], next.moves[i])
			return
		}
	}
	why := c.reason(&c.policy.goals()[i], looking)
	v.Result, v.Reason = plan.ViolationLeft, &why
}

func count(p *plan.ComparedPlugin, r plan.ViolationResult) {
	if r == plan.ViolationCaused {
		p.Caused++
		return
	}
	p.Found++
	switch r {
	case plan.ViolationRepaired:
		p.Repaired++
	case plan.ViolationWaitsForApproval:
		p.WaitForApproval++
	case plan.ViolationShown:
		p.Shown++
	case plan.ViolationLeft:
		p.Left++
	}
}
