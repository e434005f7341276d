package plan

import "time"

// Explanation says why the pods of a subject would or would not be moved now.
type Explanation struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Explanation"
	TakenAt    time.Time `json:"takenAt"`
	Subject    ObjectRef `json:"subject"`
	// Blocks says why the controller does not evict now, or why a strategy is suspended.
	Blocks []EvictionBlock `json:"blocks,omitempty"`
	// Node is set if the subject is a node.
	Node *NodeStatus `json:"node,omitempty"`
	// Goals are the goals of the subject itself, a node or workload.
	Goals []GoalStatus `json:"goals"`
	// Requests are the annotations and labels on the subject that Evenkeel reads.
	Requests []string         `json:"requests"`
	Pods     []PodExplanation `json:"pods"`
}

// NodeStatus is the state of a node, independent of its pods.
type NodeStatus struct {
	Zone    string `json:"zone"`
	InScope bool   `json:"inScope"`
	// State says why the node takes no pods, such as "cordoned" or "not Ready". It is empty
	// if the node takes pods.
	State []string `json:"state"`
	// Used is the known usage by resource, as fractions of allocatable.
	Used map[string]float64 `json:"used,omitempty"`
	// Hint is the pressure hint on the node, or the reason why a hint is missing. It is nil
	// if the node needs none.
	Hint *PressureHint `json:"hint,omitempty"`
}

// GoalStatus is a goal and its relation to the explained subject.
type GoalStatus struct {
	Goal Goal `json:"goal"`
	// EvictionHelps reports that evicting the pod would lower the excess of the goal.
	EvictionHelps bool `json:"evictionHelps"`
	// Constraint reports that the plan does not serve the goal: its strategy is not due, or
	// waits (see WaitReason).
	Constraint bool `json:"constraint"`
	// WaitReason says which samples the strategy waits for.
	WaitReason string `json:"waitReason,omitempty"`
	// ExcessAfter is the predicted excess after the whole plan.
	ExcessAfter float64 `json:"excessAfter"`
}

// PodExplanation is the explanation for one pod.
type PodExplanation struct {
	Pod   PodRef    `json:"pod"`
	Node  string    `json:"node"`
	Owner ObjectRef `json:"owner"`
	// Move is set if the plan moves the pod.
	Move *Move `json:"move,omitempty"`
	// Verdict is the reason why the pod would be moved or stays.
	Verdict Reason `json:"verdict"`
	// NotNeeded says why no goal needs the pod to leave. It is set only if a guard is the
	// verdict.
	NotNeeded string `json:"notNeeded,omitempty"`
	// OnlyObstacle reports that the pod would be moved without the rule in Verdict.
	OnlyObstacle bool         `json:"onlyObstacle"`
	Goals        []GoalStatus `json:"goals"`
	Requests     []string     `json:"requests"`
	Guards       []RuleResult `json:"guards"`
	Budgets      []RuleResult `json:"budgets"`
	Limits       []RuleResult `json:"limits"`
	Landing      Landing      `json:"landing"`
}

// RuleResult is the result of one rule.
type RuleResult struct {
	Code    Code   `json:"code"`
	Allows  bool   `json:"allows"`
	Message string `json:"message,omitempty"`
}

// Landing is the predicted landing of the replacement in the current cluster.
type Landing struct {
	// UnknownReason says why the landing cannot be predicted. The other fields are then
	// empty.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Verdict is the reason why the landing is not acceptable. It is empty if the landing
	// is acceptable.
	Verdict            Reason  `json:"verdict"`
	Confidence         float64 `json:"confidence"`
	ReturnProbability  float64 `json:"returnProbability"`
	PendingProbability float64 `json:"pendingProbability"`
	// Steer is the kind of hint that would steer the scheduler, on the nodes HintedNodes.
	// The probabilities assume it. It is empty without a hint.
	Steer       string       `json:"steer,omitempty"`
	HintedNodes []string     `json:"hintedNodes,omitempty"`
	Nodes       []TargetNode `json:"nodes"`
}

// TargetNode is a node as a possible target.
type TargetNode struct {
	Name string `json:"name"`
	Zone string `json:"zone"`
	// Probability that the replacement lands here.
	Probability float64 `json:"probability"`
	// Acceptable reports that the move would serve its goals with the replacement here.
	Acceptable bool `json:"acceptable"`
	// WorsenedGoal is a goal whose excess would grow with the replacement here.
	WorsenedGoal *GoalStatus `json:"worsenedGoal,omitempty"`
	// Detail says which filter rejects the node, or gives its score.
	Detail string `json:"detail"`
}
