package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// Release is what is known about an installed release now.
type Release struct {
	Namespace string
	Now       time.Time
	// Object is the Rebalancer. It is nil if there is none, or if it cannot be read.
	Object *v1alpha1.Rebalancer
	// KindsMissing reports that the API server does not know the kind of the Rebalancer. NoObject reports that it knows
	// the kind, and that the release has no Rebalancer.
	KindsMissing, NoObject bool
	// Lease is what the Leases say, or nil if they cannot be read.
	Lease *Lease
	// Waiting are the plans that wait for approval, or whose approved steps wait for their execution.
	Waiting []WaitingPlanSummary
	// Running is a plan that a process executes now, or nil.
	Running *v1alpha1.RebalancePlan
	// Unknown says what could not be read, and why.
	Unknown []string
}

// Lease says which process leads a release.
type Lease struct {
	// Holder is "" if no process leads. Renewed is the last renewal, or zero if there was none.
	Holder  string
	DryRun  bool
	Renewed time.Time
}

// WaitingPlanSummary is a plan that waits. Moves are the moves that wait for approval, or nil if only their number
// Steps is known.
type WaitingPlanSummary struct {
	ID              string
	Moves           []plan.Move
	Steps, Approved int
	Expires         time.Time
}

// maxStatusRows bounds the strategies, and maxStatusNotes the notices and inputs, so that a status fits on a screen.
const (
	maxStatusRows  = 8
	maxStatusNotes = 3
	statusWidth    = 118
)

// ReleaseStatus writes what a release does now: first what is going on, whether anything is wrong, and what to do. The
// JSON and YAML forms are the Rebalancer.
func ReleaseStatus(w io.Writer, format Format, r Release, o Options) error {
	switch format {
	case JSON:
		return writeJSON(w, r.Object, "  ")
	case YAML:
		return writeYAML(w, r.Object)
	case HTML, Markdown:
		return fmt.Errorf("the status has no %s form (want table, wide, json or yaml); evenkeel ui shows it in a browser", format)
	}
	answers, facts := layout.NewGrid("", "="), layout.NewGrid("", "=")
	all := r.findings()
	r.addAnswers(answers, all)
	r.addFacts(facts)
	width, strategies := max(cmp.Or(o.Width, statusWidth), minWidth), r.strategies()
	hidden := strategies.Len() - maxStatusRows
	if format == Wide {
		width, hidden = 0, 0
	}
	lines := append([]string{fmt.Sprintf("Evenkeel (%s): %s", where(&r), all[0].head), ""}, answers.Lines(width)...)
	if facts.Len() > 0 {
		lines = append(append(lines, ""), facts.Lines(width)...)
	}
	if strategies.Len() > 0 {
		strategies.Cut(strategies.Len() - max(hidden, 0))
		lines = append(append(lines, ""), strategies.Lines(width)...)
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  ... and %d more: evenkeel status -o wide", hidden))
	}
	return writeBytes(w, []byte(strings.Join(lines, "\n")+"\n"))
}

// finding is something that a person must know about a release.
type finding struct {
	head string // for the first line
	what string
	// wrong is empty if nothing is wrong.
	wrong string
	// todo has sentences, and commands after them.
	todo []string
}

// nothingToDo begins the advice of a finding that needs no action. The status says it only if no earlier finding has
// advice.
const nothingToDo = "Nothing to do."

// addAnswers adds the answers to the three questions.
func (r *Release) addAnswers(g *layout.Grid, all []finding) {
	add := func(question string, texts []string, none string) {
		if len(texts) == 0 {
			texts = []string{none}
		}
		for i, text := range texts {
			if i > 0 {
				question = ""
			}
			g.Add(question, text)
		}
	}
	var what, wrong, todo []string
	for _, f := range all {
		what = append(what, f.what)
		if f.wrong != "" {
			wrong = append(wrong, strings.Repeat("Yes. ", max(0, 1-len(wrong)))+f.wrong)
		}
		for _, text := range f.todo {
			if len(todo) > 0 {
				text = strings.TrimPrefix(text, nothingToDo+" ")
			}
			todo = append(todo, text)
		}
	}
	none := "No."
	switch {
	case r.Object == nil && !r.KindsMissing && !r.NoObject:
		none = "Unknown."
	case len(r.Unknown) > 0:
		none = "No, as far as this account may see."
	}
	add("What is going on?", what, "")
	add("Is anything wrong?", wrong, none)
	add("What to do now?", todo, nothingToDo)
	if len(r.Unknown) > 0 {
		add("What is not known?", r.Unknown, "")
	}
}

// addFacts adds what a person may want to know beside the answers.
func (r *Release) addFacts(g *layout.Grid) {
	switch l := r.Lease; {
	case l != nil && l.Holder != "":
		g.Add("Leader", fmt.Sprintf("%s, Lease renewed %s", escape(l.Holder), r.ago(l.Renewed)))
	case r.withoutLeader() != nil:
		g.Add("Leader", "none")
	}
	if r.Object == nil {
		return
	}
	s := &r.Object.Status
	score := "unknown"
	if s.ScorePerMille != nil {
		score = fmt.Sprintf("%.1f of 100, higher is better", float64(*s.ScorePerMille)/10)
	}
	if s.LastPass != nil {
		unmet := plural.Count(int(s.UnmetGoals), "goal") + plural.Choose(int(s.UnmetGoals), " was", " were") + " not met"
		if len(r.withoutUsage()) > 0 {
			unmet += "; unknown for strategies that lack usage"
		}
		g.Add("Balance", fmt.Sprintf("when a pass last planned: score %s; %s (now: evenkeel plan)", score, unmet))
		g.Add("Last pass", r.passText(s.LastPass))
	}
	for _, text := range r.errors() {
		g.Add("Error", text)
	}
	var most v1alpha1.LimitStatus
	for _, l := range s.Limits {
		if strings.HasPrefix(l.Limit, hourly) && l.UsedPerMille > most.UsedPerMille {
			most = l
		}
	}
	if most.UsedPerMille >= 500 {
		g.Add("Limits", fmt.Sprintf("evictions of the hour before the last plan, and its own: up to %d%% of %s", most.UsedPerMille/10, escape(most.Limit)))
	}
	notes := r.notes()
	for i, text := range notes {
		if i == maxStatusNotes {
			g.Add("", fmt.Sprintf("... and %d more: evenkeel status -o yaml", len(notes)-i))
			break
		}
		g.Add("Note", text)
	}
}

// hourly begins the keys of limits that count the evictions of the last hour.
const hourly = "limits.perHour."

// ownFinding are the codes of notices that findings tell.
var ownFinding = []string{string(plan.NoUsageData), string(plan.Paused), string(plan.BreakerOpen), string(plan.UntrustedScheduler), "HintsWithoutData", otherDescheduler}

// notes returns the notices that no finding tells, and the first problem of each other input.
func (r *Release) notes() (out []string) {
	s := &r.Object.Status
	for _, n := range s.Notices {
		if !slices.Contains(ownFinding, n.Code) && !r.stopped(n.Code) {
			out = append(out, noticeOf(n.Strategy)+escape(n.Message)+" ("+escape(n.Code)+")")
		}
	}
	for _, in := range s.Inputs {
		stale := in.Source == "nodes" && s.Breaker != nil // the reason of the breaker is newer
		if len(in.Problems) > 0 && sourceOfUsage(in.Source) == nil && in.Source != "strategies" && !stale {
			out = append(out, "input "+escape(in.Source)+": "+escape(in.Problems[0]))
		}
	}
	return out
}

func noticeOf(name string) string {
	if name == "" {
		return ""
	}
	return "strategy " + escape(name) + ": "
}

// stopped reports whether the last pass ended early for a reason with this code.
func (r *Release) stopped(code string) bool {
	return r.condition(v1alpha1.ConditionEvicting).Reason == code || r.condition(v1alpha1.ConditionJudging).Reason == code
}

// condition returns a condition of the Rebalancer, which is empty if there is none.
func (r *Release) condition(kind string) (c metav1.Condition) {
	if r.Object != nil {
		if i := slices.IndexFunc(r.Object.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind }); i >= 0 {
			c = r.Object.Status.Conditions[i]
		}
	}
	return c
}

func (r *Release) passText(p *v1alpha1.PassSummary) string {
	text, moves := "ended "+r.ago(timeOf(p.Finished))+": ", plural.Count(int(p.Moves), "move")
	stopped := ""
	if p.Stopped != nil {
		stopped = escape(p.Stopped.Code)
	}
	switch {
	case p.Moves == 0 && p.Proposed > 0:
		return text + plural.Count(int(p.Proposed), "move") + " proposed, none made"
	case p.Moves == 0:
		return text + "no move planned" + parentheses(stopped)
	case r.Object.Status.Mode == "DryRun":
		text += moves + " shown, none made, because this is a dry run"
	case p.Evicted == 0 && stopped != "":
		text += moves + " planned, none made, because the pass was stopped" + parentheses(stopped)
	case p.Evicted == 0:
		text += moves + " planned, none made (why: evenkeel history pod)"
	default:
		text += fmt.Sprintf("%s, %d evicted, %d as predicted (which pods: evenkeel history pod)", moves, p.Evicted, p.AsPredicted)
		if stopped != "" {
			text += "; then the pass was stopped" + parentheses(stopped)
		}
	}
	if p.Proposed > 0 {
		text += fmt.Sprintf("; %d more proposed", p.Proposed)
	}
	return text
}

// parentheses returns the text in parentheses after a space, or "".
func parentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// steps counts the steps of a strategy that wait for approval, as far as the moves are known.
func (r *Release) steps(strategy string) (n int) {
	for _, w := range r.Waiting {
		for _, m := range w.Moves {
			if m.Strategy == strategy {
				n++
			}
		}
	}
	return n
}

// errors returns the messages of what failed, as other programs wrote them.
func (r *Release) errors() (out []string) {
	if ready := r.condition(v1alpha1.ConditionReady); r.failed() != nil {
		out = append(out, escape(ready.Message))
	}
	for _, in := range r.Object.Status.Inputs {
		if len(in.Problems) > 0 && sourceOfUsage(in.Source) != nil && r.usageMissing() != nil {
			out = append(out, escape(in.Source)+": "+escape(strings.Join(in.Problems[:min(len(in.Problems), maxStatusNotes)], "; ")))
		}
	}
	return out
}

// strategies returns the table of strategies, those with the next pass first.
func (r *Release) strategies() *layout.Grid {
	g := layout.NewGrid("STRATEGY", "MODE", "LAST PASS", ">UNMET GOALS", "NEXT PASS")
	if r.Object == nil {
		return g
	}
	all := slices.Clone(r.Object.Status.Strategies)
	slices.SortStableFunc(all, func(a, b v1alpha1.StrategyStatus) int { return sortTime(a).Compare(sortTime(b)) })
	silent, led := r.withoutUsage(), r.withoutLeader() == nil
	for _, st := range all {
		unmet, last, next := "-", "never", "-"
		if st.LastPass != nil {
			unmet, last = fmt.Sprint(st.UnmetGoals), span(r.Now.Sub(st.LastPass.Time))+" ago"
		}
		if slices.Contains(silent, escape(st.Name)) {
			unmet = "unknown"
		}
		if st.NextPass != nil && led {
			next = r.until(st.NextPass.Time)
		}
		g.Add(escape(st.Name), r.mode(st), last, unmet, next)
	}
	return g
}

// strategyMode is the mode of a strategy as the configuration writes it.
func strategyMode(m v1alpha1.Mode) string {
	switch m {
	case v1alpha1.ModeApprove:
		return string(plan.Approve)
	case v1alpha1.ModeDryRun:
		return string(plan.ShowOnly)
	}
	return string(plan.Automatic)
}

// mode is the mode of a strategy, and what keeps the strategy from evictions.
func (r *Release) mode(st v1alpha1.StrategyStatus) string {
	var why []string
	if n := r.steps(st.Name); n > 0 {
		why = append(why, fmt.Sprintf("%d %s approval", n, plural.Choose(n, "awaits", "await")))
	}
	if r.pause() != nil && st.Mode != v1alpha1.ModeDryRun {
		why = append(why, "paused")
	}
	if r.Object.Status.Breaker != nil && st.Mode != v1alpha1.ModeDryRun {
		why = append(why, "breaker open")
	}
	return strategyMode(st.Mode) + parentheses(strings.Join(why, ", "))
}

// sortTime sorts strategies without a next pass to the end.
func sortTime(st v1alpha1.StrategyStatus) time.Time {
	return cmp.Or(timeOf(st.NextPass), time.Unix(math.MaxInt32, 0))
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// span writes a duration, with hours from 60 minutes on.
func span(d time.Duration) string {
	m := int(d.Minutes())
	switch {
	case m < 60 || m >= 180:
		return duration.HumanDuration(d)
	case m%60 == 0:
		return fmt.Sprintf("%dh", m/60)
	}
	return fmt.Sprintf("%dh%dm", m/60, m%60)
}

// ago writes a time in the past, with its age.
func (r *Release) ago(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return fmt.Sprintf("%s ago (%s)", span(max(0, r.Now.Sub(t))), t.UTC().Format(time.RFC3339))
}

// until writes how far a time is in the future, or in the past.
func (r *Release) until(t time.Time) string {
	if d := r.Now.Sub(t); d > time.Minute {
		return "was due " + span(d) + " ago"
	} else if d >= 0 {
		return "now"
	}
	return "in " + span(t.Sub(r.Now))
}
