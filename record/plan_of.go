package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Hash returns a hash of a spec in 32 hex digits. It is the same before and after the API server has stored the object.
func Hash(s *v1alpha1.RebalancePlanSpec) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // each of these types has a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// PlanOf returns what the execution of a stored plan needs: its moves and hints, and the goals to empty a node that the
// plan meets. Other goals, and the cluster before and after, are left out.
func PlanOf(o *v1alpha1.RebalancePlan) plan.Plan {
	s := &o.Spec
	p := plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ID: s.ID, TakenAt: s.TakenAt.UTC(), Expires: s.Expires.UTC(),
		Cluster: plan.ClusterInfo{UID: s.Cluster.UID, Version: s.Cluster.Version}, ConfigHash: s.ConfigHash}
	for i := range s.Moves {
		m := &s.Moves[i]
		p.Moves = append(p.Moves, plan.Move{Step: int(m.Step), Wave: int(m.Wave), Pod: podOf(m.Pod), Owner: objectOf(m.Owner), Goals: m.Goals,
			From: m.From, To: m.To, Acceptable: plan.Acceptable{Nodes: int(m.AcceptableNodes)}, Confidence: fraction(m.ConfidencePerMille),
			ReturnProbability: fraction(m.ReturnPerMille), PendingProbability: fraction(m.PendingPerMille), Strategy: m.Strategy, Steer: m.Steer,
			Reason: reasonOf(m.Reason), Benefit: number(m.Benefit), Priority: m.Priority, Removal: plan.Removal(m.Removal),
			RequestOnly: plan.RequestOnly(m.RequestOnly), Landing: plan.LandingRule(m.Landing)})
		if d := m.DisplacedFor; d != nil {
			pod := podOf(*d)
			p.Moves[i].DisplacedFor = &pod
		}
	}
	for _, h := range s.Hints {
		p.Hints = append(p.Hints, plan.WaveHints{Wave: int(h.Wave), Kind: h.Kind, Nodes: h.Nodes})
	}
	leaving := map[string][]plan.PodRef{}
	for _, m := range p.Moves {
		if m.Removal == "" {
			leaving[m.From] = append(leaving[m.From], m.Pod)
		}
	}
	for i := range s.Goals {
		g := &s.Goals[i]
		if g.Kind == string(plan.NodeEmpty) && number(g.ExcessAfter) == 0 {
			p.Goals = append(p.Goals, plan.Goal{ID: g.ID, Strategy: g.Strategy, Kind: plan.NodeEmpty, Subject: objectOf(g.Subject),
				Leaving: leaving[g.Subject.Name]})
		}
	}
	return p
}

// ReportOf returns the report of some steps of a stored plan, as far as its status has their outcomes.
func ReportOf(o *v1alpha1.RebalancePlan, steps []int) plan.RunReport {
	st := &o.Status
	r := plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", RunID: st.RunID, Mode: plan.Live, Plan: PlanOf(o), Outcomes: []plan.Outcome{},
		Approval: &plan.Approval{WaitingPlan: o.Name, Attempt: int(st.Attempts)}, Stopped: planReason(st.Stopped)}
	if st.Started != nil {
		r.Started = st.Started.UTC()
	}
	if st.Finished != nil {
		r.Finished = st.Finished.UTC()
	}
	r.Plan.Moves = slices.DeleteFunc(r.Plan.Moves, func(m plan.Move) bool { return !slices.Contains(steps, m.Step) })
	moves := map[int]*plan.Move{}
	for i := range r.Plan.Moves {
		moves[r.Plan.Moves[i].Step] = &r.Plan.Moves[i]
	}
	for i := range st.Steps {
		x := &st.Steps[i]
		m := moves[int(x.Step)]
		if m == nil {
			continue
		}
		if r.Approval.By == "" && x.DecidedAt != nil {
			r.Approval.By, r.Approval.At = x.DecidedBy, x.DecidedAt.UTC()
		}
		for kind, state := range stepStates {
			if state == x.State {
				r.Outcomes = append(r.Outcomes, outcomeOf(m, kind, x))
			}
		}
	}
	return r
}

func outcomeOf(m *plan.Move, kind plan.OutcomeKind, x *v1alpha1.StepStatus) plan.Outcome {
	o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: m.Reason, Landed: x.Landed, LandedAsPredicted: x.AsPredicted}
	if r := planReason(x.Reason); r != nil {
		o.Reason = *r
	}
	if x.Replacement != nil {
		pod := podOf(*x.Replacement)
		o.Replacement = &pod
	}
	if x.ReadyAfter != nil {
		o.ReadyAfter = x.ReadyAfter.Duration.String()
	}
	if x.EvictedAt != nil {
		o.SetTime(x.EvictedAt.UTC())
	}
	return o
}

func planReason(r *v1alpha1.Reason) *plan.Reason {
	if r == nil {
		return nil
	}
	out := reasonOf(*r)
	return &out
}

// number is the inverse of decimal.
func number(d v1alpha1.Decimal) float64 {
	x, _ := strconv.ParseFloat(string(d), 64) // the API server checks it
	return x
}

func fraction(perMille int32) float64 { return float64(perMille) / 1000 }

func podOf(p v1alpha1.PodReference) plan.PodRef {
	return plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

func objectOf(o v1alpha1.ObjectReference) plan.ObjectRef {
	return plan.ObjectRef{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}

func reasonOf(r v1alpha1.Reason) plan.Reason {
	return plan.Reason{Code: plan.Code(r.Code), Message: r.Message}
}
