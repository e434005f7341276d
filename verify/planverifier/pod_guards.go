package planverifier

import "github.com/evenkeel-project/evenkeel/plan"

// podGuards decides whether a single pod may be evicted, independent of other moves.
type podGuards struct {
	*clusterIndex
	*windowClock
	rules Rules
}

// rejection is a reason why a pod may not be evicted.
type rejection struct {
	code plan.Code
	why  string
}

// rejectFunc records a rejection if no is true.
type rejectFunc = func(no bool, code plan.Code, why string)
