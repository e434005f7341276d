package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// placesOf lists the nodes on which the replacement of a move may land.
func placesOf(c *search.State, m plan.Move, pod cluster.PodID, l *search.Landing) []cluster.NodeID {
	if m.DisplacedFor != nil {
		return c.AcceptableDisplacedNodes(pod, l)
	}
	return c.AcceptableNodes(pod, l)
}
