package passes

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Record is the result of a simulation.
type Record struct {
	Every  time.Duration
	Passes []Pass
}

// Pass is the result of one pass.
type Pass struct {
	At time.Time
	// Evictions is the number of evictions. LandedElsewhere is the number of replacements
	// that landed on a node that the plan does not accept.
	Evictions, LandedElsewhere int
	// Removed is the number of removed pods that had ended. They do not count as evictions.
	Removed int
	// EvictedAgain counts the evictions of replicas that were moved within the last hour. EvictedAgainSoon counts
	// the evictions of replicas that were moved within the shortest backoff.
	EvictedAgain, EvictedAgainSoon int
	// EvictedAfterPlan describes those of EvictedAgain whose earlier replacement landed on the node that the plan
	// names: both moves and their reasons.
	EvictedAfterPlan []string
	// Conflicts are those of EvictedAfterPlan that have none of two causes: a replacement of the workload landed on
	// another node than the likeliest one, or the goal of the second move was unmet before the first, too.
	Conflicts []string
	// BackedOff counts the evictions of workloads in backoff.
	BackedOff int
	// Over is the number of node goals with excess after the pass. Goals is the number of all node
	// goals. Skewed is the number of skewed groups.
	Over, Goals, Skewed int
	// StdDev is the standard deviation of the nodes' requested CPU after the pass.
	StdDev float64
	// Placed is the number of pods that churn has scheduled since the previous pass.
	Placed int
	// Pending is the number of Pending pods after the pass.
	Pending     int
	Nodes, Pods int
}

// runPass makes a plan, executes it and records the outcomes.
func (c *Simulation) runPass() Pass {
	c.removeExpiredHints()
	s := c.takeSnapshot()
	opts := c.conf.PlannerOptions()
	c.state = history.Expire(c.state, c.now)
	p := planner.New(opts)
	pl := p.Plan(s, c.state, c.goals(s), c.now)
	c.latest = pl
	c.recordUnmet(s, pl.Goals)
	out := Pass{At: c.now, Nodes: len(s.Nodes), Pods: len(s.Pods), Placed: c.placed}
	if c.executePlan(p, s, pl, &out); out.Evictions > 0 {
		s = c.takeSnapshot()
	}
	c.measureState(s, &out)
	return out
}

// recordUnmet records for each pod the strategies with an unmet goal about it, its group or its node.
func (c *Simulation) recordUnmet(s *cluster.Snapshot, goals []plan.Goal) {
	for i := range goals {
		g, pods := &goals[i], goals[i].Pods
		if g.Kind == plan.NodeBelow {
			pods = s.Nodes[g.Node].Pods
		}
		for _, id := range pods {
			if l := c.histories[string(s.Pods[id].Object.UID)]; l != nil && g.Excess > 0 {
				l.unmet[unmetGoal{g.Strategy, c.now}] = true
			}
		}
	}
}

// goals returns the goals of all strategies. Goals of strategies that are not due are constraints.
func (c *Simulation) goals(s *cluster.Snapshot) []plan.Goal {
	var out []plan.Goal
	since := c.now.Add(-time.Duration(c.EveryMinutes) * time.Minute)
	for _, st := range c.conf.BuildStrategies() {
		due := !st.Firings.Next(since).After(c.now)
		for _, g := range st.Goals(s) {
			g.Constraint = g.Constraint || !due
			out = append(out, g)
		}
	}
	return out
}

// executePlan executes a plan wave by wave and rechecks each wave first, as the controller does.
func (c *Simulation) executePlan(p *planner.Planner, s *cluster.Snapshot, pl plan.Plan, out *Pass) {
	if len(pl.Moves) == 0 {
		return
	}
	run := plan.OpenRun{RunID: c.now.Format(time.RFC3339), Started: c.now}
	for _, m := range pl.Moves {
		if _, rests := history.ActiveBackoff(c.state, history.WorkloadOfMove(m), c.now); rests {
			out.BackedOff++
		}
	}
	c.state = history.Reserve(c.state, run, pl.Moves, c.now)
	outcomes, fell := c.executeWaves(p, s, pl, out)
	c.state, _ = history.RecordOutcomes(c.state, run.RunID, outcomes, c.now, c.conf.HistoryOptions())
	c.keepEmpty(pl, run.RunID)
	if fell+out.LandedElsewhere > 0 && !c.OnePlan {
		c.replan(p, run, pl, out)
	}
	c.state = history.CloseRun(c.state, run.RunID)
}

// executeWaves executes the waves of a plan. executeWaves returns the outcomes and the number of dropped moves.
func (c *Simulation) executeWaves(p *planner.Planner, s *cluster.Snapshot, pl plan.Plan, out *Pass) (outcomes []plan.Outcome, fell int) {
	for wave := pl.Moves[0].Wave; wave <= pl.Moves[len(pl.Moves)-1].Wave; wave++ {
		if wave > 1 {
			s = c.takeSnapshot()
		}
		moves, dropped := p.Recheck(s, c.state, c.goals(s), pl, wave, c.now)
		fell += len(dropped)
		outcomes = append(append(outcomes, dropped...), c.evict(s, moves, pl.HintsForWave(wave), out)...)
	}
	return outcomes, fell
}

// replan makes and executes a second plan if a move failed or a replacement landed
// elsewhere, as the controller does.
func (c *Simulation) replan(p *planner.Planner, run plan.OpenRun, pl plan.Plan, out *Pass) {
	var done []plan.Move
	for _, m := range pl.Moves {
		if c.histories[m.Pod.UID] == nil { // the pod was evicted
			done = append(done, m)
		}
	}
	s := c.takeSnapshot()
	again := p.Replan(s, c.state, c.goals(s), done, c.now, c.now).ContinueNumbering(pl)
	if len(again.Moves) == 0 {
		return
	}
	c.state = history.Reserve(c.state, run, again.Moves, c.now)
	outcomes, _ := c.executeWaves(p, s, again, out)
	c.state, _ = history.RecordOutcomes(c.state, run.RunID, outcomes, c.now, c.conf.HistoryOptions())
}

// evict executes moves in order. Each replacement lands on a random node, with the predicted
// probabilities, and is Ready before the next eviction. The scheduler sees the hints of the wave, if
// a move needs them.
func (c *Simulation) evict(s *cluster.Snapshot, moves []plan.Move, planned plan.WaveHints, out *Pass) (outcomes []plan.Outcome) {
	w := placement.NewClusterModel(s, c.conf.PlannerOptions().Placement)
	if slices.ContainsFunc(moves, plan.Move.Steered) {
		w.SetHints(hints.Kind(planned.Kind), nodesByName(s, planned.Nodes))
	}
	at := map[string]int{}
	for i, p := range c.o.Pods {
		at[string(p.UID)] = i
	}
	for _, m := range moves {
		pod := s.PodByUID(m.Pod.UID).ID
		if m.Removal != "" { // it has ended, so no replacement follows
			c.o.Pods[at[m.Pod.UID]] = nil
			out.Removed++
			outcomes = append(outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted})
			continue
		}
		to := c.drawLanding(w.Predict(pod))
		w.Cluster.Move(pod, to)
		outcomes = append(outcomes, c.replacePod(at[m.Pod.UID], m, s, to, out))
	}
	c.o.Pods = slices.DeleteFunc(slices.Clone(c.o.Pods), func(p *corev1.Pod) bool { return p == nil })
	return outcomes
}

// startup is the time that a replacement needs to start.
const startup = time.Second

// replacePod replaces an evicted pod and returns the outcome.
func (c *Simulation) replacePod(i int, m plan.Move, s *cluster.Snapshot, to cluster.NodeID, out *Pass) plan.Outcome {
	old := c.o.Pods[i]
	l := c.histories[m.Pod.UID]
	if out.Evictions++; !l.moved.IsZero() {
		if c.now.Sub(l.moved) < c.conf.HistoryOptions().Initial {
			out.EvictedAgainSoon++
		}
		if c.now.Sub(l.moved) < time.Hour {
			out.EvictedAgain++
			if l.asPlanned {
				out.EvictedAfterPlan = append(out.EvictedAfterPlan, l.lastMove+"\n    then "+describeMove(m))
				if c.unlikely[old.OwnerReferences[0].UID].Before(l.moved) && !l.unmet[unmetGoal{m.Strategy, l.moved}] {
					out.Conflicts = append(out.Conflicts, out.EvictedAfterPlan[len(out.EvictedAfterPlan)-1])
				}
			}
		}
	}
	l.lastMove = describeMove(m)
	l.moved, l.asPlanned = c.now, to != cluster.NoNode && s.Nodes[to].Name == m.To
	fresh := *old
	fresh.UID = types.UID(fmt.Sprintf("%s@%d", old.Name, c.now.Unix()))
	fresh.CreationTimestamp = metav1.NewTime(c.now)
	c.templateRequests[string(fresh.UID)], c.histories[string(fresh.UID)] = c.templateRequests[m.Pod.UID], l
	c.removePodRecord(old)
	o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted}
	if to == cluster.NoNode {
		fresh.Spec.NodeName, fresh.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		c.o.Pods[i] = &fresh
		o.Reason = plan.Reason{Code: plan.ReplacementNotScheduled, Message: "it is Pending"}
		return o
	}
	if o.Landed = s.Nodes[to].Name; o.Landed != m.To {
		c.unlikely[old.OwnerReferences[0].UID] = c.now
	}
	if o.LandedAsPredicted = slices.Contains(m.AcceptableNodes, o.Landed); !o.LandedAsPredicted {
		out.LandedElsewhere++
		o.Reason = plan.Reason{Code: plan.LandedElsewhere, Message: "it landed on " + o.Landed}
	}
	c.o.Pods[i] = bindPod(&fresh, o.Landed, metav1.NewTime(c.now.Add(startup)))
	return o
}

// measureState records the state of the cluster after the pass.
func (c *Simulation) measureState(s *cluster.Snapshot, out *Pass) {
	out.StdDev = cpuDeviation(s)
	for _, p := range c.o.Pods {
		if p.Spec.NodeName == "" {
			out.Pending++
		}
	}
	for _, g := range c.goals(s) {
		switch {
		case g.Kind == plan.NodeBelow:
			out.Goals++
			if n := &s.Nodes[g.Node]; n.Requested.Get(g.Resource) > int64(g.Limit*float64(n.Allocatable.Get(g.Resource))+1e-6) {
				out.Over++
			}
		case g.Kind == plan.SkewAtMost && isSkewed(s, g):
			out.Skewed++
		}
	}
}

func isSkewed(s *cluster.Snapshot, g plan.Goal) bool {
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

// cpuDeviation returns the standard deviation of the nodes' requested CPU, as a fraction of allocatable.
func cpuDeviation(s *cluster.Snapshot) float64 {
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
