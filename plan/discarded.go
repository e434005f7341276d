package plan

import (
	"cmp"
	"fmt"
	"time"
)

// MaxDiscarded is the maximum number of entries in PlannerState.Discarded.
const MaxDiscarded = 10_000

// DiscardedMove is a move that a person discarded while it waited for approval. Its strategy does not propose to evict
// the pod again before Until.
type DiscardedMove struct {
	Strategy string `json:"strategy"`
	PodUID   string `json:"podUID"`
	// Pod is the name of the pod, as NAMESPACE/NAME.
	Pod string `json:"pod,omitempty"`
	// Plan and Step identify the step that the person discarded.
	Plan  string    `json:"plan,omitempty"`
	Step  int       `json:"step,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

// Message describes who discarded the move, and how long that holds.
func (d DiscardedMove) Message() string {
	return fmt.Sprintf("%s discarded this move at %s; strategy %s does not propose it again before %s", cmp.Or(d.By, "a person"),
		d.At.UTC().Format(time.RFC3339), d.Strategy, d.Until.UTC().Format(time.RFC3339))
}

func (st *PlannerState) validateDiscarded() error {
	if n := len(st.Discarded); n > MaxDiscarded {
		return fmt.Errorf("discarded: %d entries (want at most %d)", n, MaxDiscarded)
	}
	for i, d := range st.Discarded {
		if d.Strategy == "" || d.PodUID == "" || d.Until.IsZero() {
			return fmt.Errorf("discarded[%d]: want a strategy, the UID of a pod, and a time until which it holds", i)
		}
	}
	return nil
}
