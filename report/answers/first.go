package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Of answers the questions about a plan or a run.
func Of(v *view.View) First {
	whole := *v
	whole.Plan = *v.Plan.Whole()
	f := newFacts(&whole)
	out := First{Shows: v.Plan.FilterText(), Forbids: f.judged.forbids(), Headline: f.headline(), Next: f.next()}
	out.Mark, out.State = f.state()
	for _, a := range []func() (Answer, bool){f.good, f.what, f.why, f.differs, f.gotWorse, f.undone, f.sure, f.safe, f.howLong, f.leftOut} {
		if answer, has := a(); has {
			answer.Detail = answer.Detail.trim()
			out.Answers = append(out.Answers, answer)
		}
	}
	return out
}

func (f *facts) state() (mark, state string) {
	switch {
	case f.judged.nothing():
		return "■", "Nothing could be judged"
	case f.results != nil && f.running:
		return "▲", "A pass is running"
	case f.results != nil && !f.results.asPredicted():
		return "▲", "Not everything went as predicted"
	case f.results != nil && f.left == 0:
		return "●", "All goals are met, as predicted"
	case f.unmet > 0:
		return "▲", "Not all goals are met"
	case len(f.judged.missing()) > 0:
		return "▲", "Not everything could be judged"
	case f.total == 0 && f.toEmpty == 0 && !f.judged.noViolation() && f.moves == 0:
		return "■", "No goal is stated"
	case f.total == 0:
		return "●", "No goal is violated"
	}
	return "●", "All goals are met"
}

// blockWords name what forbids all evictions.
var blockWords = map[plan.Code]string{plan.Paused: "Paused", plan.BreakerOpen: "Breaker open", plan.AlertFiring: "Alert firing", plan.AlertsUnknown: "Alerts unknown"}

// headline is the worst fact, and what the plan does about it.
func (f *facts) headline() Text {
	switch {
	case f.judged.nothing():
		return Words(f.judged.causes())
	case f.results != nil:
		return Words(f.resultHeadline())
	case f.unmet == 0 && f.toEmpty > 0:
		return Words(f.emptyHeadline())
	case f.unmet == 0 && f.moves > 0:
		return Words(Count(f.moves, "pod") + " would be evicted.")
	case f.unmet == 0:
		return Words(f.quietHeadline())
	}
	if w, zone := f.oneWorkload(); w != nil {
		_, lost, total := worstZone(w)
		fix := "No eviction can repair that now."
		switch {
		case f.moves > 0 && f.met == 1:
			fix = Count(f.moves, "eviction") + " would spread them evenly."
		case f.moves > 0:
			fix = Count(f.moves, "eviction") + " would help."
		}
		return Words(workloadName(w), fmt.Sprintf(" would lose %s of its %s if ", Number(lost), Count(total, "pod")), NameOf(zone), " failed. "+fix)
	}
	return Words(fmt.Sprintf("%s. %s", f.unmetWords("is", "are"), f.fixWords()))
}

// unmetWords counts the goals that are not met.
func (f *facts) unmetWords(one, many string) string {
	if f.unmet == f.total && f.total == 1 {
		return "The only goal " + one + " not met"
	}
	return fmt.Sprintf("%s of %s %s not met", Number(f.unmet), Count(f.total, "goal"), plural.Choose(f.unmet, one, many))
}

// fixWords say what the moves do about the unmet goals.
func (f *facts) fixWords() string {
	switch due := f.due(); {
	case f.moves == 0 && !due:
		return plural.Choose(f.unmet, "Its strategy is", "Their strategies are") + " not due now."
	case f.moves == 0 && f.judged.waits() != "":
		return f.judged.waits()
	case f.moves == 0:
		return "No eviction would help now."
	}
	fix := Count(f.moves, "eviction") + " would "
	met := Number(f.met) + " of them"
	switch {
	case f.met == f.unmet && f.unmet == 1:
		met = "it"
	case f.met == f.unmet:
		met = "all of them"
	}
	switch {
	case f.met == 0 && f.better == 0:
		return Count(f.moves, "pod") + " would be evicted."
	case f.met == 0 && f.unmet == 1:
		fix += "improve it, but not meet it"
	case f.met == 0:
		fix += "improve " + Number(f.better) + " of them and meet none"
	case f.better > 0:
		fix += "meet " + met + " and improve " + Number(f.better)
	default:
		fix += "meet " + met
	}
	return fix + "."
}

// due reports whether a strategy with unmet goals is due.
func (f *facts) due() bool {
	return len(f.goals) > 0 || slices.ContainsFunc(f.Plan.Strategies, func(st plan.StrategyState) bool { return st.Due && st.Unmet > st.NodesToEmpty })
}

// oneWorkload returns the workload of the only unmet goal, if that is about zones, and its worst zone.
func (f *facts) oneWorkload() (w *plan.WorkloadState, zone string) {
	if f.unmet != 1 || len(f.goals) != 1 || f.goals[0].Kind != plan.SkewAtMost || f.goals[0].TopologyKey != zoneKey {
		return nil, ""
	}
	of := f.goals[0].Subject
	for i := range f.plan.Before.Workloads {
		w := &f.plan.Before.Workloads[i]
		if w.Namespace == of.Namespace && w.Kind == of.Kind && w.Name == of.Name {
			zone, _, _ := worstZone(w)
			return w, zone
		}
	}
	return nil, ""
}

const zoneKey = "topology.kubernetes.io/zone"

// unjudgedWords say in short why nothing could be judged.
var unjudgedWords = map[plan.Code]string{
	plan.NoStrategy:             "no strategy is enabled",
	plan.NothingInScope:         "a selector of the configuration selects nothing",
	plan.UntrustedServerVersion: "predictions for this version of Kubernetes are not trusted",
	plan.UntrustedScheduler:     "predictions for the scheduler of the pods are not trusted",
	plan.NoUsageData:            "usage data are missing",
	plan.PermissionMissing:      "a permission is missing",
	plan.ClusterViewStale:       "the view of the cluster is too old",
	plan.StateUnavailable:       "the state of earlier passes cannot be read",
	plan.APIError:               "the API server answered with an error",
}

func (f *facts) emptyHeadline() string {
	nodes := Count(f.toEmpty, "node") + " with few requests"
	switch {
	case f.emptied == 0:
		return fmt.Sprintf("%s %s pods. No eviction can empty %s now.", nodes, plural.Choose(f.toEmpty, "has", "have"), plural.Choose(f.toEmpty, "it", "one"))
	case f.emptied == f.toEmpty:
		return fmt.Sprintf("%s would be emptied by %s.", nodes, Count(f.moves, "eviction"))
	}
	return fmt.Sprintf("%s of %s would be emptied by %s.", Number(f.emptied), nodes, Count(f.moves, "eviction"))
}

// quietHeadline is about a plan without unmet goals and without moves.
func (f *facts) quietHeadline() string {
	missing := ""
	if no := f.judged.missing(); len(no) > 0 {
		missing = " Not judged: " + strings.Join(no, "; ") + "."
	}
	switch {
	case f.total == 1:
		return "The only goal is met. Nothing needs to move." + missing
	case f.total > 0 && missing != "":
		return fmt.Sprintf("All %s that could be judged are met.%s", Count(f.total, "goal"), missing)
	case f.total > 0:
		return fmt.Sprintf("All %s are met. Nothing needs to move.", Count(f.total, "goal"))
	case f.judged.noViolation():
		return "No strategy found a violation. Nothing needs to move." + missing
	case missing != "":
		return strings.TrimSpace(missing)
	case len(f.Plan.Strategies) == 0 && f.judged.newHints() > 0:
		return fmt.Sprintf("No strategy is enabled. %s %s a pressure hint.", Count(f.judged.newHints(), "node"), plural.Choose(f.judged.newHints(), "needs", "need"))
	case len(f.Plan.Strategies) == 0:
		return "No strategy is enabled. Nothing needs to move."
	}
	return "No strategy states a goal here. Nothing needs to move."
}

func (f *facts) resultHeadline() string {
	r := f.results
	switch words := r.words(); {
	case f.running && r.evicted == 0:
		return fmt.Sprintf("%s will be evicted; none has been yet.", Count(r.planned, "pod"))
	case r.evicted == 0 && f.Run.Stopped != nil:
		return "No pod was evicted: " + f.Run.Stopped.Message + "."
	case r.evicted == 0 && words == "":
		return "No pod was evicted."
	case f.running:
		return fmt.Sprintf("%s of %s %s evicted so far. %s.", Number(r.evicted), Count(r.planned, "pod"), plural.Choose(r.evicted, "is", "are"), Sentence(words))
	default:
		return fmt.Sprintf("%s of %s %s evicted. %s.", Number(r.evicted), Count(r.planned, "pod"), plural.Choose(r.evicted, "was", "were"), Sentence(words))
	}
}
