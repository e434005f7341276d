package plan

import "time"

// Explanation answers why the pods of one subject would or would not be moved
// now.
type Explanation struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Explanation"
	TakenAt    time.Time `json:"takenAt"`
	Subject    ObjectRef `json:"subject"`
	// Holds keep evictions from being made, or a strategy from being planned for.
	Holds []Hold `json:"holds,omitempty"`
	// Node is set where the subject is one.
	Node *NodeStanding `json:"node,omitempty"`
	// Goals are about the subject itself: a node's, a workload's.
	Goals []GoalView `json:"goals"`
	// Requests are what people ask for the subject, in their words.
	Requests []string         `json:"requests"`
	Pods     []PodExplanation `json:"pods"`
}

// NodeStanding is what a node is, whatever its pods.
type NodeStanding struct {
	Zone    string `json:"zone"`
	InScope bool   `json:"inScope"`
	// State says in words why it takes no pods: "cordoned", "not Ready",
	// "being taken away". Empty when it takes them.
	State []string `json:"state"`
	// Used is by resource, as fractions of allocatable, where it is known.
	Used map[string]float64 `json:"used,omitempty"`
	// Hint is the pressure hint on it, or what keeps that from there; nil: neither.
	Hint *PressureHint `json:"hint,omitempty"`
}

// GoalView is a goal with what it has to do with the subject.
type GoalView struct {
	Goal Goal `json:"goal"`
	// Serves: the pod's leaving would bring the goal nearer.
	Serves bool `json:"serves"`
	// Constraint: its strategy is not due, or it Waits; nothing is moved for it.
	Constraint bool `json:"constraint"`
	// Waits says what has to be seen for longer before anything is moved for it.
	Waits string `json:"waits,omitempty"`
	// After is the excess once the whole plan is carried out.
	After float64 `json:"after"`
}

// PodExplanation is the answer for one pod.
type PodExplanation struct {
	Pod   PodRef    `json:"pod"`
	Node  string    `json:"node"`
	Owner ObjectRef `json:"owner"`
	// Moved is set when the plan moves it.
	Moved *Move `json:"moved,omitempty"`
	// Verdict is why it would be moved, or why it stays.
	Verdict Reason `json:"verdict"`
	// NotNeeded says why nothing asks for it to leave either, where a guard is
	// the verdict.
	NotNeeded string `json:"notNeeded,omitempty"`
	// Alone: the verdict is all that keeps it; without it the pod would be
	// moved.
	Alone    bool       `json:"alone"`
	Goals    []GoalView `json:"goals"`
	Requests []string   `json:"requests"`
	Guards   []Check    `json:"guards"`
	Budgets  []Check    `json:"budgets"`
	Limits   []Check    `json:"limits"`
	Landing  Landing    `json:"landing"`
}

// Check is one rule and what it says.
type Check struct {
	Code    Code   `json:"code"`
	Allows  bool   `json:"allows"`
	Message string `json:"message,omitempty"`
}

// Landing is where the replacement would go, from the cluster as it is.
type Landing struct {
	// Unknown says why nothing can be foretold; the rest is then empty.
	Unknown string `json:"unknown,omitempty"`
	// Verdict is why the landing is not good enough; empty when it is.
	Verdict  Reason  `json:"verdict"`
	PGood    float64 `json:"pGood"`
	PReturn  float64 `json:"pReturn"`
	PPending float64 `json:"pPending"`
	// Steer is how the scheduler would be steered, by a hint on the nodes
	// Hinted; empty when it need not be. The probabilities are those with it.
	Steer  string     `json:"steer,omitempty"`
	Hinted []string   `json:"hinted,omitempty"`
	Nodes  []NodeView `json:"nodes"`
}

// NodeView is one node as a target.
type NodeView struct {
	Name string `json:"name"`
	Zone string `json:"zone"`
	// Probability that the replacement lands here.
	Probability float64 `json:"probability"`
	// Acceptable: the goals would be served with the replacement here.
	Acceptable bool `json:"acceptable"`
	// Worsens is a goal that would be further from being met with the
	// replacement here.
	Worsens *GoalView `json:"worsens,omitempty"`
	// Why in words: what refuses it, or how it scores.
	Why string `json:"why"`
}
