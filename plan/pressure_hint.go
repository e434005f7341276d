package plan

import "time"

// HintState says how it is about a pressure hint.
type HintState string

const (
	HintPresent  HintState = "present"
	HintToRemove HintState = "wouldBeCleared"
	HintToWrite  HintState = "wouldBeWritten"
	HintExpired  HintState = "expired"
	// HintForeign: somebody else's label or taint stands where the hint would.
	HintForeign HintState = "foreign"
	// HintAwaitingSamples: a level is exceeded, not yet by as many samples in a row as the
	// rule wants.
	HintAwaitingSamples HintState = "awaitingSamples"
	// HintLimitReached: the node is hot, and as many hotter ones carry a hint as may.
	HintLimitReached HintState = "limitReached"
)

// PressureHint is one on a node, or what keeps it from there.
type PressureHint struct {
	Node  string    `json:"node"`
	State HintState `json:"state"`
	// Predicted: the plan was made as if what State says had been done. Only dry runs
	// foretell; moves that need it hold only once it is.
	Predicted bool `json:"predicted,omitempty"`
	// Rule, with its value then and in its own unit, was furthest beyond its level;
	// Also are others that held.
	Rule       string    `json:"rule,omitempty"`
	Value      float64   `json:"value,omitempty"`
	OtherRules []string  `json:"otherRules,omitempty"`
	Since      time.Time `json:"since,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
	// Samples of Of that the rule wants in a row have exceeded its level, where State
	// is HintCounting.
	Samples         int `json:"samples,omitempty"`
	RequiredSamples int `json:"requiredSamples,omitempty"`
	// ForeignHint stands there of somebody else, and the command that removes it, where State
	// is HintForeign.
	ForeignHint   string `json:"foreignHint,omitempty"`
	RemoveCommand string `json:"removeCommand,omitempty"`
}
