package search

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

// State is the simulation state of a plan: the node of each pod and the excess of each goal.
type State struct {
	Snapshot *cluster.Snapshot
	Options  *settings.Options
	Steering *Steering
	Ready    []bool // by node: true if Ready and not under pressure
	Model    *placement.ClusterModel
	Goals    *goal.Tracker
	// predictions counts the predicted landings. All clones share the counter.
	predictions *int
	// moveCount counts the moves made and undone.
	moveCount int
}

// newState returns the simulation state of the snapshot, without moves.
func newState(opts *settings.Options, s *cluster.Snapshot, goals []plan.Goal, schedulers []plan.SchedulerState, now time.Time) *State {
	o := opts.Placement
	o.Profiles = opts.Trust.Profiles(o.Profiles, schedulers)
	c := &State{s, opts, newSteering(s, opts), make([]bool, len(s.Nodes)), placement.NewClusterModel(s, o), goal.NewTracker(s, goals), new(int), 0}
	c.Goals.UnderPressure = opts.Pressure.NodesUnderPressure(s, now)
	c.Goals.First = c.Goals.FirstGoals()
	for i := range s.Nodes {
		c.Ready[i] = s.Nodes[i].Ready && !c.Goals.UnderPressure[i]
	}
	return c
}

// Clone returns a copy with its own cluster model and goals.
func (c *State) Clone() *State {
	other := *c
	other.Model, other.Goals = c.Model.Clone(), c.Goals.Clone()
	return &other
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
