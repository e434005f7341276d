package planverifier

import "github.com/evenkeel-project/evenkeel/plan"

// podGuards decides whether a single pod may leave, independent of other moves.
type podGuards struct {
	*clusterIndex
	*windowClock
	rules Rules
}

// refusal is a reason why a pod may not leave.
type refusal struct {
	code plan.Code
	why  string
}

// refuseFunc records a refusal if no is true.
type refuseFunc = func(no bool, code plan.Code, why string)
