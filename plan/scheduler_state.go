package plan

// MaxSchedulers bounds of how many schedulers bindings are counted.
const MaxSchedulers = 16

// SchedulerBindings counts bindings of one scheduler that were looked at.
type SchedulerBindings struct {
	Seen int `json:"seen"`
	// Predicted are those of which the default profile says enough to be right or
	// wrong about them.
	Predicted int `json:"predicted"`
	// Hits are those of Foretold that went where the default profile has them go.
	Hits int `json:"hits"`
}

// HitRate is the share 0..1 of foretold bindings that came true; 0 of none.
func (b SchedulerBindings) HitRate() float64 {
	if b.Predicted == 0 {
		return 0
	}
	return float64(b.Hits) / float64(b.Predicted)
}

// SchedulerState is what is known of a scheduler without a profile.
type SchedulerState struct {
	Name string `json:"name"`
	// Pods of it that stand in the cluster.
	Pods int `json:"pods"`
	// Seen, Foretold and Hits are as in Bindings.
	Seen      int `json:"seen"`
	Predicted int `json:"predicted"`
	Hits      int `json:"hits"`
	// HitRate is the share 0..1 of Foretold that came true; nil while none is.
	HitRate *float64 `json:"hitRate,omitempty"`
	// Trusted: it is taken for the default profile, so that its pods may move.
	Trusted bool `json:"trusted"`
}
