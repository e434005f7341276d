package summary

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// GracePeriodSeconds returns how long a victim may take to terminate, in seconds.
func GracePeriodSeconds(c *search.Search, p *cluster.Pod) int64 {
	for _, g := range []*int64{c.Options.Placement.GracePeriodSeconds, p.Object.Spec.TerminationGracePeriodSeconds} {
		if g != nil {
			return *g
		}
	}
	return 0
}

// DescribeMove converts one step of a wave to a move.
func DescribeMove(c *search.Search, st search.WaveStep) plan.Move {
	p := &c.Snapshot.Pods[st.Pod]
	m := plan.Move{
		Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(c.Snapshot, p), Goals: []string{},
		From: c.Snapshot.Nodes[st.From].Name, To: c.Snapshot.Nodes[st.Landing.To].Name,
		Acceptable: plan.Acceptable{Nodes: st.Landing.Acceptable},
		Confidence: st.Landing.Confidence, ReturnProbability: st.Landing.ReturnProbability, PendingProbability: st.Landing.PendingProbability,
		NotAfter: c.Eligibility.AllowedUntil(p), Wave: st.Wave, Steer: c.SteeringOf(st.Landing), Benefit: st.Benefit, Cost: eligibility.EvictionCost(p),
		GracePeriodSeconds: GracePeriodSeconds(c, p),
	}
	for _, i := range st.Landing.Served {
		m.Goals = append(m.Goals, c.Goals.Goals[i].ID)
	}
	m.Strategy, m.Reason = c.Goals.Goals[st.MostServed].Strategy, c.Goals.Goals[st.MostServed].Reason
	if st.Displaced != nil {
		describeDisplacement(c, &m, st.Step)
	}
	return m
}

// describeDisplacement adds the fields of a move that only makes room for another pod.
func describeDisplacement(c *search.Search, m *plan.Move, st search.Step) {
	p := plan.PodRefOf(&c.Snapshot.Pods[st.Displaced.Pod])
	m.DisplacedFor = &p
	m.Reason = plan.Reason{Code: plan.DisplacedForMove, Message: fmt.Sprintf("%s can move to %s, which serves %s, once it has left", p, c.Snapshot.Nodes[st.Displaced.On].Name, m.Goals[0])}
}
