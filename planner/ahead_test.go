package planner

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// broken panics as soon as a landing is being foretold ahead.
type broken struct {
	measure
	c *search
}

func (b broken) with(pod cluster.PodID, from, to cluster.NodeID) int64 {
	if a := b.c.ahead; a != nil && a.busy {
		panic("broken")
	}
	return b.measure.with(pod, from, to)
}

// TestASearchThatPanicsLeavesNobodyBehind: in a bubble that is an error of its own.
func TestASearchThatPanicsLeavesNobodyBehind(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	s, err := cluster.New(simulation.Uneven(rand.New(rand.NewPCG(3, 1)), aheadFrom, 5000))
	if err != nil {
		t.Fatal(err)
	}
	var goals []plan.Goal
	for i := range s.Nodes {
		goals = append(goals, half("cpu", cluster.NodeID(i))...)
		goals[i].Weight, goals[i].Subject.Name = 1, s.Nodes[i].Name
	}
	synctest.Test(t, func(t *testing.T) {
		c := New(DefaultOptions()).newSearch(s, plan.PlannerState{}, number(s, goals), s.TakenAt)
		for i, m := range c.goals.at {
			c.goals.at[i] = broken{m, c}
		}
		defer func() {
			if p := recover(); p != "broken" {
				t.Errorf("%v: the search was not broken while a landing was foretold ahead", p)
			}
		}()
		c.run()
	})
}
