package plan

import "time"

// Comparison says what the policy of another program finds wrong in a cluster, and what a plan does about each
// violation. It describes moves that are predicted, and not executed.
type Comparison struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"` // "Comparison"
	TakenAt    time.Time   `json:"takenAt"`
	Cluster    ClusterInfo `json:"cluster"`
	// Policy is the name of the file with the policy.
	Policy     string `json:"policy"`
	ConfigHash string `json:"configHash"`
	// Evictions is the number of moves of the plan that passes execute.
	Evictions int `json:"evictions"`
	// Plugins has one element for each plugin of each profile, in the order of the converted strategies.
	Plugins []ComparedPlugin `json:"plugins"`
	// Violations are those of all plugins, in the order of Plugins.
	Violations []Violation `json:"violations"`
	// OtherDeschedulers are those of the plan.
	OtherDeschedulers []OtherDescheduler `json:"otherDeschedulers,omitempty"`
}

// ComparedPlugin counts the violations that one plugin finds. Found is the sum of Repaired, WaitForApproval, Shown and
// Left. Caused are not found now.
type ComparedPlugin struct {
	Plugin string `json:"plugin"`
	// Strategy is the name of the strategy to which the plugin is converted.
	Strategy        string `json:"strategy"`
	Found           int    `json:"found"`
	Repaired        int    `json:"repaired"`
	WaitForApproval int    `json:"waitForApproval"`
	Shown           int    `json:"shown"`
	Left            int    `json:"left"`
	Caused          int    `json:"caused"`
	// NoData names the usage data that the plugin lacks here. It is empty if the plugin has its data.
	NoData string `json:"noData,omitempty"`
	// Waiting says how many nodes are above their target while too few nodes are under-utilized, so that the plugin
	// finds nothing. It is empty for plugins that find violations.
	Waiting string `json:"waiting,omitempty"`
}

// ViolationResult says what a plan does about a violation.
type ViolationResult string

const (
	// ViolationRepaired: moves that passes execute repair it.
	ViolationRepaired ViolationResult = "repaired"
	// ViolationWaitsForApproval: moves that wait for approval repair it, together with those that passes execute.
	ViolationWaitsForApproval ViolationResult = "waitsForApproval"
	// ViolationShown: moves that are only shown repair it, together with those that passes execute.
	ViolationShown ViolationResult = "shown"
	// ViolationLeft: the plan does not repair it. It may lower its excess.
	ViolationLeft ViolationResult = "left"
	// ViolationCaused: it does not exist now, but after the moves that passes execute.
	ViolationCaused ViolationResult = "caused"
)

// Violation is a goal of a converted plugin that is not met.
type Violation struct {
	Plugin string `json:"plugin"`
	// Goal is the goal that is violated. Its Excess is that of the snapshot.
	Goal Goal `json:"goal"`
	// ExcessAfter is the excess after the moves, in the unit of the goal. For WaitsForApproval and Shown, these moves
	// count too.
	ExcessAfter float64         `json:"excessAfter"`
	Result      ViolationResult `json:"result"`
	// Moves are those that lower the excess, or that raise it for ViolationCaused.
	Moves []ViolationMove `json:"moves"`
	// Strategies are the names of the strategies of the configuration that look at the same thing.
	Strategies []string `json:"strategies"`
	// Reason says why the violation is left. It is nil for other results.
	Reason *Reason `json:"reason,omitempty"`
}

// ViolationMove is a move that changes a violation.
type ViolationMove struct {
	Pod      PodRef `json:"pod"`
	From     string `json:"from"`
	To       string `json:"to"` // empty without a predicted place
	Strategy string `json:"strategy"`
}
