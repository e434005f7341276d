package report

import "github.com/evenkeel-project/evenkeel/plan"

// complete returns p with empty lists and maps in place of nil ones: a reader of
// the JSON form need not tell null from empty.
func complete(p plan.Plan) plan.Plan {
	p.Moves = append([]plan.Move{}, p.Moves...)
	for i := range p.Moves {
		p.Moves[i].Goals = filled(p.Moves[i].Goals)
	}
	p.Goals = filled(p.Goals)
	p.Strategies = filled(p.Strategies)
	p.Rejections.Samples = filled(p.Rejections.Samples)
	p.Rejections.Counts = filledMap(p.Rejections.Counts)
	p.Bound.BlockedBy = filled(p.Bound.BlockedBy)
	p.Bound.ResidualByGoal = filledMap(p.Bound.ResidualByGoal)
	p.Before, p.After = completeState(p.Before), completeState(p.After)
	p.Inputs = append([]plan.Input{}, p.Inputs...)
	for i := range p.Inputs {
		p.Inputs[i].Problems = filled(p.Inputs[i].Problems)
	}
	return p
}

func completeRun(r plan.RunReport) plan.RunReport {
	r.Plan = complete(r.Plan)
	if r.Replan != nil {
		rest := complete(*r.Replan)
		r.Replan = &rest
	}
	r.Outcomes = filled(r.Outcomes)
	return r
}

func completeState(s plan.State) plan.State {
	s.Utilization = filledMap(s.Utilization)
	s.Excess = filledMap(s.Excess)
	s.Nodes = append([]plan.NodeState{}, s.Nodes...)
	for i := range s.Nodes {
		s.Nodes[i].Requested = filledMap(s.Nodes[i].Requested)
	}
	s.Workloads = append([]plan.WorkloadState{}, s.Workloads...)
	for i := range s.Workloads {
		s.Workloads[i].Zones = filledMap(s.Workloads[i].Zones)
	}
	return s
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func filledMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
