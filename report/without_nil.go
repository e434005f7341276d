package report

import "github.com/evenkeel-project/evenkeel/plan"

// withoutNil returns p with empty lists and maps in place of nil ones, so that JSON contains [] and {} instead of null.
func withoutNil(p plan.Plan) plan.Plan {
	p.Moves = append([]plan.Move{}, p.Moves...)
	for i := range p.Moves {
		p.Moves[i].Goals = nonNilSlice(p.Moves[i].Goals)
	}
	p.Goals = nonNilSlice(p.Goals)
	p.Strategies = nonNilSlice(p.Strategies)
	p.Rejections.Samples = nonNilSlice(p.Rejections.Samples)
	p.Rejections.Counts = nonNilMap(p.Rejections.Counts)
	p.Bound.BlockedBy = nonNilSlice(p.Bound.BlockedBy)
	p.Bound.ResidualByGoal = nonNilMap(p.Bound.ResidualByGoal)
	p.Before, p.After = stateWithoutNil(p.Before), stateWithoutNil(p.After)
	p.Inputs = append([]plan.Input{}, p.Inputs...)
	for i := range p.Inputs {
		p.Inputs[i].Problems = nonNilSlice(p.Inputs[i].Problems)
	}
	return p
}

func runWithoutNil(r plan.RunReport) plan.RunReport {
	r.Plan = withoutNil(r.Plan)
	if r.Replan != nil {
		replan := withoutNil(*r.Replan)
		r.Replan = &replan
	}
	r.Outcomes = nonNilSlice(r.Outcomes)
	return r
}

func stateWithoutNil(s plan.State) plan.State {
	s.Utilization = nonNilMap(s.Utilization)
	s.Excess = nonNilMap(s.Excess)
	s.Nodes = append([]plan.NodeState{}, s.Nodes...)
	for i := range s.Nodes {
		s.Nodes[i].Requested = nonNilMap(s.Nodes[i].Requested)
	}
	s.Workloads = append([]plan.WorkloadState{}, s.Workloads...)
	for i := range s.Workloads {
		s.Workloads[i].Zones = nonNilMap(s.Workloads[i].Zones)
	}
	return s
}

func nonNilSlice[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func nonNilMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
