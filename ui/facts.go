package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/record"
)

// idleSince says since when nothing runs.
func (q *request) idleSince() string {
	switch p := q.status().LastPass; {
	case q.release == nil:
		return ""
	case p == nil || p.Finished == nil:
		return "Nothing."
	default:
		return "Nothing, since " + q.clockTime(p.Finished.Time) + "."
	}
}

// comesNext returns the strategies, the one with the next pass first.
func (q *request) comesNext() *comes {
	all := slices.Clone(q.status().Strategies)
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b v1alpha1.StrategyStatus) int {
		return cmp.Or(cmp.Compare(timeOf(a.NextPass), timeOf(b.NextPass)))
	})
	c := &comes{Strong: "No pass is scheduled."}
	if next := all[0].NextPass; next != nil {
		c.Strong = fmt.Sprintf("%s at %s, in %s.", all[0].Name, q.clockTime(next.Time), span(next.Sub(q.now)))
		if next.Time.Before(q.now) {
			c.Strong = fmt.Sprintf("%s, which was due at %s.", all[0].Name, q.clockTime(next.Time))
		}
	}
	for _, st := range all {
		row := nextRow{Strategy: st.Name, Mode: modeWord(st.Mode), Last: "no pass yet", Next: "not scheduled"}
		if st.NextPass != nil {
			row.Next = q.clockTime(st.NextPass.Time)
		}
		if st.LastPass != nil {
			row.Last = q.clockTime(st.LastPass.Time) + ": " + q.lastResult(&st)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// timeOf sorts times that are missing to the end.
func timeOf(t *metav1.Time) int64 {
	if t == nil {
		return 1<<63 - 1
	}
	return t.Unix()
}

func (q *request) lastResult(st *v1alpha1.StrategyStatus) string {
	waiting := 0
	for i := range q.plans.Waiting {
		for _, m := range q.plans.Waiting[i].WaitingMoves() {
			if m.Strategy == st.Name && !q.plans.Waiting[i].Foreign {
				waiting++
			}
		}
	}
	text := "all goals met"
	if st.UnmetGoals > 0 {
		text = plural.Count(int(st.UnmetGoals), "goal") + " not met"
	}
	for _, n := range q.status().Notices {
		if n.Strategy == st.Name && n.Code == "NoUsageData" {
			text = "unknown, no usage data"
		}
	}
	if waiting > 0 {
		text += ", " + plural.Count(waiting, "move") + plural.Choose(waiting, " waits", " wait")
	}
	return text
}

// passList is a table of passes.
type passList struct {
	Strong string
	Rows   []passRow
	// Left counts the passes that are not shown.
	Left int
}

type passRow struct {
	Name, At, Strategies, Note, Evicted, Before, After, By string
}

// lastPasses returns the newest passes that moved pods, at most n.
func (q *request) lastPasses(n int) (l passList) {
	today, moved, predicted := 0, 0, 0
	for _, p := range q.passes {
		if !p.executed() || p.status.Evicted == 0 {
			continue
		}
		if p.at.UTC().Format(time.DateOnly) == q.now.Format(time.DateOnly) {
			today, moved, predicted = today+1, moved+int(p.status.Evicted), predicted+int(p.status.AsPredicted)
		}
		if len(l.Rows) < n {
			l.Rows = append(l.Rows, q.passRow(p))
		} else {
			l.Left++
		}
	}
	switch {
	case today > 0:
		l.Strong = fmt.Sprintf("Today %s moved %s, %d of them as predicted.", plural.Choose(today, "1 pass", fmt.Sprint(today)+" passes"),
			plural.Count(moved, "pod"), predicted)
	case q.gap != "":
	case len(l.Rows) > 0:
		l.Strong = "Today no pass moved a pod."
	case q.release != nil:
		l.Strong = "No stored pass moved a pod."
	}
	l.Strong = strings.TrimSpace(l.Strong + " " + q.gap)
	return l
}

func (q *request) passRow(p *pass) passRow {
	row := passRow{Name: p.name, At: q.clockTime(p.at), Strategies: cmp.Or(p.strategies, "none"), By: p.by, Note: string(p.status.Phase)}
	if p.status.Stopped != nil {
		row.Note += ", " + p.status.Stopped.Code
	}
	switch {
	case !p.executed():
		row.Evicted = "not executed"
	case p.status.Evicted == 0:
		row.Evicted = "none evicted"
	default:
		row.Evicted = fmt.Sprintf("%d of %d", p.status.AsPredicted, p.status.Evicted)
	}
	if row.By == "" {
		if row.By = modeWord(p.mode); p.mode == v1alpha1.ModeApprove {
			row.By = "nobody"
		}
	}
	row.Before, row.After = scores(p.score)
	return row
}

// scores returns the two numbers of a score such as 81 -> 93.
func scores(text string) (before, after string) {
	before, after, _ = strings.Cut(text, " -> ")
	return before, after
}

// limits returns the shares of the limits of evictions within an hour, as of the last pass.
func (q *request) limits() (out []limitRow) {
	names := map[string]string{"limits.perHour.cluster": "Whole cluster", "limits.perHour.namespace": "Fullest namespace", "limits.perHour.owner": "Fullest workload"}
	for _, l := range q.status().Limits {
		if known := names[l.Limit]; known != "" {
			out = append(out, limitRow{Name: known, Used: fmt.Sprintf("%d%%", l.UsedPerMille/10), Percent: fmt.Sprintf("%.1f%%", float64(min(l.UsedPerMille, 1000))/10)})
		}
	}
	return out
}

// canEvict answers whether the next pass may evict, with the reasons.
func (q *request) canEvict() (answer string, facts []fact) {
	if q.release == nil {
		return "", nil
	}
	answer = "Yes."
	no := func(f fact) { answer, facts = "No.", append(facts, f) }
	yes := func(f fact) { facts = append(facts, f) }
	ready := meta.FindStatusCondition(q.status().Conditions, v1alpha1.ConditionReady)
	switch {
	case q.lease == nil:
		answer = "As far as you may see: yes."
		yes(fact{"Controller", "Unknown.", "You may not see which process leads."})
	case q.lease.Holder == "" && q.lease.DryRunHolder != "":
		no(fact{"Controller", "A dry run.", q.lease.DryRunHolder + " leads."})
	case q.leaderless():
		no(fact{"Controller", "Nothing leads.", "No process holds the Lease."})
	case ready != nil && ready.Status == "False":
		no(fact{"Controller", "The last pass failed.", ready.Message + " (" + ready.Reason + ")."})
	case q.lease.Holder == "":
		yes(fact{"Controller", "Works.", "The next job of the CronJob leads."})
	default:
		yes(fact{"Controller", "Works.", q.lease.Holder + " leads."})
	}
	if q.status().Mode == record.DryRunMode {
		no(fact{"Mode", "Dry run.", "Passes only show what they would move."})
	}
	if b := q.status().Breaker; b != nil {
		no(fact{"Breaker", "Open.", "Since " + q.clockTime(b.At.Time) + "."})
	} else {
		yes(fact{"Breaker", "Closed.", ""})
	}
	if p := q.pause(); p != nil {
		no(fact{"Pause", "Paused.", "Since " + q.clockTime(p.Since) + ", by " + p.By + "."})
	} else {
		yes(fact{"Pause", "None.", ""})
	}
	if b := q.otherBlock(); b != nil {
		no(fact{"Other", "Blocked.", b.Message + " (" + b.Reason + ")."})
	}
	evicted, predicted := int32(0), int32(0)
	for _, h := range q.hours {
		if q.now.Sub(h.Start.Time) < week {
			evicted, predicted = evicted+h.Evicted, predicted+h.AsPredicted
		}
	}
	trust := fact{"Predictions", "Trusted.", ""}
	if q.status().LastPass == nil {
		trust.Strong = "Unknown."
	}
	if evicted > 0 {
		trust.Text = fmt.Sprintf("%d of %d pods landed as predicted in 7 days.", predicted, evicted)
	}
	for _, n := range q.status().Notices {
		if n.Code == "UntrustedScheduler" {
			trust.Strong, trust.Text = "Not trusted.", n.Message+"."
		}
	}
	yes(trust)
	return answer, facts
}

const week = 7 * 24 * time.Hour

// inputs returns the sources of data at the last pass.
func (q *request) inputs() (out []fact) {
	for _, in := range q.status().Inputs {
		f := fact{Name: in.Source, Strong: "As it should be."}
		if in.Age != "" {
			f.Strong = in.Age + " old."
		}
		if in.CoveragePerMille > 0 {
			f.Text = fmt.Sprintf("Data of %d%% of the nodes.", in.CoveragePerMille/10)
		}
		if len(in.Problems) > 0 {
			f.Strong, f.Text = "A problem:", strings.Join(in.Problems[:min(len(in.Problems), maxRows)], "; ")+"."
		}
		out = append(out, f)
	}
	return out
}
