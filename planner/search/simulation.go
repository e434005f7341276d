package search

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search/steering"
)

// Simulation is the simulation state of a plan: the node of each pod and the excess of each goal.
type Simulation struct {
	Snapshot *cluster.Snapshot
	Options  *Options
	Steering *steering.Steering
	// Targets says to which nodes pods may be sent. All clones share it.
	Targets *target.Targets
	Model   *placement.ClusterModel
	Goals   *goal.Tracker
	// predictions counts the predicted landings. All clones share the counter.
	predictions *int
	// version counts the moves made and undone, and the turns.
	version int
}

func newSimulation(opts *Options, s *cluster.Snapshot, goals []plan.Goal, schedulers []plan.SchedulerState, now time.Time) *Simulation {
	o := opts.Placement
	o.Profiles = opts.Trust.Profiles(o.Profiles, schedulers)
	hinted := opts.Pressure.NodesUnderPressure(s, now)
	c := &Simulation{s, opts, steering.New(s, opts.Steer, opts.Guards.Scope), target.New(s, opts.Guards.Scope, hinted), placement.NewClusterModel(s, o),
		goal.NewTracker(s, goals), new(int), 0}
	c.Goals.UnderPressure = hinted
	outside := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		outside[i] = !opts.Guards.Scope.HasNode(n) || len(annotation.OfNode(n).Exclude) > 0
	}
	c.Goals.BindOutside(outside)
	c.Goals.First = c.Goals.FirstGoals()
	return c
}

// ClassOf returns a number that pods share if neither the scheduler nor package target tells them apart, or -1 for a
// pod that has ended.
func (c *Simulation) ClassOf(pod cluster.PodID) int {
	class := c.Model.Cluster.ClassNumber(pod)
	if class < 0 {
		return class
	}
	return class + c.Targets.Of(&c.Snapshot.Pods[pod]).Number*len(c.Model.Cluster.ClassList)
}

// MayTake marks, by node, the nodes to which the pod may be sent.
func (c *Simulation) MayTake(pod cluster.PodID) []bool {
	return c.Targets.Of(&c.Snapshot.Pods[pod]).May
}

// Clone returns a copy with its own cluster model and goals.
func (c *Simulation) Clone() *Simulation {
	other := *c
	other.Model, other.Goals = c.Model.Clone(), c.Goals.Clone()
	return &other
}

// NodeOf returns the node of the pod. A pod that has ended stays on its node until it is removed.
func (c *Simulation) NodeOf(pod cluster.PodID) cluster.NodeID {
	at := c.Model.Cluster.NodeOf(pod)
	if at == cluster.NoNode && c.Snapshot.Pods[pod].Terminal {
		return c.Snapshot.Pods[pod].Node
	}
	return at
}

// NodeName returns the name of the node, or "" for NoNode.
func (c *Simulation) NodeName(n cluster.NodeID) string {
	if n == cluster.NoNode {
		return ""
	}
	return c.Snapshot.Nodes[n].Name
}

func (c *Simulation) Apply(m Step) {
	c.move(m.Pod, m.Landing.To)
	c.Goals.Move(m.Pod, m.From, m.Landing.To)
}

func (c *Simulation) Undo(m Step) {
	c.move(m.Pod, m.From)
	c.Goals.Move(m.Pod, m.Landing.To, m.From)
}

func (c *Simulation) move(pod cluster.PodID, to cluster.NodeID) {
	c.version++
	c.Model.Cluster.Move(pod, to)
}

// strategyName returns the name of the strategy of a move, or "".
func (c *Simulation) strategyName(m Move) string {
	if m.Strategy != limits.NoStrategy {
		return c.Options.Strategies[m.Strategy].Name
	}
	return ""
}

// LimitReached reports whether the search must end, because it has reached limits.maxPredictions or Work.Stopped. The
// reason applies to each remaining pod. The search then keeps the best moves so far.
func (c *Simulation) LimitReached() (plan.Reason, bool) {
	if c.Snapshot.Work.Stopped() {
		return plan.Reason{Code: plan.PlanTimeReached, Message: fmt.Sprintf(
			"limits.maxPlanTime allows %s per plan; the search ended early", c.Options.MaxPlanTime)}, true
	}
	most := c.Options.MaxPredictions
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf(
		"limits.maxPredictions allows %s per plan; the search ended early", plural.Count(most, "landing"))}, true
}

// finalPassPredictions returns the number of predictions that the final pass may make.
func (c *Simulation) finalPassPredictions() int {
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort-*c.predictions)
	}
	return most
}

// hintPhases returns the values of Wave.mayHint, in the order in which the search applies them.
func (c *Simulation) hintPhases() []bool {
	if c.Options.Steers() {
		return []bool{false, true}
	}
	return []bool{false}
}
