package plan

import "time"

// Explanation gives the reasons why the planner would or would not move the pods of a subject now.
type Explanation struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Explanation"
	TakenAt    time.Time `json:"takenAt"`
	Subject    ObjectRef `json:"subject"`
	// Blocks are the reasons why the controller does not evict now, or why a strategy is suspended.
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
	// State lists conditions that keep pods away, such as "cordoned" or "not Ready". It is empty if
	// the node takes pods.
	State []string `json:"state"`
	// Used is the known usage by resource, as fractions of allocatable.
	Used map[string]float64 `json:"used,omitempty"`
	// Hint is the pressure hint on the node, or the reason why a hint is missing. It is nil if the node needs no hint.
	Hint *PressureHint `json:"hint,omitempty"`
}

// GoalStatus is a goal and its relation to the explained subject.
type GoalStatus struct {
	Goal Goal `json:"goal"`
	// Mode says who decides about the moves of the goal's strategy. It is empty for Automatic.
	Mode StrategyMode `json:"mode,omitempty"`
	// EvictionHelps reports that evicting the pod would lower the excess of the goal.
	EvictionHelps bool `json:"evictionHelps"`
	// Constraint reports that the plan must not worsen the goal but does not try to meet it. The
	// strategy of the goal is not due, it waits, or LimitsOnly is true.
	Constraint bool `json:"constraint"`
	// LimitsOnly reports that the strategy is due and states the goal only to limit where replacements land.
	LimitsOnly bool `json:"limitsOnly,omitempty"`
	// WaitReason describes what the strategy waits for.
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
	// Proposed lists the moves of the pod in the proposals of the plan.
	Proposed []ProposedMove `json:"proposed,omitempty"`
	// Verdict is the reason why the pod would be moved or stays.
	Verdict Reason `json:"verdict"`
	// NotNeeded is the reason why no goal needs an eviction of the pod. It is set only if the
	// verdict comes from a guard.
	NotNeeded string `json:"notNeeded,omitempty"`
	// NoGoal says for each strategy that removes ended pods why it states no goal about this one.
	// It is set only for pods that have ended.
	NoGoal []StrategyMessage `json:"noGoal,omitempty"`
	// OnlyObstacle reports that the planner considered the pod, and that no rule but the one in Verdict rejects it now.
	// Without that rule, the planner may move the pod. It may also move other pods instead: a rule that rejects one pod
	// of a workload often rejects all of them.
	OnlyObstacle bool         `json:"onlyObstacle"`
	Goals        []GoalStatus `json:"goals"`
	// JudgedFor is the mode of the strategies for which Limits and Landing are judged. It is empty
	// for automatic strategies.
	JudgedFor StrategyMode `json:"judgedFor,omitempty"`
	Requests  []string     `json:"requests"`
	Guards    []RuleResult `json:"guards"`
	Budgets   []RuleResult `json:"budgets"`
	Limits    []RuleResult `json:"limits"`
	// Strategies says for each strategy with rules of its own whether they allow a move of the pod.
	// The limits count only moves for the strategy. Strategies is empty if no strategy has such
	// rules.
	Strategies []StrategyResult `json:"strategies,omitempty"`
	Landing    Landing          `json:"landing"`
}

// StrategyMessage is what a strategy says about a pod.
type StrategyMessage struct {
	Strategy string `json:"strategy"`
	Message  string `json:"message"`
}

// StrategyResult is the result of the rules of one strategy's own for a pod, without the global rules.
type StrategyResult struct {
	Strategy string `json:"strategy"`
	// Allows reports that the scope, the selector and the guards of the strategy, minConfidence
	// included, allow the move.
	Allows bool `json:"allows"`
	// Reason is the first rule that forbids the move. It is empty if Allows is true.
	Reason Reason       `json:"reason,omitzero"`
	Limits []RuleResult `json:"limits,omitempty"`
	Soft   bool         `json:"soft,omitempty"`
}

// ProposedMove is a move that a strategy in the given mode proposes, but that no pass executes by itself.
type ProposedMove struct {
	Mode StrategyMode `json:"mode"`
	Move Move         `json:"move"`
}

// RuleResult is the result of one rule.
type RuleResult struct {
	Code    Code   `json:"code"`
	Allows  bool   `json:"allows"`
	Message string `json:"message,omitempty"`
	// UsedUp reports that the rule is a limit that allows the eviction now, but that the moves of the plan use up.
	UsedUp bool `json:"usedUp,omitempty"`
}

// Landing is the predicted landing of the replacement in the current cluster.
type Landing struct {
	// UnknownReason is the reason why the landing cannot be predicted. If it is set, the other fields are empty.
	UnknownReason string `json:"unknownReason,omitempty"`
	// Verdict is the reason why the landing is not acceptable. Its code is empty for an acceptable landing.
	Verdict Reason `json:"verdict"`
	// Rule is LandingNotRequired if no place is predicted, and a strategy may move the pod
	// nevertheless. Otherwise it is empty.
	Rule               LandingRule `json:"rule,omitempty"`
	Confidence         float64     `json:"confidence"`
	ReturnProbability  float64     `json:"returnProbability"`
	PendingProbability float64     `json:"pendingProbability"`
	// Steer is the kind of hint on HintedNodes that would steer the scheduler. The probabilities assume the hint.
	Steer       string       `json:"steer,omitempty"`
	HintedNodes []string     `json:"hintedNodes,omitempty"`
	Nodes       []TargetNode `json:"nodes"`
}

// TargetNode is a possible target of a move.
type TargetNode struct {
	Name string `json:"name"`
	Zone string `json:"zone"`
	// Probability is the probability that the replacement lands on this node.
	Probability float64 `json:"probability"`
	// Acceptable reports that the move contributes to its goals if the replacement lands on this node.
	Acceptable bool `json:"acceptable"`
	// WorsenedGoal is a goal whose excess would grow if the replacement landed on this node.
	WorsenedGoal *GoalStatus `json:"worsenedGoal,omitempty"`
	// Detail names the filter that rejects the node, or gives the score of the node.
	Detail string `json:"detail"`
}
