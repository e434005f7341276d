package testbed

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// ReportFlags make `evenkeel run` write the report of each pass as a line of its log.
var ReportFlags = []string{"--log-format", "json", "--log-report", "full"}

// Plan has the fields of a RebalancePlan that tests check.
type Plan struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		ID, Mode  string
		MoveCount int
		Moves     []Move
		Goals     []struct {
			Kind    string
			Subject struct{ Name string }
			Unmet   *Reason
		}
		NotMoved []struct {
			Code string
			Pods int
		}
		Minimum struct{ Evictions, ForPlan int }
		Before  struct{ Nodes []Node }
		After   struct {
			Nodes     []Node
			Workloads []struct{ Zones map[string]int }
		}
		Inputs     []Input
		Notices    []Reason
		Strategies []struct {
			Name string
			Due  bool
		}
	}
	Status struct {
		Phase, RunID      string
		Holder            string // of a run that another process reports
		Attempts          int
		Started, Finished time.Time
		Stopped           *Reason
		Steps             []StepStatus
	}
}

// Move is a move of a Plan.
type Move struct {
	Step, Wave, AcceptableNodes        int
	Pod                                Pod
	Strategy, From, To, Landing        string
	ConfidencePerMille, ReturnPerMille int
	Reason                             Reason
}

// StepStatus is what is known about a move.
type StepStatus struct {
	Step                     int
	State, DecidedBy, Landed string
	AsPredicted              bool
	Reason                   *Reason
	Replacement              *Pod
}

// Pod, Node, Input and Reason are those of a Plan.
type (
	Pod  struct{ Namespace, Name, UID string }
	Node struct {
		Name, Zone                      string
		RequestedPerMille, UsedPerMille map[string]int
	}
	Input struct {
		Source, Statistic, Age string
		CoveragePerMille       int
		Problems               []string
	}
	Reason struct{ Code, Message string }
)

// Report is a plan or a pass in JSON: its first plan, and the others of a list.
type Report struct {
	Plan
	Others []Plan
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Report) UnmarshalJSON(text []byte) error {
	var list struct{ Items []Plan }
	err := json.Unmarshal(text, &list)
	switch {
	case err != nil:
		return err
	case len(list.Items) > 0:
		r.Plan, r.Others = list.Items[0], list.Items[1:]
		return nil
	}
	r.Plan, r.Others = Plan{}, nil
	return json.Unmarshal(text, &r.Plan)
}

// Outcome is what became of a move.
type Outcome struct {
	StepStatus
	Pod Pod
	// Outcome is the state, such as evicted. Reason is that of the move if all went as planned.
	Outcome string
	Reason  Reason
	// Pending reports that the replacement of a move without a predicted place may stay Pending.
	Pending bool
}

// Outcomes returns the outcomes of the moves of the pass, also of its second plan.
func (r Report) Outcomes() (out []Outcome) {
	for _, p := range append([]Plan{r.Plan}, r.Others...) {
		moves := map[int]*Move{}
		for i := range p.Spec.Moves {
			moves[p.Spec.Moves[i].Step] = &p.Spec.Moves[i]
		}
		for _, x := range p.Status.Steps {
			m := moves[x.Step]
			o := Outcome{StepStatus: x, Pod: m.Pod, Outcome: strings.ToLower(x.State[:1]) + x.State[1:], Reason: m.Reason,
				Pending: x.State == "Evicted" && x.Landed == "" && x.Reason == nil && m.Landing == "notRequired"}
			if x.Reason != nil {
				o.Reason = *x.Reason
			}
			out = append(out, o)
		}
	}
	return out
}

// OutcomeCodes returns the outcomes with their codes, such as "evicted ZoneSkewed".
func (r Report) OutcomeCodes() (out []string) {
	for _, o := range r.Outcomes() {
		out = append(out, o.Outcome+" "+o.Reason.Code)
	}
	return out
}

// NotMoved counts the pods that stay, by code.
func (r Report) NotMoved() map[string]int {
	out := map[string]int{}
	for _, n := range r.Spec.NotMoved {
		out[n.Code] = n.Pods
	}
	return out
}

// HasNotice reports whether the plan has a notice with this code whose text begins so.
func (r Report) HasNotice(code, text string) bool {
	return slices.ContainsFunc(r.Spec.Notices, func(n Reason) bool { return n.Code == code && strings.HasPrefix(n.Message, text) })
}

// Reports returns the reports in a log that was written with ReportFlags. A line that is not complete yet is left out.
func Reports(log string) (out []Report) {
	for line := range strings.Lines(log) {
		var l struct{ Report *Report }
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &l) == nil && l.Report != nil {
			out = append(out, *l.Report)
		}
	}
	return out
}
