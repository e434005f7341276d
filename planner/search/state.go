package search

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search/steering"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

// State is the simulation state of a plan: the node of each pod and the excess of each goal.
type State struct {
	Snapshot *cluster.Snapshot
	Options  *settings.Options
	Steering *steering.Steering
	// Targets says to which nodes pods may be sent. All clones share it.
	Targets *target.Targets
	Model   *placement.ClusterModel
	Goals   *goal.Tracker
	// predictions counts the predicted landings. All clones share the counter.
	predictions *int
	// moveCount counts the moves made and undone, and the turns.
	moveCount int
}

func newState(opts *settings.Options, s *cluster.Snapshot, goals []plan.Goal, schedulers []plan.SchedulerState, now time.Time) *State {
	o := opts.Placement
	o.Profiles = opts.Trust.Profiles(o.Profiles, schedulers)
	hinted := opts.Pressure.NodesUnderPressure(s, now)
	c := &State{s, opts, steering.New(s, opts), target.New(s, opts.Guards.Scope, hinted), placement.NewClusterModel(s, o),
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
func (c *State) ClassOf(pod cluster.PodID) int {
	class := c.Model.ClassNumber(pod)
	if class < 0 {
		return class
	}
	return class + c.Targets.Of(&c.Snapshot.Pods[pod]).Number*c.Model.EquivalenceClassCount()
}

// MayTake marks, by node, the nodes to which the pod may be sent.
func (c *State) MayTake(pod cluster.PodID) []bool { return c.Targets.Of(&c.Snapshot.Pods[pod]).May }

// Clone returns a copy with its own cluster model and goals.
func (c *State) Clone() *State {
	other := *c
	other.Model, other.Goals = c.Model.Clone(), c.Goals.Clone()
	return &other
}

// NodeOf returns the node of the pod. A pod that has ended stays on its node until it is removed.
func (c *State) NodeOf(pod cluster.PodID) cluster.NodeID {
	if p := &c.Snapshot.Pods[pod]; p.Terminal {
		return p.Node
	}
	return c.Model.NodeOf(pod)
}

// NodeName returns the name of the node, or "" for NoNode.
func (c *State) NodeName(n cluster.NodeID) string {
	if n == cluster.NoNode {
		return ""
	}
	return c.Snapshot.Nodes[n].Name
}

func (c *State) Apply(m Step) {
	c.move(m.Pod, m.Landing.To)
	c.Goals.Move(m.Pod, m.From, m.Landing.To)
}

func (c *State) Undo(m Step) {
	c.move(m.Pod, m.From)
	c.Goals.Move(m.Pod, m.Landing.To, m.From)
}

func (c *State) move(pod cluster.PodID, to cluster.NodeID) {
	c.moveCount++
	c.Model.Move(pod, to)
}

// strategyName returns the name of the strategy of a move, or "".
func (c *State) strategyName(m Move) string {
	if m.Strategy != settings.NoStrategy {
		return c.Options.Strategies[m.Strategy].Name
	}
	return ""
}

// neededConfidence returns the least confidence of the move's landing, and a prefix for reasons if its strategy sets
// it.
func (c *State) neededConfidence(m Move) (least float64, prefix string) {
	if own := c.Options.RulesOf(m.Strategy); own != nil && own.MinConfidence > c.Options.MinConfidence {
		return own.MinConfidence, "strategy " + c.strategyName(m) + ": "
	}
	return c.Options.MinConfidence, ""
}

// LimitReached reports whether the search must end, because it has reached limits.maxPredictions or Work.Stopped. The
// reason applies to each remaining pod. The search then keeps the best moves so far.
func (c *State) LimitReached() (plan.Reason, bool) {
	if c.Snapshot.Work.Stopped() {
		return plan.Reason{Code: plan.PlanTimeReached, Message: fmt.Sprintf(
			"limits.maxPlanTime lets a plan take %s; it was cut short", c.Options.MaxPlanTime)}, true
	}
	most := c.Options.MaxPredictions
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf(
		"limits.maxPredictions lets a plan predict %s; it was cut short", plural.Count(most, "landing"))}, true
}

// finalPassPredictions returns the number of predictions that the final pass may make.
func (c *State) finalPassPredictions() int {
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort-*c.predictions)
	}
	return most
}

// hintPhases returns the values of Wave.mayHint, in the order in which the search applies them.
func (c *State) hintPhases() []bool {
	if c.Options.Steers() {
		return []bool{false, true}
	}
	return []bool{false}
}

// Move is a pod that leaves its node: all that a prediction depends on besides the cluster.
type Move struct {
	Pod  cluster.PodID
	Kind Kind
	// Strategy is the index of the strategy for which the pod moves, or settings.NoStrategy if no strategy has rules of
	// its own.
	Strategy int
}

// Step is a move that the search has accepted.
type Step struct {
	Move
	From    cluster.NodeID
	Landing Landing
	goal    int // index of the goal for which the search tried it
	// Benefit is the weighted share of the goals' initial excess that the eviction removes. MostImproved is the goal
	// that loses the largest share of its excess. Both values are measured before the move.
	Benefit      float64
	MostImproved int
	// For is set only for moves of the kind MakeRoom.
	For DisplacedFor
}

// DisplacedFor names the pod for which a move makes room, and the node on which it makes
// room.
type DisplacedFor struct {
	Pod cluster.PodID
	On  cluster.NodeID
}

// WaveStep is a step with the number of its wave, from 1.
type WaveStep struct {
	Step
	Wave int
}

// Landing is the predicted landing of a replacement. Probabilities are fractions of 1.
type Landing struct {
	To                                                cluster.NodeID
	Acceptable                                        int   // number of nodes on which the landing is acceptable
	ImprovedGoals                                     []int // goals that the move improves
	Confidence, ReturnProbability, PendingProbability float64
	// Hinted lists the nodes that must carry a hint for this prediction. Within a wave, Hinted lists all hinted nodes
	// of the wave.
	Hinted []cluster.NodeID
	// NotBad is set for moves of the kind WithoutPlace: the probability that the replacement lands on no other than an
	// acceptable node.
	NotBad float64
	// Steered says that the landing is acceptable only with hints.
	Steered bool
	// predicted is the underlying prediction, which the search sets to nil when it accepts the move.
	predicted *prediction.Prediction
}
