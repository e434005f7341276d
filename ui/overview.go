package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// overview is the first page.
type overview struct {
	State    stateLine
	Headline string
	NoHelp   bool // no release: how to install it
	Waits    []waits
	Run      *running
	Since    string // what runs now, if nothing does
	Blocks   []fact
	Next     *comes
	Passes   passList
	Score    *score
	Limits   []limitRow
	Can      string
	Facts    []fact
	Inputs   []fact
	CanRun   bool
	CanPause bool
}

// stateLine is the line above the headline. Alone reports that there is only the label.
type stateLine struct {
	Text, Since string
	Labels      []string
}

// fact is a row with a bold statement and a detail.
type fact struct{ Name, Strong, Text string }

// waits is a plan that waits for a decision.
type waits struct {
	Name, Short, Strong, Text string
}

// comes is what comes next.
type comes struct {
	Strong, Text string
	Rows         []nextRow
}

type nextRow struct{ Strategy, Mode, Last, Next string }

type limitRow struct {
	Name, Used string
	Percent    string
}

const (
	// maxRows bounds the rows of a list on the first page.
	maxRows = 5
	// shortLength is how much of the ID of a plan a sentence shows. Commands find the plan by it.
	shortLength = 8
)

func (s *Server) showOverview(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "overview", "overview")
	o := overview{State: q.goalState(), Headline: q.headline(s.Cluster), NoHelp: q.NotLive == "" && q.client == nil && !q.noKinds}
	if q.client != nil {
		o.Waits, o.Blocks, o.Next, o.Passes = q.waits(), q.blocks(), q.comesNext(), q.lastPasses(maxRows)
		if o.Run = newRunning(q, q.running); o.Run == nil {
			o.Since = q.idleSince()
		}
		o.Score, o.Limits, o.Inputs = q.score(), q.limits(), q.inputs()
		o.Can, o.Facts = q.canEvict()
		o.CanPause = q.CanStop
		o.CanRun = q.Token != "" && s.rights.may(r.Context(), ofEvenkeel("create", "rebalanceruns", q.Namespace))
	}
	q.Title = o.Headline
	return s.write(w, q, http.StatusOK, o)
}

// goals returns how many goals were not met at the last pass, of how many; total is 0 if it is unknown.
func (q *request) goals() (unmet, total int, known bool) {
	if q.release == nil || q.status().LastPass == nil {
		return 0, 0, false
	}
	unmet = int(q.status().UnmetGoals)
	if q.last != nil {
		for _, st := range q.last.Spec.Strategies {
			total += int(st.Goals)
		}
	}
	return unmet, total, true
}

// goalState is the state in one line, with what forbids evictions.
func (q *request) goalState() (out stateLine) {
	unmet, _, known := q.goals()
	judged := meta.FindStatusCondition(q.status().Conditions, v1alpha1.ConditionJudging)
	switch {
	case q.NotLive != "":
		return stateLine{Text: "As it was at " + q.NotLive}
	case q.client == nil:
		out.Text = "Evenkeel is not installed here"
	case !known && q.release == nil && len(q.missing) > 0:
		out.Text = "The state of the release is unknown"
	case !known:
		out.Text = "No pass yet"
	case judged != nil && judged.Status == "False":
		out.Text, out.Since = "■ Nothing could be judged", "since "+q.clockTime(judged.LastTransitionTime.Time)
	case unmet == 0:
		out.Text, out.Since = "● All goals are met", q.goalsSince(true)
	case q.status().LastPass.Evicted > 0:
		out.Text = "▲ Not all goals were met before the last pass"
	default:
		out.Text, out.Since = "▲ Not all goals are met", q.goalsSince(false)
	}
	if q.Paused {
		out.Labels = append(out.Labels, "Paused")
	}
	if q.status().Breaker != nil {
		out.Labels = append(out.Labels, "Breaker open")
	}
	if q.status().Mode == record.DryRunMode {
		out.Labels = append(out.Labels, "Dry run")
	}
	return out
}

// goalsSince says since when all goals are met, or some are not. The history has the last pass of each hour.
func (q *request) goalsSince(met bool) string {
	last := len(q.hours) - 1 // contains the last pass
	first := last
	for first > 0 && (q.hours[first-1].Unmet == 0) == met {
		first--
	}
	if first >= 0 && first < last {
		return "since at least " + q.clockTime(q.hours[first].Start.Add(time.Hour))
	}
	if at := q.status().LastPass.Finished; at != nil {
		return "at " + q.clockTime(at.Time)
	}
	return ""
}

// headline is the worst fact, what runs and what waits, in at most two sentences.
func (q *request) headline(cluster string) string {
	unmet, total, known := q.goals()
	goals, stay := "", ""
	last := q.status().LastPass
	switch {
	case known && unmet > 0 && last.Evicted > 0 && last.Finished != nil:
		goals = fmt.Sprintf("%s %s not met before the pass of %s, which moved %s.", plural.Count(unmet, "goal"), plural.Choose(unmet, "was", "were"),
			q.clockTime(last.Finished.Time), plural.Count(int(last.Evicted), "pod"))
	case known && unmet == 0 && total > 0:
		goals = fmt.Sprintf("%d of %d goals are met.", total, total)
	case known && unmet == 0:
		goals = "All goals are met."
	case known && total > 0:
		goals = fmt.Sprintf("%d of %d goals %s not met.", unmet, total, plural.Choose(unmet, "is", "are"))
	case known:
		goals = fmt.Sprintf("%s %s not met.", plural.Count(unmet, "goal"), plural.Choose(unmet, "is", "are"))
	}
	if known && unmet > 0 && last.Evicted > 0 && last.Finished != nil {
		stay = " " + goals
	} else if known && unmet > 0 {
		stay = " " + plural.Count(unmet, "goal") + plural.Choose(unmet, " stays", " stay") + " unmet."
	}
	waiting := 0
	for i := range q.plans.Waiting {
		waiting += len(q.plans.Waiting[i].WaitingMoves())
	}
	p, b := q.pause(), q.status().Breaker
	switch {
	case q.NotLive != "" && q.at.IsZero():
		return "The API server does not answer. Nothing is known yet."
	case q.NotLive != "":
		return "The API server does not answer. You see what was true at " + q.NotLive[:5] + "."
	case q.noKinds:
		return "The cluster lacks the CustomResourceDefinitions of Evenkeel, so no pass keeps a record."
	case q.client == nil:
		return "No release of Evenkeel was found in " + cluster + ". Nothing moves pods for you."
	case p != nil && p.Until.IsZero():
		return p.By + " has paused evictions until somebody ends the pause." + stay
	case p != nil:
		return p.By + " has paused evictions until " + q.clockTime(p.Until) + "." + stay
	case b != nil:
		return "The breaker has stopped evictions since " + q.clockTime(b.At.Time) + "." + stay
	case goals == "" && q.release == nil && len(q.missing) > 0:
		return "You may not see the release: " + q.missing[0].Right + " is missing."
	case goals == "":
		goals = "Evenkeel has not finished a pass yet."
	}
	switch {
	case q.running != nil && waiting > 0:
		return fmt.Sprintf("%s A pass is moving %s, and %s for %s.", goals, plural.Count(len(executedMoves(q.running)), "pod"), moreWait(waiting), q.whom())
	case q.running != nil:
		return fmt.Sprintf("%s A pass is moving %s.", goals, plural.Count(len(executedMoves(q.running)), "pod"))
	case waiting > 0:
		return fmt.Sprintf("%s %s for %s.", goals, strings.Replace(moreWait(waiting), " more", "", 1), q.whom())
	case known && len(q.missing) == 0:
		return goals + " Nothing waits for " + q.whom() + "."
	}
	return goals
}

// whom says for whom plans wait.
func (q *request) whom() string {
	if q.CanDecide || q.NotLive != "" {
		return "you"
	}
	return "a decision"
}

func moreWait(n int) string {
	return fmt.Sprintf("%d more %s", n, plural.Choose(n, "move waits", "moves wait"))
}

// waits returns the plans that wait for a decision.
func (q *request) waits() (out []waits) {
	for i := range q.plans.Waiting {
		p := &q.plans.Waiting[i]
		moves := p.WaitingMoves()
		if len(moves) == 0 {
			continue
		}
		counts := map[string]int{}
		for _, m := range moves {
			counts[m.Strategy]++
		}
		var of []string
		for _, m := range moves {
			if n := counts[m.Strategy]; n > 0 {
				of, counts[m.Strategy] = append(of, fmt.Sprintf("%d of %s", n, cmp.Or(m.Strategy, "no strategy"))), 0
			}
		}
		text := answers.Join(of) + "."
		if p.Foreign {
			text += " The release did not make this plan: somebody handed it over."
		}
		out = append(out, waits{Name: p.Name, Short: shortID(p), Text: text,
			Strong: fmt.Sprintf("%s, until %s.", plural.Count(len(moves), "step"), q.clockTime(p.Expires))})
	}
	return out
}

// shortID returns the beginning of the ID of a plan.
func shortID(p *waiting.Plan) string {
	r := []rune(cmp.Or(p.ID, p.Name))
	return string(r[:min(len(r), shortLength)])
}

// leaderless reports whether no process leads although one should. Between the jobs of a CronJob, none does.
func (q *request) leaderless() bool {
	return q.release != nil && q.lease != nil && q.lease.Holder == "" && q.lease.DryRunHolder == "" && q.status().Schedule != "CronJob"
}

// otherBlock returns what forbids evictions besides a pause, the breaker and the configuration, or nil.
func (q *request) otherBlock() *metav1.Condition {
	c := meta.FindStatusCondition(q.status().Conditions, v1alpha1.ConditionEvicting)
	if c == nil || c.Status != metav1.ConditionFalse || slices.Contains([]string{string(plan.Paused), string(plan.BreakerOpen), record.DryRunMode}, c.Reason) {
		return nil
	}
	return c
}

// blocks returns what blocks evictions, the strongest first, and other programs that evict.
func (q *request) blocks() (out []fact) {
	if p := q.pause(); p != nil {
		text := "By " + p.By
		if p.Reason != "" {
			text = "Why: “" + p.Reason + "”, by " + p.By
		}
		out = append(out, fact{Strong: "A pause since " + q.clockTime(p.Since) + ".", Text: text + ". Plans are still made, and no pod is evicted."})
	}
	if b := q.status().Breaker; b != nil {
		text := b.Reason.Message + ". It closes after the first pass that finds the cluster healthy"
		if b.Until != nil {
			text += ", not before " + q.clockTime(b.Until.Time)
		}
		out = append(out, fact{Strong: "The breaker, since " + q.clockTime(b.At.Time) + ".", Text: text + "."})
	}
	if q.status().Mode == record.DryRunMode {
		out = append(out, fact{Strong: "The configuration.", Text: "It has dryRun: true, so passes only show what they would move."})
	}
	if q.leaderless() {
		out = append(out, fact{Strong: "No process leads, so no pass runs.", Text: "See whether the pods of the release start."})
	}
	if b := q.otherBlock(); b != nil {
		out = append(out, fact{Strong: "Evictions have been blocked since " + q.clockTime(b.LastTransitionTime.Time) + ".", Text: b.Message + " (" + b.Reason + ")."})
	}
	for _, n := range q.status().Notices[:min(len(q.status().Notices), maxRows)] {
		if n.Code != string(plan.Paused) && n.Code != string(plan.BreakerOpen) {
			out = append(out, fact{Strong: cmp.Or(n.Strategy, "Note") + ":", Text: n.Message + " (" + n.Code + ")."})
		}
	}
	if len(out) == 0 && q.release != nil {
		out = append(out, fact{Strong: "Nothing."})
	}
	return out
}
