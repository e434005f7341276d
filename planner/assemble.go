package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// summarize writes the search down as a plan. before and start are the cluster
// and the goals when it began.
func (p *Planner) summarize(c *Search, before plan.State, start *Tracker) plan.Plan {
	out := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan",
		TakenAt: c.Snapshot.TakenAt.UTC(), TakenAtEstimated: c.Snapshot.Objects.TakenAt.IsZero(), Expires: c.Now.Add(validity).UTC(),
		Cluster:    plan.ClusterInfo{UID: c.Snapshot.ClusterUID, Version: fmt.Sprintf("%d.%d", c.Snapshot.ServerMajor, c.Snapshot.ServerMinor)},
		ConfigHash: p.opts.ConfigHash, NotEnforced: p.opts.NotEnforced,
		Moves:      []plan.Move{},
		Rejections: c.Rejections.List(c.Snapshot, p.opts.SamplesPerCode),
		Goals:      []plan.Goal{},
		Before:     before,
		Strategies: c.strategies(),
		Schedulers: c.Schedulers,
		Inputs:     c.inputs(),
		Blocks:     c.Blocks(),
		Pressure:   c.PressureHints(p), HintsNoData: c.hintsUnknown(),
	}
	if _, spent := c.PredictionLimitReached(); spent {
		out.SearchLimitReached = fmt.Sprintf("limits.maxPredictions lets a plan foretell %s; %s not tried to the end", CountPredictions(p.opts.MaxPredictions), CountPodsWere(out.Rejections.Counts[plan.PredictionLimitReached]))
	}
	for i, nodes := range c.HintedByWave {
		if len(nodes) > 0 {
			out.Hints = append(out.Hints, c.WaveHints(i+1, nodes))
		}
	}
	for i, st := range c.Moves {
		m := c.DescribeMove(st)
		m.Step = i + 1
		out.Moves = append(out.Moves, m)
	}
	out.After, out.Bound = c.DescribeState(), c.Of(start)
	for _, g := range c.Goals.Goals {
		if g.ID != "" {
			out.Goals = append(out.Goals, g)
		}
	}
	out.ID = plan.ContentID(out)
	return out
}

// graceOf is how long a victim may take to end, in seconds.
func (c *Search) graceOf(p *cluster.Pod) int64 {
	for _, g := range []*int64{c.planner.opts.Placement.GracePeriodSeconds, p.Object.Spec.TerminationGracePeriodSeconds} {
		if g != nil {
			return *g
		}
	}
	return 0
}

// DescribeMove describes one step.
func (c *Search) DescribeMove(st WaveStep) plan.Move {
	p := &c.Snapshot.Pods[st.Pod]
	m := plan.Move{
		Pod: PodRef(p), Owner: OwnerRef(c.Snapshot, p), Goals: []string{},
		From: c.Snapshot.Nodes[st.From].Name, To: c.Snapshot.Nodes[st.Landing.To].Name,
		Acceptable: plan.Acceptable{Nodes: st.Landing.Acceptable},
		Confidence: st.Landing.Confidence, ReturnProbability: st.Landing.ReturnProbability, PendingProbability: st.Landing.PendingProbability,
		NotAfter: c.Eligibility.AllowedUntil(p), Wave: st.Wave, Steer: c.SteeringOf(st.Landing), Benefit: st.Benefit, Cost: EvictionCost(p),
		GracePeriodSeconds: c.graceOf(p),
	}
	for _, i := range st.Landing.Served {
		m.Goals = append(m.Goals, c.Goals.Goals[i].ID)
	}
	m.Strategy, m.Reason = c.Goals.Goals[st.MostServed].Strategy, c.Goals.Goals[st.MostServed].Reason
	if st.Displaced != nil {
		c.describeDisplacement(&m, st.Step)
	}
	return m
}

// MostServed is the goal of which the move removes the largest weighted share.
func (t *Tracker) MostServed(pod cluster.PodID, from cluster.NodeID, served []int) int {
	best, most := served[0], -1.0
	for _, i := range served {
		share := t.Goals[i].Weight * float64(t.Excess(i)-t.ExcessAfterLeaving(i, pod, from)) / float64(t.InitialExcess[i])
		if share > most {
			best, most = i, share
		}
	}
	return best
}

func OwnerRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	w := s.WorkloadOf(p)
	if w == nil {
		return plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Name: p.Object.Name, UID: string(p.Object.UID)}
	}
	return plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID}
}

// maxProblems bounds what is listed of one input.
const maxProblems = 20

// inputs are the sources of the plan. What people asked for is among them only
// when something of it cannot be read.
func (c *Search) inputs() []plan.Input {
	in := []plan.Input{requestsInput(c.Snapshot, c.Now)}
	if load, known := c.loadInput(); known {
		in = append(in, load)
	}
	if nodes := c.nodesInput(in[0].Age); len(nodes.Problems) > 0 {
		in = append(in, nodes)
	}
	if others := otherDeschedulersInput(c.Snapshot, in[0].Age); len(others.Problems) > 0 {
		in = append(in, others)
	}
	if stated := c.strategiesInput(in[0].Age); len(stated.Problems) > 0 {
		in = append(in, stated)
	}
	for _, left := range [...]string{leftoverHints(c.Snapshot, c.Now), expiredHints(c.Snapshot, c.Now)} {
		if left != "" {
			in = append(in, plan.Input{Source: "hints", Age: in[0].Age, Coverage: 1, Problems: []string{left}})
		}
	}
	if why := c.Snapshot.Objects.PlannerStateError; why != "" {
		in = append(in, plan.UnknownStateInput(in[0].Age, why))
	}
	problems := c.Eligibility.Guards.Asked.Problems(c.Snapshot, c.planner.opts.Guards.TimeZone)
	if len(problems) == 0 {
		return in
	}
	asked := plan.Input{Source: "annotations", Age: in[0].Age, Coverage: 1, Problems: []string{}}
	for i, p := range problems {
		if i == maxProblems {
			asked.Problems = append(asked.Problems, fmt.Sprintf("... and %d more", len(problems)-i))
			break
		}
		asked.Problems = append(asked.Problems, p.String())
	}
	return append(in, asked)
}

// nodesInput says which nodes in scope no pod can go to, which stand in no zone,
// and which domains are not counted. A node that is not Ready is not known to hold what it seems to.
func (c *Search) nodesInput(age string) plan.Input {
	in := plan.Input{Source: "nodes", Age: age, Coverage: 1, Problems: []string{}}
	all, unready, zoneless := 0, 0, 0
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		if !c.planner.opts.Guards.Scope.HasNode(n) {
			continue
		}
		all++
		if !n.Ready {
			unready++
		}
		if c.Limits.Zones[n.ID] == "" {
			zoneless++
		}
	}
	if all == 0 {
		in.Coverage = 0
		in.Problems = append(in.Problems, "no node is in scope (nodeSelector)")
		return in
	}
	in.Coverage = plan.Round(float64(all-unready) / float64(all))
	if unready > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("%d of %d nodes in scope are not Ready: their pods stay", unready, all))
	}
	if zoneless > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("%d of %d nodes in scope have no label %s: no goal about zones sees their pods", zoneless, all, ZoneKey))
	}
	in.Problems = append(in.Problems, c.uncountedDomains()...)
	return in
}

func requestsInput(s *cluster.Snapshot, now time.Time) plan.Input {
	in := plan.Input{Source: "requests", Age: now.Sub(s.TakenAt).Round(time.Second).String(), Coverage: 1, Problems: []string{}}
	for _, kind := range slices.Sorted(maps.Keys(s.Objects.Skipped)) {
		in.Problems = append(in.Problems, fmt.Sprintf("%d objects of kind %s are not read", s.Objects.Skipped[kind], kind))
	}
	if absent := absentKinds(s.Objects); s.Objects.TakenAt.IsZero() && len(absent) > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("the snapshot, which evenkeel capture did not make, has no %s: taken as there being none", strings.Join(absent, " and no ")))
	}
	return in
}

// absentKinds are kinds that keep pods where they are, and of which none is
// there.
func absentKinds(o *cluster.Objects) []string {
	var out []string
	if len(o.Services) == 0 {
		out = append(out, "Service")
	}
	if len(o.PodDisruptionBudgets) == 0 {
		out = append(out, "PodDisruptionBudget")
	}
	return out
}
