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

// assemble writes the search down as a plan. before and start are the cluster
// and the goals when it began.
func (p *Planner) assemble(c *search, before plan.State, start *tracker) plan.Plan {
	out := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan",
		TakenAt: c.s.TakenAt.UTC(), TakenAtEstimated: c.s.Objects.TakenAt.IsZero(), Expires: c.now.Add(validity).UTC(),
		Cluster:    plan.ClusterInfo{UID: c.s.ClusterUID, Version: fmt.Sprintf("%d.%d", c.s.ServerMajor, c.s.ServerMinor)},
		ConfigHash: p.opts.ConfigHash,
		Moves:      []plan.Move{},
		Rejections: c.refused.list(c.s, p.opts.SamplesPerCode),
		Goals:      []plan.Goal{},
		Before:     before,
		Strategies: c.strategies(),
		Schedulers: c.schedulers,
		Inputs:     c.inputs(),
		Blocks:     c.holds(),
		Pressure:   c.pressureHints(p), HintsNoData: c.hintsUnknown(),
	}
	if _, spent := c.spentEffort(); spent {
		out.SearchLimitReached = fmt.Sprintf("limits.maxPredictions lets a plan foretell %s; %s not tried to the end", landingsWord(p.opts.Effort), podsWere(out.Rejections.Counts[plan.PredictionLimitReached]))
	}
	for i, nodes := range c.hinted {
		if len(nodes) > 0 {
			out.Hints = append(out.Hints, c.waveHints(i+1, nodes))
		}
	}
	for i, st := range c.moves {
		m := c.move(st)
		m.Step = i + 1
		out.Moves = append(out.Moves, m)
	}
	out.After, out.Bound = c.state(), c.bound(start)
	for _, g := range c.goals.list {
		if g.ID != "" {
			out.Goals = append(out.Goals, g)
		}
	}
	out.ID = plan.ContentID(out)
	return out
}

// graceOf is how long a victim may take to end, in seconds.
func (c *search) graceOf(p *cluster.Pod) int64 {
	for _, g := range []*int64{c.p.opts.Placement.GracePeriodSeconds, p.Object.Spec.TerminationGracePeriodSeconds} {
		if g != nil {
			return *g
		}
	}
	return 0
}

// move describes one step.
func (c *search) move(st wavedStep) plan.Move {
	p := &c.s.Pods[st.pod]
	m := plan.Move{
		Pod: podRef(p), Owner: ownerRef(c.s, p), Goals: []string{},
		From: c.s.Nodes[st.from].Name, To: c.s.Nodes[st.landing.to].Name,
		Acceptable: plan.Acceptable{Nodes: st.landing.acceptable},
		Confidence: st.landing.pGood, ReturnProbability: st.landing.pReturn, PendingProbability: st.landing.pPending,
		NotAfter: c.verdict.notAfter(p), Wave: st.wave, Steer: c.steered(st.landing), Benefit: st.gain, Cost: cost(p),
		GracePeriodSeconds: c.graceOf(p),
	}
	for _, i := range st.landing.served {
		m.Goals = append(m.Goals, c.goals.list[i].ID)
	}
	m.Strategy, m.Reason = c.goals.list[st.most].Strategy, c.goals.list[st.most].Reason
	if st.room != nil {
		c.makesRoom(&m, st.step)
	}
	return m
}

// servedMost is the goal of which the move removes the largest weighted share.
func (t *tracker) servedMost(pod cluster.PodID, from cluster.NodeID, served []int) int {
	best, most := served[0], -1.0
	for _, i := range served {
		share := t.list[i].Weight * float64(t.excess(i)-t.afterLeaving(i, pod, from)) / float64(t.initial[i])
		if share > most {
			best, most = i, share
		}
	}
	return best
}

func ownerRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
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
func (c *search) inputs() []plan.Input {
	in := []plan.Input{requestsInput(c.s, c.now)}
	if load, known := c.loadInput(); known {
		in = append(in, load)
	}
	if nodes := c.nodesInput(in[0].Age); len(nodes.Problems) > 0 {
		in = append(in, nodes)
	}
	if others := rivalsInput(c.s, in[0].Age); len(others.Problems) > 0 {
		in = append(in, others)
	}
	if stated := c.strategiesInput(in[0].Age); len(stated.Problems) > 0 {
		in = append(in, stated)
	}
	for _, left := range [...]string{leftHints(c.s, c.now), expiredHints(c.s, c.now)} {
		if left != "" {
			in = append(in, plan.Input{Source: "hints", Age: in[0].Age, Coverage: 1, Problems: []string{left}})
		}
	}
	if why := c.s.Objects.PlannerStateError; why != "" {
		in = append(in, plan.UnknownStateInput(in[0].Age, why))
	}
	problems := c.verdict.guard.Annotations.Problems(c.s, c.p.opts.Guards.TimeZone)
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
func (c *search) nodesInput(age string) plan.Input {
	in := plan.Input{Source: "nodes", Age: age, Coverage: 1, Problems: []string{}}
	all, unready, zoneless := 0, 0, 0
	for i := range c.s.Nodes {
		n := &c.s.Nodes[i]
		if !c.p.opts.Guards.Scope.HasNode(n) {
			continue
		}
		all++
		if !n.Ready {
			unready++
		}
		if c.limits.zone[n.ID] == "" {
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
	in.Problems = append(in.Problems, c.notCounted()...)
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
