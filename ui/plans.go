package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// planList is the page of plans that wait or run, and of those that were decided.
type planList struct {
	State     string
	Headline  string
	Waits     []waits
	Run       *running
	Next      string
	Approved  []waits // steps that wait for their execution
	Decided   []passRow
	NoRelease bool
}

func (s *Server) showPlans(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "plans", "plans")
	l := planList{State: "Nothing waits for a decision", Waits: q.waits(), Run: newRunning(q, q.running), NoRelease: q.client == nil}
	if c := q.comesNext(); c != nil {
		l.Next = c.Strong
	}
	for i := range q.plans.Waiting {
		p := &q.plans.Waiting[i]
		if n := countState(p, waiting.Approved); n > 0 {
			l.Approved = append(l.Approved, waits{Name: p.Name, Short: shortID(p), Strong: plural.Count(n, "approved step") + ".", Text: "The process that leads executes them when it has no other pass."})
		}
	}
	for _, p := range q.passes {
		if p.by != "" && len(l.Decided) < maxPassRows {
			l.Decided = append(l.Decided, q.passRow(p))
		}
	}
	l.Headline = "No plan waits."
	switch {
	case q.NotLive != "":
		l.State, l.Headline = "As it was at "+q.NotLive, "The API server does not answer. You see what was true then."
	case q.client == nil:
		l.State, l.Headline = "Evenkeel is not installed here", "Nothing can wait here: no release of Evenkeel was found in "+s.Cluster+"."
	case slices.ContainsFunc(q.missing, func(m missing) bool {
		return strings.HasPrefix(m.Right, "list rebalanceplans") || strings.HasPrefix(m.Right, "get rebalanceplans")
	}):
		l.State, l.Headline = "The plans are unknown", "You may not see the plans."
	case q.Waiting > 0:
		l.State, l.Headline = "Waits for a decision", plural.Count(q.Waiting, "plan")+plural.Choose(q.Waiting, " waits", " wait")+" for "+q.whom()+"."
	case len(l.Decided) > 0:
		l.Headline += " The last decision was made by " + l.Decided[0].By + "."
	}
	q.Title = l.Headline
	return s.write(w, q, http.StatusOK, l)
}

func countState(p *waiting.Plan, want waiting.State) (n int) {
	for _, d := range p.Decisions {
		if d.State == want {
			n++
		}
	}
	return n
}

// planPage is the page of one plan.
type planPage struct {
	Name, ID, UID, Version string
	State                  stateLine
	Headline               string
	Missing                string // the right to decide that is missing
	Command                string // for somebody who may decide
	Decides                bool
	Groups                 []group
	Goals                  string
	Score                  *scorePair
	Zones                  []html.Twin
	Confirm                *confirmation
	Chosen                 []int
	// Undo are the steps whose approval can be withdrawn, and Restore the discarded ones that may wait again.
	Undo, Restore string
	UndoCount     int
	RestoreCount  int
	Omitted       string
	Pod           *podPage
}

type scorePair struct{ Before, After, Text string }

func (s *Server) showPlan(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "plan", "plans")
	o, p, err := s.findPlan(q, r.PathValue("name"))
	switch {
	case len(validation.NameIsDNSSubdomain(r.PathValue("name"), false)) > 0, objects.IsMissing(err, "rebalanceplans", r.PathValue("name")), err == nil && o == nil:
		q.Template, q.Title = "message", "There is no such plan"
		return s.write(w, q, http.StatusNotFound, message{State: "No such plan", Headline: "Plan " + r.PathValue("name") + " does not exist.",
			Text: "It may have been deleted: stored plans are kept for a time.", Link: "plans", LinkText: "See the plans"})
	case err != nil:
		q.Template, q.Title = "message", "The plan cannot be read"
		status := http.StatusBadGateway
		if apierrors.IsForbidden(err) {
			status = http.StatusForbidden
		}
		return s.write(w, q, status, message{State: "Unknown", Headline: "The plan cannot be read.", Text: observe.PlainError(err).Error() + ".", Link: "plans",
			LinkText: "See the plans"})
	}
	pp := s.newPlanPage(q, o, p)
	s.confirm(pp, q, o, p)
	if pod := r.URL.Query().Get("pod"); pod != "" {
		pp.Pod = q.podHistory(pod)
	}
	q.Title = pp.Headline
	return s.write(w, q, http.StatusOK, pp)
}

// findPlan returns a stored plan. The second value is nil if no decision about it has an effect any more.
func (s *Server) findPlan(q *request, name string) (*v1alpha1.RebalancePlan, *waiting.Plan, error) {
	if p := q.findPlan(name); p != nil {
		return p.Object(), p, nil
	}
	if q.client == nil {
		return nil, nil, nil
	}
	o, err := waiting.New(q.client).Get(q.Context(), name)
	return o, nil, err
}

func (s *Server) newPlanPage(q *request, o *v1alpha1.RebalancePlan, p *waiting.Plan) *planPage {
	effect := html.New(view.Stored(o), answers.First{}).Numbers
	pp := &planPage{Name: o.Name, ID: o.Spec.ID, UID: string(o.UID), Version: o.ResourceVersion, Zones: effect.Categories}
	if effect.ScoreNow != "" {
		pp.Score = &scorePair{effect.ScoreNow, effect.ScoreAfter, fmt.Sprintf("of 100, with all %d moves", o.Spec.MoveCount)}
	}
	waits := 0
	if p != nil {
		waits = len(p.WaitingMoves())
	}
	if m := o.Spec.Omitted; m != nil && m.Moves > 0 {
		pp.Omitted = fmt.Sprintf("%s of the plan %s not stored, so nobody can approve %s here.", plural.Count(int(m.Moves), "move"),
			plural.Choose(int(m.Moves), "is", "are"), plural.Choose(int(m.Moves), "it", "them"))
	}
	right := ofEvenkeel("update", "rebalanceplans", q.Namespace)
	if may := p != nil && s.rights.may(q.Context(), right); p != nil && !may {
		pp.Missing, pp.Command = right.String(), "evenkeel approve "+o.Name
	} else if may && q.Token != "" {
		pp.Decides = true
		pp.setUndo(p)
	}
	pp.Groups = q.groups(o, p)
	pp.setHeadline(q, o, p, waits)
	return pp
}

// setUndo lists the steps whose decision can be taken back.
func (pp *planPage) setUndo(p *waiting.Plan) {
	var approved, discarded []int
	for _, d := range p.Decisions {
		switch d.State {
		case waiting.Approved:
			approved = append(approved, d.Step)
		case waiting.Discarded:
			discarded = append(discarded, d.Step)
		}
	}
	pp.Undo, pp.UndoCount = waiting.FormatSteps(approved), len(approved)
	pp.Restore, pp.RestoreCount = waiting.FormatSteps(discarded), len(discarded)
}

func (pp *planPage) setHeadline(q *request, o *v1alpha1.RebalancePlan, p *waiting.Plan, waits int) {
	pp.Goals = goalsText(&o.Spec)
	by := "by the release"
	if p != nil && p.Foreign || o.Status.Foreign {
		by = "handed over by somebody, not made by the release"
	}
	switch {
	case waits > 0:
		pp.State = stateLine{Text: "Waits for a decision", Since: fmt.Sprintf("since %s, %s left; %s", q.clockTime(p.Since), span(p.Expires.Sub(q.now)), by)}
		pp.Headline = fmt.Sprintf("%s for you until %s. %s", strings.Replace(moreWait(waits), " more", "", 1), q.clockTime(p.Expires), pp.Goals)
	case pp.UndoCount > 0 || p != nil && countState(p, waiting.Approved) > 0:
		n := countState(p, waiting.Approved)
		pp.State = stateLine{Text: "Approved by " + decidedBy(p, waiting.Approved), Since: by}
		pp.Headline = fmt.Sprintf("%s %s approved, and will be executed when no other pass runs.", plural.Count(n, "eviction"), plural.Choose(n, "is", "are"))
	default:
		pp.State = stateLine{Text: string(cmp.Or(o.Status.Phase, v1alpha1.PhaseWaiting)), Since: "planned at " + q.clockTime(o.Spec.TakenAt.Time) + "; " + by}
		pp.Headline = outcomeText(o)
	}
	if pp.Missing != "" && waits > 0 {
		pp.Headline = "You may not decide here: " + pp.Missing + " is missing."
	}
}

// goalsText says what a plan does about the goals that are not met.
func goalsText(s *v1alpha1.RebalancePlanSpec) string {
	met, unmet, improved := 0, 0, 0
	for _, st := range s.Strategies {
		if unmet += int(st.Unmet); st.Due && (s.Mode != v1alpha1.ModeAutomatic || st.Mode == s.Mode) { // of the others, the goals after it are unknown
			met += int(st.Unmet - st.UnmetAfter)
		}
	}
	for i := range s.Goals {
		if g := &s.Goals[i]; g.ExcessAfter != "" && g.ExcessAfter != "0" && g.ExcessAfter != g.ExcessBefore {
			improved++
		}
	}
	who, of := plural.Choose(int(s.MoveCount), "It", "They"), fmt.Sprintf("of the %d unmet goals", unmet)
	switch {
	case unmet == 0:
		return ""
	case met > 0 && unmet == 1:
		return who + " would meet the only unmet goal."
	case met > 0:
		return fmt.Sprintf("%s would meet %d %s.", who, met, of)
	case improved > 0 && unmet == 1:
		return who + " would improve the only unmet goal, and not meet it."
	case improved > 0:
		return fmt.Sprintf("%s would improve %d %s, and meet none.", who, improved, of)
	}
	return fmt.Sprintf("%s would meet none %s.", who, of)
}

// decidedBy names the persons whose decision put steps into a state.
func decidedBy(p *waiting.Plan, in waiting.State) string {
	var by []string
	for _, d := range p.Decisions {
		if d.State == in && !slices.Contains(by, d.By) {
			by = append(by, d.By)
		}
	}
	return answers.Join(by)
}

// outcomeText says what became of a plan.
func outcomeText(o *v1alpha1.RebalancePlan) string {
	st, n := &o.Status, int(o.Spec.MoveCount)
	switch {
	case st.Phase == v1alpha1.PhaseRunning:
		return fmt.Sprintf("A pass executes this plan: %d of %s evicted so far.", st.Evicted, plural.Count(n, "pod"))
	case n == 0:
		return "The plan has no moves."
	case st.Phase == v1alpha1.PhaseDryRun:
		return fmt.Sprintf("%s shown, and none made: this was a dry run.", plural.Count(n, "move"))
	case st.Evicted > 0:
		return fmt.Sprintf("%d of %s evicted, %d as predicted.", st.Evicted, plural.Count(n, "pod"), st.AsPredicted)
	case st.Message != "":
		return "No pod was evicted: " + st.Message + "."
	case st.Stopped != nil:
		return "No pod was evicted: " + st.Stopped.Message + "."
	}
	return "No pod was evicted."
}
