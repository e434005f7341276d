package report

import "github.com/evenkeel-project/evenkeel/plan"

// withoutNil returns p with empty lists and maps in place of nil ones, so that JSON
// contains [] and {} instead of null.
func withoutNil(p plan.Plan) plan.Plan {
	p.Moves = append([]plan.Move{}, p.Moves...)
	for i := range p.Moves {
		p.Moves[i].Goals = orEmpty(p.Moves[i].Goals)
	}
	p.Goals = orEmpty(p.Goals)
	p.Strategies = orEmpty(p.Strategies)
	p.Rejections.Samples = orEmpty(p.Rejections.Samples)
	p.Rejections.Counts = orEmptyMap(p.Rejections.Counts)
	p.Bound.BlockedBy = orEmpty(p.Bound.BlockedBy)
	p.Bound.ResidualByGoal = orEmptyMap(p.Bound.ResidualByGoal)
	p.Before, p.After = stateWithoutNil(p.Before), stateWithoutNil(p.After)
	p.Inputs = append([]plan.Input{}, p.Inputs...)
	for i := range p.Inputs {
		p.Inputs[i].Problems = orEmpty(p.Inputs[i].Problems)
	}
	return p
}

func runWithoutNil(r plan.RunReport) plan.RunReport {
	r.Plan = withoutNil(r.Plan)
	if r.Replan != nil {
		replan := withoutNil(*r.Replan)
		r.Replan = &replan
	}
	r.Outcomes = orEmpty(r.Outcomes)
	return r
}

func stateWithoutNil(s plan.State) plan.State {
	s.Utilization = orEmptyMap(s.Utilization)
	s.Excess = orEmptyMap(s.Excess)
	s.Nodes = append([]plan.NodeState{}, s.Nodes...)
	for i := range s.Nodes {
		s.Nodes[i].Requested = orEmptyMap(s.Nodes[i].Requested)
	}
	s.Workloads = append([]plan.WorkloadState{}, s.Workloads...)
	for i := range s.Workloads {
		s.Workloads[i].Zones = orEmptyMap(s.Workloads[i].Zones)
	}
	return s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
