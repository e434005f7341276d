package plan

import "time"

// HintState is the state of a pressure hint.
type HintState string

const (
	HintPresent  HintState = "present"
	HintToRemove HintState = "wouldBeCleared"
	HintToWrite  HintState = "wouldBeWritten"
	HintExpired  HintState = "expired"
	// HintMissing means that the record has not expired, but its label or taint is missing on the node.
	HintMissing HintState = "missing"
	// HintInvalidRecord means that the annotation on the node is not the record of a hint.
	HintInvalidRecord HintState = "invalidRecord"
	// HintForeign means that another program or person has set a label or taint with the key of the hint.
	HintForeign HintState = "foreign"
	// HintAwaitingSamples means that the level is exceeded, but not yet for enough consecutive samples.
	HintAwaitingSamples HintState = "awaitingSamples"
	// HintLimitReached means that the node is hot, but hotter nodes use up the limit on hints.
	HintLimitReached HintState = "limitReached"
)

// PressureHint is a pressure hint on a node, or the reason why the node has none.
type PressureHint struct {
	Node  string    `json:"node"`
	State HintState `json:"state"`
	// Predicted reports that the plan assumes the change that State names. Only plans of dry runs assume changes. Moves
	// that need the hint are valid only after the change.
	Predicted bool `json:"predicted,omitempty"`
	// Rule is the rule that exceeded its level the most, and Value its value in the unit of the
	// rule. OtherRules are the other rules above their level.
	Rule       string    `json:"rule,omitempty"`
	Value      float64   `json:"value,omitempty"`
	OtherRules []string  `json:"otherRules,omitempty"`
	Since      time.Time `json:"since,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
	// Samples is the number of consecutive samples above the level, and RequiredSamples the number
	// that the rule requires. Both are set for HintAwaitingSamples.
	Samples         int `json:"samples,omitempty"`
	RequiredSamples int `json:"requiredSamples,omitempty"`
	// ForeignHint is the foreign label or taint, and RemoveCommand the command that removes it. Both are set for
	// HintForeign.
	ForeignHint   string `json:"foreignHint,omitempty"`
	RemoveCommand string `json:"removeCommand,omitempty"`
	// Problem says what is wrong with the record. It is set for HintInvalidRecord.
	Problem string `json:"problem,omitempty"`
}
