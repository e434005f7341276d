package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// placesOf lists the nodes on which the replacement of a move may land.
func placesOf(c *State, m plan.Move, pod cluster.PodID, l *Landing) []cluster.NodeID {
	if m.DisplacedFor != nil {
		return c.AcceptableDisplacedNodes(pod, l)
	}
	return c.AcceptableNodes(pod, l)
}
