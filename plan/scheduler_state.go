package plan

// MaxSchedulers is the maximum number of schedulers whose bindings are counted.
const MaxSchedulers = 16

// SchedulerBindings counts the observed bindings of one scheduler.
type SchedulerBindings struct {
	Seen      int `json:"seen"`
	Predicted int `json:"predicted"` // bindings for which the default profile makes a prediction
	Hits      int `json:"hits"`      // bindings with a correct prediction
}

// HitRate returns the share 0..1 of correct predictions, or 0 without predictions.
func (b SchedulerBindings) HitRate() float64 {
	if b.Predicted == 0 {
		return 0
	}
	return float64(b.Hits) / float64(b.Predicted)
}

// SchedulerState is the state of a scheduler without a profile.
type SchedulerState struct {
	Name string `json:"name"`
	// Pods is the number of its pods in the cluster.
	Pods int `json:"pods"`
	// Seen, Predicted and Hits have the meaning of SchedulerBindings.
	Seen      int `json:"seen"`
	Predicted int `json:"predicted"`
	Hits      int `json:"hits"`
	// HitRate is the share 0..1 of correct predictions. It is nil without predictions.
	HitRate *float64 `json:"hitRate,omitempty"`
	// Trusted reports that the default profile predicts the scheduler well enough for moves of its pods.
	Trusted bool `json:"trusted"`
}
