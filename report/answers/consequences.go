package answers

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// gotWorse answers what the moves make worse.
func (f *facts) gotWorse() (Answer, bool) {
	if f.moves == 0 {
		return Answer{}, false
	}
	a := Answer{Question: "What gets worse?", Statement: Words("Nothing that is measured here.")}
	up := f.fuller()
	switch {
	case len(f.worse) > 0:
		w := f.worse[0]
		a.Statement = Words(Count(len(f.worse), "workload") + " would be hit harder by a zone failure.")
		detail := []any{workloadName(w.after), " goes from " + categoryText(w.now) + ", to " + categoryText(w.after)}
		if n := len(f.worse) - 1; n > 0 {
			detail = append(detail, ", and "+Count(n, "other"))
		}
		detail = append(detail, ".")
		if f.lessHard > 0 {
			detail = append(detail, " "+Count(f.lessHard, "workload")+" would be hit less hard.")
		}
		a.Detail, a.Section, a.Link = Words(detail...), "zones", "See the workloads"
	case len(up) > 0:
		a.Statement, a.Section, a.Link = Words("Nodes are filled less evenly."), "nodes", "See the nodes"
		a.Detail = Words("The fullest node goes " + Join(up) + ".")
	}
	if f.results != nil && !f.running {
		a.Question, a.Statement = "What got worse?", Words("As predicted: ", a.Statement)
	}
	return a, true
}

// fuller says how much fuller the fullest node gets, for each resource that nodes share less evenly. A plan that
// empties nodes does that on purpose.
func (f *facts) fuller() (out []string) {
	if f.toEmpty > 0 {
		return nil
	}
	for _, r := range slices.Sorted(maps.Keys(f.plan.Before.Utilization)) {
		now, after := f.plan.Before.Utilization[r], f.plan.After.Utilization[r]
		if after.StdDev > now.StdDev+.001 && after.Max > now.Max+.0005 {
			out = append(out, "from "+percent.Of(now.Max)+" to "+percent.Of(after.Max)+" of its "+ResourceWord(r))
		}
	}
	return out
}

// sure answers how certain the landings are.
func (f *facts) sure() (Answer, bool) {
	low, unknown, predicted := 1.0, 0, 0
	for i := range f.plan.Moves {
		switch m := &f.plan.Moves[i]; {
		case m.WithoutPlace():
			unknown++
		case m.Removal == "":
			low, predicted = min(low, m.Confidence), predicted+1
		}
	}
	a := Answer{Question: "How sure is it?", Section: "inputs", Link: "See the inputs"}
	switch {
	case f.results != nil && !f.running || len(f.plan.Moves) == 0:
		return a, false
	case len(f.judged.untrusted) > 0:
		a.Statement = Words("Not trusted.")
		a.Detail = Words("Why: " + strings.Join(f.judged.untrusted, "; ") + ".")
		return a, true
	case predicted == 0 && unknown == 0:
		a.Statement, a.Detail = Words("Certain."), Words("The pods have ended, so no replacement follows.")
		return a, true
	case predicted == 0:
		a.Statement, a.Detail = Words("Unknown."), Words("The moves have no predicted place; a replacement may stay Pending.")
		return a, true
	}
	more := " or more for each move"
	if predicted == 1 {
		more = " for the move"
	} else if low >= .9995 {
		more = " for each move"
	}
	a.Statement = Words(percent.Of(low) + more + ".")
	a.Detail = Words("That is the probability that the replacement lands where it helps.")
	switch {
	case unknown > 0:
		a.Detail = Words(a.Detail, " "+Count(unknown, "move")+" "+plural.Choose(unknown, "has", "have")+" no predicted place.")
	case slices.ContainsFunc(f.plan.After.Workloads, func(w plan.WorkloadState) bool { return CategoryKey(&w) == "34" }):
		a.Detail = Words(a.Detail, " Usage is not measured, so it is unknown whether the pods that survive a zone failure can carry the load.")
	}
	if bad := f.judged.incomplete(); len(bad) > 0 {
		a.Detail = Words(a.Detail, " Incomplete: "+Join(bad)+".")
	}
	return a, true
}

// safe answers what limits the harm while the moves are executed.
func (f *facts) safe() (Answer, bool) {
	_, blocked := f.judged.block()
	if len(f.plan.Moves) == 0 || f.results != nil || len(f.judged.untrusted) > 0 || blocked {
		return Answer{}, false
	}
	waves, most, budgets := map[int]int{}, 0, ", and disruption budgets hold"
	for i := range f.plan.Moves {
		m := &f.plan.Moves[i]
		waves[m.Wave]++
		most = max(most, waves[m.Wave])
		if m.RequestOnly != "" {
			budgets = "" // the operator of the pod decides
		}
	}
	return Answer{Question: "Is it safe?", Statement: Words("You can stop after any step."),
		Detail: Words("Each move is checked again right before its eviction" + budgets + ". At most " + Count(most, "pod") + " " +
			plural.Choose(most, "is", "are") + " replaced at once.")}, true
}

// Duration returns the least and the longest time that evictions take: at the pace of the configuration, and with the
// longest wait for replacements after each wave. grace is the longest time that the pods take to terminate.
func Duration(c *view.Context, pods, waves int, grace time.Duration) (least, most time.Duration) {
	least = time.Duration(float64(pods) / c.PerMinute * float64(time.Minute))
	return least, least + time.Duration(waves)*(c.VerifyTimeout+grace)
}

// WithoutTermination limits the duration of a stored plan, which has no grace periods.
const WithoutTermination = ", without the time that pods take to terminate"

// howLong answers how long the moves take, or took.
func (f *facts) howLong() (Answer, bool) {
	a := Answer{Question: "How long?"}
	if r := f.Run; f.results != nil && !f.running {
		a.Question, a.Statement = "How long did it take?", Words(span(r.Finished.Sub(r.Started))+".")
		return a, r.Finished.After(r.Started)
	}
	left := f.moves
	if f.running {
		left = f.results.remaining
	}
	if f.PerMinute <= 0 || left == 0 || f.judged.nothing() {
		return a, false
	}
	grace, without := time.Duration(0), ""
	for i := range f.plan.Moves {
		grace = max(grace, time.Duration(f.plan.Moves[i].GracePeriodSeconds)*time.Second)
	}
	least, most := Duration(&f.Context, left, f.waves, grace)
	wait := "Each wave waits until the replacements of the wave before it are Ready: at most " + span(f.VerifyTimeout)
	if grace > 0 {
		wait += ", and " + span(grace) + " to terminate"
	} else if f.Name != "" {
		without = WithoutTermination
	}
	a.Statement, a.Detail = Words("At most about "+span(most)+without+"."), Words(wait+".")
	if f.Omitted.Moves > 0 { // so the number of waves is unknown
		a.Statement = Words("At least " + span(least) + ".")
	} else if least >= time.Minute {
		a.Statement = Words("From " + span(least) + " to " + span(most) + without + ".")
	}
	if f.Omitted.Moves > 0 || least >= time.Minute {
		a.Detail = Words("The pace, "+Number(int(f.PerMinute))+" evictions a minute, sets the minimum. ", a.Detail)
	}
	return a, true
}

// leftOut says what a stored plan does not contain.
func (f *facts) leftOut() (Answer, bool) {
	var out []string
	for _, x := range []struct {
		n    int
		noun string
	}{{f.Omitted.Moves, "move"}, {f.Omitted.Goals, "unmet goal"}, {f.Omitted.Nodes, "node"}, {f.Omitted.Workloads, "workload"}} {
		if x.n > 0 {
			out = append(out, Count(x.n, x.noun))
		}
	}
	return Answer{Question: "What is left out?", Statement: Words(Join(out) + "."),
		Detail: Words("A stored plan keeps what changes and the worst, because an object of Kubernetes has a limited size.")}, len(out) > 0
}
