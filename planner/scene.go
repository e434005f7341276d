package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// scene is the cluster at one moment of a plan: where pods stand, and how far the
// goals are from being met.
type scene struct {
	s     *cluster.Snapshot
	opts  *Options
	steer *steering
	ready []bool // by node: Ready, and not under pressure
	world *placement.World
	goals *tracker
	// predictions counts the landings that were foretold, in all clones together.
	predictions *int
	// shifts counts the moves that were made and taken back.
	shifts int
}

// newScene is the cluster as the snapshot has it.
func (p *Planner) newScene(s *cluster.Snapshot, goals []plan.Goal, schedulers []plan.SchedulerState, now time.Time) *scene {
	o := p.opts.Placement
	o.Profiles = p.opts.Shadow.Profiles(o.Profiles, schedulers)
	c := &scene{s, &p.opts, newSteering(s, &p.opts), make([]bool, len(s.Nodes)), placement.NewWorld(s, o), newTracker(s, goals), new(int), 0}
	c.goals.pressed = p.opts.Pressure.pressed(s, now)
	c.goals.first = c.goals.servedFirst()
	for i := range s.Nodes {
		c.ready[i] = s.Nodes[i].Ready && !c.goals.pressed[i]
	}
	return c
}

// clone is a scene that other moves can be made in.
func (c *scene) clone() *scene {
	other := *c
	other.world, other.goals = c.world.Clone(), c.goals.clone()
	return &other
}

func (c *scene) apply(m step) {
	c.shift(m.pod, m.landing.to)
	c.goals.move(m.pod, m.from, m.landing.to)
}

func (c *scene) undo(m step) {
	c.shift(m.pod, m.from)
	c.goals.move(m.pod, m.landing.to, m.from)
}

func (c *scene) shift(pod cluster.PodID, to cluster.NodeID) {
	c.shifts++
	c.world.Move(pod, to)
}
