package record

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// stepStates are the states of steps with an outcome.
var stepStates = map[plan.OutcomeKind]v1alpha1.StepState{
	plan.Evicted: v1alpha1.StepEvicted, plan.WouldEvict: v1alpha1.StepWouldEvict, plan.Blocked: v1alpha1.StepBlocked,
	plan.AlreadyGone: v1alpha1.StepGone, plan.UnknownOutcome: v1alpha1.StepUnknown, plan.InProgress: v1alpha1.StepInProgress,
	plan.Dropped: v1alpha1.StepDropped,
}

// Status returns the status of a plan of a pass whose outcomes are in the report. It keeps what before says about other
// steps. Without a time of its end, the pass still runs.
func Status(before v1alpha1.RebalancePlanStatus, spec *v1alpha1.RebalancePlanSpec, r *plan.RunReport, holder string) v1alpha1.RebalancePlanStatus {
	s := before
	s.RunID, s.Holder, s.Stopped = word(r.RunID), cut(holder, maxName), reasonOrNil(r.Stopped)
	s.Started, s.Finished = timeOrNil(r.Started), timeOrNil(r.Finished)
	ours, last := map[int32]bool{}, int32(0)
	for _, m := range spec.Moves {
		ours[m.Step], last = true, m.Step
	}
	known := map[int32]v1alpha1.StepStatus{}
	for _, x := range before.Steps {
		known[x.Step] = x
	}
	s.Steps, s.Evicted, s.AsPredicted = nil, 0, 0
	for _, o := range r.Outcomes {
		switch step := int32(o.Step); {
		case ours[step]:
			known[step] = afterOutcome(known[step], o, r.Recovery != nil)
		case spec.Omitted != nil && step > last && step <= last+spec.Omitted.Moves: // it has no entry, but counts
			evicted, asPredicted := countEvicted([]plan.Outcome{o})
			s.Evicted, s.AsPredicted = s.Evicted+evicted, s.AsPredicted+asPredicted
		}
	}
	for _, m := range spec.Moves {
		x, found := known[m.Step]
		if !found {
			continue
		}
		delete(known, m.Step) // a plan of others may have a number twice
		s.Steps = append(s.Steps, x)
		if x.State == v1alpha1.StepEvicted {
			s.Evicted++
		}
		if x.AsPredicted {
			s.AsPredicted++
		}
	}
	s.Phase = phase(&s, spec, r)
	again := (spec.Mode == v1alpha1.ModeApprove || s.Foreign) && r.Finished.Before(spec.Expires.Time)
	s.Closed = isFinal(s.Phase) && !slices.ContainsFunc(s.Steps, func(x v1alpha1.StepStatus) bool {
		return x.State == v1alpha1.StepDiscarded || again && (x.State == v1alpha1.StepDropped || x.State == v1alpha1.StepBlocked)
	})
	if size(s) > maxStatusBytes { // the messages are the only long texts of a status
		for i := range s.Steps {
			if x := s.Steps[i].Reason; x != nil {
				s.Steps[i].Reason = &v1alpha1.Reason{Code: x.Code}
			}
		}
	}
	return s
}

// afterOutcome returns what is known about a step after an outcome. A step that a dead process may not have executed
// stays approved, so that the next process resumes it. A pod that is gone then was evicted by the dead process, or
// may have been.
func afterOutcome(x v1alpha1.StepStatus, o plan.Outcome, recovered bool) v1alpha1.StepStatus {
	next := stepStatus(x, o)
	gone := o.Outcome == plan.AlreadyGone
	switch {
	case recovered && x.State == v1alpha1.StepApproved && (o.Outcome == plan.Dropped || o.Outcome == plan.UnknownOutcome):
		next.State = x.State
	case wasEvicted(x.State) && (gone || o.Outcome == plan.Dropped):
		return x
	case (gone || o.Outcome == plan.Dropped) && x.State == v1alpha1.StepApproved && x.Reason != nil && x.Reason.Code == string(plan.OutcomeUnknown):
		x.State = v1alpha1.StepUnknown
		return x
	}
	return next
}

func stepStatus(x v1alpha1.StepStatus, o plan.Outcome) v1alpha1.StepStatus {
	x.Step, x.State = int32(o.Step), stepStates[o.Outcome]
	x.Landed, x.AsPredicted, x.Replacement = cut(o.Landed, maxName), o.LandedAsPredicted, podRefOrNil(o.Replacement)
	x.EvictedAt, x.Reason = timeOrNil(o.At), nil
	if !o.LandedWell() && o.Outcome != plan.WouldEvict {
		x.Reason = reasonOrNil(&o.Reason)
	}
	if d, err := time.ParseDuration(o.ReadyAfter); err == nil && o.ReadyAfter != "" {
		x.ReadyAfter = &metav1.Duration{Duration: d}
	}
	return x
}

// wasEvicted reports whether the pod of a step was evicted, or may have been.
func wasEvicted(s v1alpha1.StepState) bool {
	return s == v1alpha1.StepEvicted || s == v1alpha1.StepUnknown || s == v1alpha1.StepInProgress
}

// phase returns the phase of a plan after a pass. Steps of a plan that waits may remain.
func phase(s *v1alpha1.RebalancePlanStatus, spec *v1alpha1.RebalancePlanSpec, r *plan.RunReport) v1alpha1.Phase {
	approved := slices.ContainsFunc(s.Steps, func(x v1alpha1.StepStatus) bool { return x.State == v1alpha1.StepApproved })
	switch {
	case r.Mode == plan.DryRun:
		return v1alpha1.PhaseDryRun
	case r.Finished.IsZero(), approved && r.Recovery != nil: // the next process goes on
		return v1alpha1.PhaseRunning
	case r.Stopped != nil && r.Stopped.Code == plan.PlanRefused:
		return v1alpha1.PhaseRefused
	case approved:
		return v1alpha1.PhaseApproved
	case (spec.Mode == v1alpha1.ModeApprove || s.Foreign) && len(s.Steps) < len(spec.Moves):
		return v1alpha1.PhaseWaiting
	case r.Stopped != nil:
		return v1alpha1.PhaseStopped
	}
	return v1alpha1.PhaseCompleted
}

// isFinal reports whether no step of a plan waits or is executed.
func isFinal(p v1alpha1.Phase) bool {
	return p != v1alpha1.PhaseWaiting && p != v1alpha1.PhaseApproved && p != v1alpha1.PhaseRunning
}

func timeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t.UTC())
	return &out
}

// Pass is what the status of a release needs to know about a pass.
type Pass struct {
	Report *plan.RunReport
	State  plan.PlannerState
	// Plan is the name of the object with the plan, or "".
	Plan string
	// Due are the strategies that were due; nil means all. Modes are the modes of all strategies, and Next the times of
	// their next passes, which a strategy may lack.
	Due   []string
	Modes map[string]plan.StrategyMode
	Next  map[string]time.Time
	// Schedule is Deployment, CronJob or Command, or "" for a pass of `evenkeel apply`, which counts as Command.
	Version, Holder, ConfigHash, Schedule string
}

// cronJob is the schedule of a release whose jobs make one pass each, and Command that of passes which a person's
// commands make, so that no next pass is known.
const (
	cronJob = "CronJob"
	Command = "Command"
)

// AwaitsJob reports whether the release is a CronJob whose next job is not due yet.
func AwaitsJob(s *v1alpha1.RebalancerStatus, now time.Time) bool {
	waits := false
	for _, st := range s.Strategies {
		if st.NextPass != nil {
			if !now.Before(st.NextPass.Time) {
				return false
			}
			waits = true
		}
	}
	return waits && s.Schedule == cronJob
}

// DryRunMode is the mode of a release that evicts nothing, and the reason of its condition.
const DryRunMode = "DryRun"

// Rebalancer returns the status of a release after a pass.
func Rebalancer(before v1alpha1.RebalancerStatus, p Pass) v1alpha1.RebalancerStatus {
	r := p.Report
	if p.Schedule == "" || p.Schedule == Command { // it does not change how the release makes its passes
		p.Schedule = cmp.Or(before.Schedule, Command)
	}
	s := v1alpha1.RebalancerStatus{ObservedGeneration: before.ObservedGeneration, Conditions: before.Conditions,
		Mode: "Live", Version: word(p.Version), ConfigHash: word(p.ConfigHash), Leader: cut(p.Holder, maxName), Schedule: p.Schedule,
		ScorePerMille: before.ScorePerMille, UnmetGoals: before.UnmetGoals, Inputs: before.Inputs, Notices: before.Notices, Limits: before.Limits,
		LastPass: &v1alpha1.PassSummary{RunID: word(r.RunID), Plan: p.Plan, Started: timeOrNil(r.Started), Finished: timeOrNil(r.Finished),
			Moves: int32(len(r.Moves())), Stopped: reasonOrNil(r.Stopped)}}
	if r.Mode == plan.DryRun {
		s.Mode = DryRunMode
	}
	for _, x := range r.Plan.Proposals {
		s.LastPass.Proposed += int32(len(x.Plan.Moves))
	}
	s.LastPass.Evicted, s.LastPass.AsPredicted = countEvicted(r.Outcomes)
	planned := !r.EndedBeforePlanning() && r.Approval == nil
	if planned {
		s.ScorePerMille, s.UnmetGoals = score(&r.Plan), unmetGoals(&r.Plan)
		s.Inputs, s.Notices, s.Limits = inputs(r.Plan.Inputs), notices(&r.Plan), nil
		for _, l := range r.Plan.LimitUse[:min(len(r.Plan.LimitUse), maxList)] {
			s.Limits = append(s.Limits, v1alpha1.LimitStatus{Limit: cut(l.Limit, maxName), UsedPerMille: perMille(l.Share)})
		}
	}
	s.Strategies = strategyStatuses(before.Strategies, p, planned)
	if r.EndedBeforePlanning() {
		s.Breaker = before.Breaker // the state may not be known
	} else if b := p.State.Breaker; b != nil {
		s.Breaker = &v1alpha1.BreakerStatus{At: metav1.NewTime(b.At), Until: timeOrNil(b.Until), Reason: reason(b.Reason)}
	}
	s.Waiting = waiting(before.Waiting, r)
	for _, c := range conditions(r) {
		setCondition(&s, r.Finished, c)
	}
	setPause(&s, p.State.Pause, r.Finished)
	return s
}

// countEvicted counts the evictions, and those that landed as predicted.
func countEvicted(outcomes []plan.Outcome) (evicted, asPredicted int32) {
	for _, o := range outcomes {
		if o.Outcome == plan.Evicted {
			evicted++
		}
		if o.LandedAsPredicted {
			asPredicted++
		}
	}
	return evicted, asPredicted
}

// score returns the balance score before a plan in per mille, or nil if it is unknown.
func score(p *plan.Plan) *int32 {
	before, _, known := p.Balance()
	if !known {
		return nil
	}
	n := perMille(before.Score() / 100)
	return &n
}

func unmetGoals(p *plan.Plan) (n int32) {
	for _, st := range p.Strategies {
		n += int32(st.Unmet)
	}
	return n
}

func strategyStatuses(before []v1alpha1.StrategyStatus, p Pass, planned bool) (out []v1alpha1.StrategyStatus) {
	unmet, last, missed := map[string]int32{}, map[string]*metav1.Time{}, map[string]*metav1.Time{}
	for _, st := range before {
		unmet[st.Name], last[st.Name] = st.UnmetGoals, st.LastPass
		if p.Schedule == cronJob && st.NextPass != nil && st.NextPass.Time.Before(p.Report.Started) {
			missed[st.Name] = st.NextPass
		}
	}
	if planned {
		for _, st := range p.Report.Plan.Strategies {
			unmet[st.Name] = int32(st.Unmet)
		}
	}
	for _, name := range sortedKeys(p.Modes)[:min(len(p.Modes), maxStates)] {
		if planned && (p.Due == nil || slices.Contains(p.Due, name)) {
			last[name] = timeOrNil(p.Report.Started)
		}
		next := timeOrNil(p.Next[name])
		if p.Schedule == Command {
			next = nil
		}
		if p.Due != nil && !slices.Contains(p.Due, name) {
			next = cmp.Or(missed[name], next) // the job of another strategy does not make up for it
		}
		out = append(out, v1alpha1.StrategyStatus{Name: word(name), Mode: modeOf(p.Modes[name]), LastPass: last[name], NextPass: next,
			UnmetGoals: unmet[name]})
	}
	return out
}

// waiting returns the plans that wait after a pass. A pass that ends early, or executes an approved plan, changes none.
func waiting(before []v1alpha1.WaitingPlan, r *plan.RunReport) (out []v1alpha1.WaitingPlan) {
	switch {
	case r.EndedBeforePlanning() || r.Approval != nil:
		return before
	case r.Waiting == nil:
		return nil
	}
	for _, w := range r.Waiting.Plans[:min(len(r.Waiting.Plans), maxStates)] {
		out = append(out, v1alpha1.WaitingPlan{Name: cut(w.ID, maxName), Steps: int32(w.Steps()), Expires: timeOrNil(w.Expires)})
	}
	return out
}

// setCondition sets a condition, which changed at a time unless it is what it was.
func setCondition(s *v1alpha1.RebalancerStatus, at time.Time, c metav1.Condition) {
	c.Message, c.LastTransitionTime, c.ObservedGeneration = cut(c.Message, maxMessage), metav1.NewTime(at), s.ObservedGeneration
	meta.SetStatusCondition(&s.Conditions, c)
}

func condition(kind string, is bool, code, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: code, Message: message}
}

// conditions returns the conditions of a release that a pass alone decides.
func conditions(r *plan.RunReport) []metav1.Condition {
	ready := condition(v1alpha1.ConditionReady, true, "PassEnded", "the last pass ran to its end")
	if r.Stopped != nil {
		broken := slices.Contains([]plan.Code{plan.StateUnavailable, plan.PermissionMissing, plan.APIError, plan.ClusterViewStale}, r.Stopped.Code)
		ready = condition(v1alpha1.ConditionReady, !broken, string(r.Stopped.Code), r.Stopped.Message)
	}
	judging := condition(v1alpha1.ConditionJudging, true, "Judged", "the last pass could judge the cluster")
	if len(r.Plan.NothingJudged) > 0 {
		judging = condition(v1alpha1.ConditionJudging, false, string(r.Plan.NothingJudged[0].Code), r.Plan.NothingJudgedText())
	}
	return []metav1.Condition{ready, judging}
}

// WithPause returns the status of a release of which a person changed the pause between two passes or during one.
func WithPause(before v1alpha1.RebalancerStatus, pause *plan.Pause, generation int64, now time.Time) v1alpha1.RebalancerStatus {
	s := before
	s.Conditions, s.ObservedGeneration = slices.Clone(before.Conditions), generation
	setPause(&s, pause, now)
	return s
}

// setPause sets the conditions that depend on the pause. What stopped the last pass forbids the next one, too, unless
// it was a pause that has ended since.
func setPause(s *v1alpha1.RebalancerStatus, pause *plan.Pause, now time.Time) {
	paused := condition(v1alpha1.ConditionPaused, false, "NotPaused", "evictions are not paused")
	evicting := condition(v1alpha1.ConditionEvicting, true, "Permitted", "nothing forbids evictions")
	switch {
	case pause.ActiveAt(now):
		why := pause.Block().Reason.Message
		paused = condition(v1alpha1.ConditionPaused, true, string(plan.Paused), why)
		evicting = condition(v1alpha1.ConditionEvicting, false, string(plan.Paused), why)
	case s.Breaker != nil:
		evicting = condition(v1alpha1.ConditionEvicting, false, string(plan.BreakerOpen), s.Breaker.Reason.Message)
	case s.LastPass != nil && s.LastPass.Stopped != nil && s.LastPass.Stopped.Code != string(plan.Paused):
		evicting = condition(v1alpha1.ConditionEvicting, false, s.LastPass.Stopped.Code, s.LastPass.Stopped.Message)
	}
	if s.Mode == DryRunMode {
		evicting = condition(v1alpha1.ConditionEvicting, false, DryRunMode, "the configuration has dryRun: true")
	}
	setCondition(s, now, paused)
	setCondition(s, now, evicting)
}

// maxHours is the number of hours of a history.
const maxHours = 720

// AddPass returns the hours of a history with those of a pass. The score and the unmet goals are those of the last pass
// of an hour.
func AddPass(hours []v1alpha1.Hour, r *plan.RunReport) []v1alpha1.Hour {
	start := metav1.NewTime(r.Finished.UTC().Truncate(time.Hour))
	for len(hours) > 0 && start.Before(&hours[len(hours)-1].Start) { // a clock was ahead
		hours = hours[:len(hours)-1]
	}
	if n := len(hours); n == 0 || hours[n-1].Start.Before(&start) {
		hours = append(hours, v1alpha1.Hour{Start: start})
	}
	h := &hours[len(hours)-1]
	evicted, asPredicted := countEvicted(r.Outcomes)
	h.Evicted, h.AsPredicted = h.Evicted+evicted, h.AsPredicted+asPredicted
	if !r.EndedBeforePlanning() && r.Approval == nil {
		h.Score, h.Unmet = score(&r.Plan), unmetGoals(&r.Plan)
	}
	return hours[max(0, len(hours)-maxHours):]
}
