package plan

import "time"

// Explanation answers why the pods of one subject would or would not be moved
// now.
type Explanation struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Explanation"
	TakenAt    time.Time `json:"takenAt"`
	Subject    ObjectRef `json:"subject"`
	// Blocks keep evictions from being made, or a strategy from being planned for.
	Blocks []EvictionBlock `json:"blocks,omitempty"`
	// Node is set where the subject is one.
	Node *NodeStatus `json:"node,omitempty"`
	// Goals are about the subject itself: a node's, a workload's.
	Goals []GoalStatus `json:"goals"`
	// Requests are what people ask for the subject, in their words.
	Requests []string         `json:"requests"`
	Pods     []PodExplanation `json:"pods"`
}

// NodeStatus is what a node is, whatever its pods.
type NodeStatus struct {
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

// GoalStatus is a goal with what it has to do with the subject.
type GoalStatus struct {
	Goal Goal `json:"goal"`
	// EvictionHelps: the pod's leaving would bring the goal nearer.
	EvictionHelps bool `json:"evictionHelps"`
	// Constraint: its strategy is not due, or it Waits; nothing is moved for it.
	Constraint bool `json:"constraint"`
	// WaitReason says what has to be seen for longer before anything is moved for it.
	WaitReason string `json:"waitReason,omitempty"`
	// ExcessAfter is the excess once the whole plan is carried out.
	ExcessAfter float64 `json:"excessAfter"`
}

// PodExplanation is the answer for one pod.
type PodExplanation struct {
	Pod   PodRef    `json:"pod"`
	Node  string    `json:"node"`
	Owner ObjectRef `json:"owner"`
	// Move is set when the plan moves it.
	Move *Move `json:"move,omitempty"`
	// Verdict is why it would be moved, or why it stays.
	Verdict Reason `json:"verdict"`
	// NotNeeded says why nothing asks for it to leave either, where a guard is
	// the verdict.
	NotNeeded string `json:"notNeeded,omitempty"`
	// OnlyObstacle: the verdict is all that keeps it; without it the pod would be
	// moved.
	OnlyObstacle bool         `json:"onlyObstacle"`
	Goals        []GoalStatus `json:"goals"`
	Requests     []string     `json:"requests"`
	Guards       []RuleResult `json:"guards"`
	Budgets      []RuleResult `json:"budgets"`
	Limits       []RuleResult `json:"limits"`
	Landing      Landing      `json:"landing"`
}

// RuleResult is one rule and what it says.
type RuleResult struct {
	Code    Code   `json:"code"`
	Allows  bool   `json:"allows"`
	Message string `json:"message,omitempty"`
}

// Landing is where the replacement would go, from the cluster as it is.
type Landing struct {
	// UnknownReason says why nothing can be foretold; the rest is then empty.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Verdict is why the landing is not good enough; empty when it is.
	Verdict            Reason  `json:"verdict"`
	Confidence         float64 `json:"confidence"`
	ReturnProbability  float64 `json:"returnProbability"`
	PendingProbability float64 `json:"pendingProbability"`
	// Steer is how the scheduler would be steered, by a hint on the nodes
	// Hinted; empty when it need not be. The probabilities are those with it.
	Steer       string       `json:"steer,omitempty"`
	HintedNodes []string     `json:"hintedNodes,omitempty"`
	Nodes       []TargetNode `json:"nodes"`
}

// TargetNode is one node as a target.
type TargetNode struct {
	Name string `json:"name"`
	Zone string `json:"zone"`
	// Probability that the replacement lands here.
	Probability float64 `json:"probability"`
	// Acceptable: the goals would be served with the replacement here.
	Acceptable bool `json:"acceptable"`
	// WorsenedGoal is a goal that would be further from being met with the
	// replacement here.
	WorsenedGoal *GoalStatus `json:"worsenedGoal,omitempty"`
	// Detail in words: what refuses it, or how it scores.
	Detail string `json:"detail"`
}
