package plan

import "time"

// Waiting describes the plans that wait for approval after a pass.
type Waiting struct {
	Plans []WaitingPlan `json:"plans"`
	// Discarded are the moves of pods in the cluster that a person discarded and that are not proposed again yet.
	Discarded []DiscardedMove `json:"discarded,omitempty"`
	// Problem is the reason why the proposal of the pass does not wait, or nil.
	Problem *Reason `json:"problem,omitempty"`
}

// WaitingPlan is a plan that waits until a person approves or discards its steps.
type WaitingPlan struct {
	ID      string    `json:"id"`
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
	// Strategies counts the steps that wait, by strategy.
	Strategies map[string]int `json:"strategies"`
	// Announced reports that this pass announced the plan.
	Announced bool `json:"announced"`
}

// Steps returns the number of steps that wait.
func (w WaitingPlan) Steps() (n int) {
	for _, steps := range w.Strategies {
		n += steps
	}
	return n
}
