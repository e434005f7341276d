package passes

import (
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Record is what happened.
type Record struct {
	Every  time.Duration
	Passes []Pass
}

// Pass is what one pass found and did.
type Pass struct {
	At time.Time
	// Evictions were carried out; LandedElsewhere of them landed where the plan did not
	// accept.
	Evictions, LandedElsewhere int
	// EvictedAgain are those of replicas that were moved within the hour before;
	// EvictedAgainSoon, within the shortest back-off.
	EvictedAgain, EvictedAgainSoon int
	// BackedOff are those of workloads that were to rest.
	BackedOff int
	// Over are goals about nodes with excess after the pass, of Goals of nodes;
	// Skewed are groups.
	Over, Goals, Skewed int
	// StdDev is that of the nodes' requested CPU after the pass.
	StdDev float64
	// Placed pods are those that churn has had placed since the pass before.
	Placed int
	// Pending pods after it.
	Pending     int
	Nodes, Pods int
}

// pass plans, carries out and remembers.
func (c *Simulation) pass() Pass {
	s := c.snapshot()
	opts := c.conf.PlannerOptions()
	c.state = history.Expire(c.state, c.now, c.conf.HistoryOptions())
	p := planner.New(opts)
	pl := p.Plan(s, c.state, c.goals(s), c.now)
	out := Pass{At: c.now, Nodes: len(s.Nodes), Pods: len(s.Pods), Placed: c.placed}
	if c.executePlan(p, s, pl, &out); out.Evictions > 0 {
		s = c.snapshot()
	}
	c.measureState(s, &out)
	return out
}

// goals are those of strategies that are due; the others' are constraints.
func (c *Simulation) goals(s *cluster.Snapshot) []plan.Goal {
	var out []plan.Goal
	since := c.now.Add(-time.Duration(c.EveryMinutes) * time.Minute)
	for _, st := range c.conf.BuildStrategies() {
		due := !st.Schedule.Next(since).After(c.now)
		for _, g := range st.Strategy.Goals(s) {
			g.Constraint = !due
			out = append(out, g)
		}
	}
	return out
}

// executePlan evicts wave by wave, each judged again just before, as a run does.
func (c *Simulation) executePlan(p *planner.Planner, s *cluster.Snapshot, pl plan.Plan, out *Pass) {
	if len(pl.Moves) == 0 {
		return
	}
	run := plan.OpenRun{RunID: c.now.Format(time.RFC3339), Started: c.now}
	for _, m := range pl.Moves {
		if _, rests := history.ActiveBackoff(c.state, history.WorkloadOf(m), c.now); rests {
			out.BackedOff++
		}
	}
	c.state = history.Reserve(c.state, run, pl.Moves, c.now)
	outcomes, fell := c.waves(p, s, pl, out)
	c.state, _ = history.RecordOutcomes(c.state, run.RunID, outcomes, c.now, c.conf.HistoryOptions())
	if fell+out.LandedElsewhere > 0 && !c.OnePlan {
		c.replan(p, run, pl, out)
	}
	c.state = history.CloseRun(c.state, run.RunID)
}

// waves carries out a plan, and counts the moves that no longer held.
func (c *Simulation) waves(p *planner.Planner, s *cluster.Snapshot, pl plan.Plan, out *Pass) (outcomes []plan.Outcome, fell int) {
	for wave := pl.Moves[0].Wave; wave <= pl.Moves[len(pl.Moves)-1].Wave; wave++ {
		if wave > 1 {
			s = c.snapshot()
		}
		moves, dropped := p.Recheck(s, c.state, c.goals(s), pl, wave, c.now)
		fell += len(dropped)
		outcomes = append(append(outcomes, dropped...), c.evict(s, moves, out)...)
	}
	return outcomes, fell
}

// replan plans once more where not all came as planned, as a run does.
func (c *Simulation) replan(p *planner.Planner, run plan.OpenRun, pl plan.Plan, out *Pass) {
	var done []plan.Move
	for _, m := range pl.Moves {
		if c.life[m.Pod.UID] == nil { // its pod is gone
			done = append(done, m)
		}
	}
	s := c.snapshot()
	again := p.Replan(s, c.state, c.goals(s), done, c.now, c.now).ContinueNumbering(pl)
	if len(again.Moves) == 0 {
		return
	}
	c.state = history.Reserve(c.state, run, again.Moves, c.now)
	outcomes, _ := c.waves(p, s, again, out)
	c.state, _ = history.RecordOutcomes(c.state, run.RunID, outcomes, c.now, c.conf.HistoryOptions())
}

// evict goes move by move. Each replacement lands by the odds of the moment and is
// Ready before the next leaves.
func (c *Simulation) evict(s *cluster.Snapshot, moves []plan.Move, out *Pass) (outcomes []plan.Outcome) {
	w := placement.NewClusterModel(s, c.conf.PlannerOptions().Placement)
	at := map[string]int{}
	for i, p := range c.o.Pods {
		at[string(p.UID)] = i
	}
	for _, m := range moves {
		pod := s.PodByUID(m.Pod.UID).ID
		to := c.land(w.Predict(pod))
		w.Move(pod, to)
		outcomes = append(outcomes, c.replace(at[m.Pod.UID], m, s, to, out))
	}
	return outcomes
}

// startup is how long a replacement takes to start.
const startup = time.Second

// replace puts the replacement of a pod in its place.
func (c *Simulation) replace(i int, m plan.Move, s *cluster.Snapshot, to cluster.NodeID, out *Pass) plan.Outcome {
	old := c.o.Pods[i]
	l := c.life[m.Pod.UID]
	if out.Evictions++; !l.moved.IsZero() {
		if c.now.Sub(l.moved) < c.conf.HistoryOptions().Initial {
			out.EvictedAgainSoon++
		}
		if c.now.Sub(l.moved) < time.Hour {
			out.EvictedAgain++
		}
	}
	l.moved = c.now
	fresh := *old
	fresh.UID = types.UID(fmt.Sprintf("%s@%d", old.Name, c.now.Unix()))
	c.nominal[string(fresh.UID)], c.life[string(fresh.UID)] = c.nominal[m.Pod.UID], l
	c.removePodRecord(old)
	o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted}
	if to == cluster.NoNode {
		fresh.Spec.NodeName = ""
		c.o.Pods[i] = &fresh
		o.Reason = plan.Reason{Code: plan.ReplacementNotScheduled, Message: "it is Pending"}
		return o
	}
	o.Landed = s.Nodes[to].Name
	if o.LandedAsPredicted = slices.Contains(m.AcceptableNodes, o.Landed); !o.LandedAsPredicted {
		out.LandedElsewhere++
		o.Reason = plan.Reason{Code: plan.LandedElsewhere, Message: "it landed on " + o.Landed}
	}
	c.o.Pods[i] = bound(&fresh, o.Landed, metav1.NewTime(c.now.Add(startup)))
	return o
}

// measureState says how the cluster stands after the pass.
func (c *Simulation) measureState(s *cluster.Snapshot, out *Pass) {
	var goals []plan.Goal
	for _, st := range c.conf.BuildStrategies() {
		goals = append(goals, st.Strategy.Goals(s)...)
	}
	out.StdDev = deviation(s)
	for _, p := range c.o.Pods {
		if p.Spec.NodeName == "" {
			out.Pending++
		}
	}
	for _, g := range goals {
		switch {
		case g.Kind == plan.NodeBelow:
			out.Goals++
			if n := &s.Nodes[g.Node]; n.Requested.Get(g.Resource) > int64(g.Limit*float64(n.Allocatable.Get(g.Resource))+1e-6) {
				out.Over++
			}
		case skewed(s, g):
			out.Skewed++
		}
	}
}

func skewed(s *cluster.Snapshot, g plan.Goal) bool {
	count := map[string]int{}
	for _, p := range g.Pods {
		zone, _ := s.Nodes[s.Pods[p].Node].Label(g.TopologyKey)
		count[zone]++
	}
	lo, hi := len(g.Pods), 0
	for _, d := range g.Domains {
		lo, hi = min(lo, count[d]), max(hi, count[d])
	}
	return hi-lo > int(g.Limit)
}

// deviation is the standard deviation of the CPU requested, as a fraction, over nodes.
func deviation(s *cluster.Snapshot) float64 {
	var used, total, squares float64
	for i := range s.Nodes {
		used += float64(s.Nodes[i].Requested.MilliCPU)
		total += float64(s.Nodes[i].Allocatable.MilliCPU)
	}
	for i := range s.Nodes {
		off := float64(s.Nodes[i].Requested.MilliCPU)/float64(s.Nodes[i].Allocatable.MilliCPU) - used/total
		squares += off * off
	}
	return math.Sqrt(squares / float64(len(s.Nodes)))
}
