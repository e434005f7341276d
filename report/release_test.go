package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

var releaseNow = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// before returns a time before releaseNow.
func before(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(releaseNow.Add(-d))) }

// wellRelease is a release without anything to tell.
func wellRelease() report.Release {
	return report.Release{Namespace: "evenkeel", Now: releaseNow,
		Lease: &report.Lease{Holder: "evenkeel-7d9f8c6b5-x2k4j_8f3a91c2", Renewed: releaseNow.Add(-2 * time.Second)},
		Object: &v1alpha1.Rebalancer{Status: v1alpha1.RebalancerStatus{Mode: "Live", Schedule: "Deployment", ScorePerMille: ptr.To[int32](931), UnmetGoals: 3,
			LastPass: &v1alpha1.PassSummary{Started: before(13 * time.Minute), Finished: before(12 * time.Minute), Moves: 3, Evicted: 3, AsPredicted: 3, Proposed: 1},
			Strategies: []v1alpha1.StrategyStatus{
				{Name: "cpu", Mode: v1alpha1.ModeAutomatic, LastPass: before(13 * time.Minute), NextPass: before(-17 * time.Minute), UnmetGoals: 2},
				{Name: "zones", Mode: v1alpha1.ModeApprove, LastPass: before(13 * time.Minute), NextPass: before(-48 * time.Minute), UnmetGoals: 1},
				{Name: "restarts", Mode: v1alpha1.ModeDryRun}},
			Inputs:     []v1alpha1.Input{{Source: "requests"}, {Source: "nodes", Problems: []string{"1 of 40 nodes in scope are not Ready: their pods stay"}}},
			Limits:     []v1alpha1.LimitStatus{{Limit: "limits.perHour.cluster", UsedPerMille: 20}, {Limit: "limits.perHour.namespace", UsedPerMille: 800}},
			Conditions: []metav1.Condition{{Type: "Ready", Status: "True"}, {Type: "Judging", Status: "True"}, {Type: "Evicting", Status: "True"}}}}}
}

// setCondition replaces a condition.
func setCondition(r *report.Release, kind, code, message string) {
	for i := range r.Object.Status.Conditions {
		if c := &r.Object.Status.Conditions[i]; c.Type == kind {
			*c = metav1.Condition{Type: kind, Status: "False", Reason: code, Message: message, LastTransitionTime: *before(40 * time.Minute)}
		}
	}
}

// stopPass lets the last pass end before it evicted a pod.
func stopPass(r *report.Release, code plan.Code) {
	p := r.Object.Status.LastPass
	p.Evicted, p.AsPredicted, p.Proposed, p.Stopped = 0, 0, 0, &v1alpha1.Reason{Code: string(code)}
	r.Object.Status.Limits = nil
}

// noMoves returns the summary of a pass that planned nothing.
func noMoves(p *v1alpha1.PassSummary) v1alpha1.PassSummary {
	return v1alpha1.PassSummary{Started: p.Started, Finished: p.Finished}
}

// ended lets the last pass, and the last passes of all strategies, end some time ago.
func ended(r *report.Release, ago time.Duration) {
	s := &r.Object.Status
	s.LastPass.Started, s.LastPass.Finished = before(ago+time.Minute), before(ago)
	for i := range s.Strategies {
		if s.Strategies[i].LastPass != nil {
			s.Strategies[i].LastPass = s.LastPass.Started
		}
	}
}

func waitingMoves(n int) (out []plan.Move) {
	for i := range n {
		out = append(out, plan.Move{Step: i + 1, Strategy: "zones", Pod: plan.PodRef{Namespace: []string{"shop", "pay"}[i%2], Name: fmt.Sprint("web-", i)}})
	}
	return out
}

var releases = []struct {
	name   string
	change func(r *report.Release)
}{
	{"all well", func(*report.Release) {}},
	{"nothing to move, score unknown, many strategies", func(r *report.Release) {
		s := &r.Object.Status
		*s.LastPass, s.ScorePerMille, s.Inputs, s.Limits = noMoves(s.LastPass), nil, nil, nil
		s.UnmetGoals, s.Strategies[0].UnmetGoals, s.Strategies[1].UnmetGoals = 0, 0, 0
		for i := range 20 {
			s.Strategies = append(s.Strategies, v1alpha1.StrategyStatus{Name: fmt.Sprintf("s%02d", i), NextPass: before(-time.Hour), LastPass: before(time.Hour)})
		}
	}},
	{"all strategies need an approval", func(r *report.Release) { r.Object.Status.Strategies = r.Object.Status.Strategies[1:] }},
	{"all strategies are dry runs", func(r *report.Release) { r.Object.Status.Strategies = r.Object.Status.Strategies[2:] }},
	{"another descheduler runs", func(r *report.Release) {
		r.Object.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "OtherDescheduler",
			Message: "descheduler (CronJob kube-system/descheduler) evicts pods, too"}}}
	}},
	{"another descheduler runs beside a dry run", func(r *report.Release) {
		r.Object.Status.Mode, r.Lease.DryRun = "DryRun", true
		r.Object.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "OtherDescheduler",
			Message: "descheduler (CronJob kube-system/descheduler) evicts pods, too"}}}
	}},
	{"another descheduler runs beside strategies that are all dry runs", func(r *report.Release) {
		r.Object.Status.Strategies = r.Object.Status.Strategies[2:]
		r.Object.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "OtherDescheduler",
			Message: "descheduler (CronJob kube-system/descheduler) evicts pods, too"}}}
	}},
	{"no move, although goals are unmet", func(r *report.Release) {
		*r.Object.Status.LastPass, r.Object.Status.Limits, r.Object.Status.UnmetGoals = noMoves(r.Object.Status.LastPass), nil, 1
	}},
	{"a plan waits in a dry run", func(r *report.Release) {
		r.Object.Status.Mode, r.Lease.DryRun = "DryRun", true
		r.Waiting = []report.WaitingPlanSummary{{ID: "20260102-114700-8f3a91c2-proposal", Moves: waitingMoves(2), Steps: 2, Expires: releaseNow.Add(20 * time.Hour)}}
	}},
	{"paused by a colleague", func(r *report.Release) {
		r.Object.Spec.Pause = &v1alpha1.Pause{By: "alice", Since: before(2 * time.Hour), Reason: "release 42"}
		setCondition(r, "Evicting", "Paused", "evictions are paused")
		stopPass(r, plan.Paused)
	}},
	{"paused for a time, and a plan waits", func(r *report.Release) {
		r.Object.Spec.Pause = &v1alpha1.Pause{By: "alice", Since: before(2 * time.Hour), Until: before(-time.Hour)}
		stopPass(r, plan.Paused)
		r.Object.Status.LastPass.Proposed = 2
		setCondition(r, "Evicting", "Paused", "evictions are paused")
		r.Waiting = []report.WaitingPlanSummary{{ID: "20260102-114700-8f3a91c2-proposal", Moves: waitingMoves(2), Steps: 2, Expires: releaseNow.Add(20 * time.Hour)}}
	}},
	{"breaker open", func(r *report.Release) {
		r.Object.Status.Breaker = &v1alpha1.BreakerStatus{At: *before(13 * time.Minute), Until: before(-47 * time.Minute), Reason: v1alpha1.Reason{
			Code: "BreakerOpen", Message: "14 of 40 nodes are not Ready or gone, more than 30% (evictor.breaker.maxUnreadyNodesFrac), for example \"n01\""}}
		setCondition(r, "Evicting", "BreakerOpen", "14 of 40 nodes are not Ready")
		stopPass(r, plan.BreakerOpen)
	}},
	{"breaker open until a pass that is planned", func(r *report.Release) {
		r.Object.Status.Breaker = &v1alpha1.BreakerStatus{At: *before(73 * time.Minute), Until: before(13 * time.Minute), Reason: v1alpha1.Reason{
			Code: "BreakerOpen", Message: "3 of 8 evictions failed, more than 25% (evictor.breaker.maxFailedFrac)"}}
		setCondition(r, "Evicting", "BreakerOpen", "3 of 8 evictions failed")
		r.Object.Status.LastPass.Evicted, r.Object.Status.LastPass.AsPredicted, r.Object.Status.Limits = 2, 1, nil
		r.Object.Status.LastPass.Stopped = &v1alpha1.Reason{Code: "BreakerOpen"}
		ended(r, 72*time.Minute)
	}},
	{"the source of usage is silent", func(r *report.Release) {
		r.Object.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "NoUsageData",
			Message: "no usage data: the last answer of prometheus is too old, or contains no usage"}, Strategy: "cpu"}}
		s := &r.Object.Status
		*s.LastPass, s.Limits, s.UnmetGoals, s.Strategies[0].UnmetGoals = noMoves(s.LastPass), nil, 1, 0
		s.Inputs = append(s.Inputs, v1alpha1.Input{Source: "prometheus", Problems: []string{
			"no answer since 2026-01-02T11:20:00Z (asked 80 times): dial tcp 10.0.0.9:9090: connect: connection refused"}})
	}},
	{"a plan waits for approval", func(r *report.Release) {
		r.Waiting = []report.WaitingPlanSummary{{ID: "20260102-114700-8f3a91c2-proposal", Moves: waitingMoves(5), Steps: 5, Expires: releaseNow.Add(20 * time.Hour)}}
		s := &r.Object.Status
		*s.LastPass, s.Limits, s.UnmetGoals, s.Strategies[0].UnmetGoals = noMoves(s.LastPass), nil, 1, 0
		s.LastPass.Proposed = 5
	}},
	{"approved steps wait in a CronJob", func(r *report.Release) {
		r.Waiting = []report.WaitingPlanSummary{{ID: "20260102-000300-4a5b6c7d-proposal", Approved: 2, Expires: releaseNow.Add(20 * time.Hour)}}
		r.Object.Status.Schedule, r.Lease.Holder, r.Object.Status.LastPass.Proposed = "CronJob", "", 0
	}},
	{"a pass runs", func(r *report.Release) {
		r.Running = &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260102-115930-8f3a91c2"}, Spec: v1alpha1.RebalancePlanSpec{MoveCount: 9},
			Status: v1alpha1.RebalancePlanStatus{Started: before(30 * time.Second), Evicted: 4}}
	}},
	{"paused while a pass runs", func(r *report.Release) {
		r.Running = &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260102-115900-8f3a91c2"}, Status: v1alpha1.RebalancePlanStatus{Started: before(time.Minute)}}
		r.Object.Spec.Pause = &v1alpha1.Pause{By: "bob"}
	}},
	{"approved steps are executed", func(r *report.Release) {
		r.Running = &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260102-114700-8f3a91c2-proposal"}, Spec: v1alpha1.RebalancePlanSpec{MoveCount: 9},
			Status: v1alpha1.RebalancePlanStatus{Started: before(30 * time.Second), Evicted: 1}}
		for _, state := range []v1alpha1.StepState{v1alpha1.StepEvicted, v1alpha1.StepApproved, v1alpha1.StepDiscarded, v1alpha1.StepReplaced} {
			r.Running.Status.Steps = append(r.Running.Status.Steps, v1alpha1.StepStatus{State: state, DecidedAt: before(time.Minute)})
		}
	}},
	{"only commands made passes", func(r *report.Release) {
		r.Object.Status.Schedule, r.Lease = "Command", &report.Lease{}
		for i := range r.Object.Status.Strategies {
			r.Object.Status.Strategies[i].NextPass = nil
		}
	}},
	{"no leader", func(r *report.Release) {
		r.Lease = &report.Lease{Renewed: releaseNow.Add(-3 * time.Hour)}
		ended(r, 3*time.Hour+12*time.Minute)
	}},
	{"the leader changes", func(r *report.Release) { r.Lease = &report.Lease{Renewed: releaseNow.Add(-20 * time.Second)} }},
	{"overdue in a Deployment", func(r *report.Release) {
		ended(r, 70*time.Minute)
		r.Object.Status.Strategies[0].NextPass = before(40 * time.Minute)
	}},
	{"stale in a CronJob", func(r *report.Release) {
		s := &r.Object.Status
		s.Schedule, r.Lease.Holder = "CronJob", ""
		ended(r, 3*time.Hour)
		s.Strategies[0].NextPass = before(2 * time.Hour)
	}},
	{"dry run", func(r *report.Release) {
		r.Object.Status.Mode, r.Lease.DryRun = "DryRun", true
		r.Object.Status.LastPass.Evicted, r.Object.Status.LastPass.AsPredicted = 0, 0
		setCondition(r, "Evicting", "DryRun", "the configuration has dryRun: true")
	}},
	{"the last pass failed", func(r *report.Release) {
		*r.Object.Status.LastPass, r.Object.Status.Limits = noMoves(r.Object.Status.LastPass), nil
		r.Object.Status.LastPass.Stopped = &v1alpha1.Reason{Code: "ClusterViewStale"}
		setCondition(r, "Ready", "ClusterViewStale", "the view of the cluster is 7m old")
		setCondition(r, "Judging", "ClusterViewStale", "the view of the cluster is 7m old")
		setCondition(r, "Evicting", "ClusterViewStale", "the view of the cluster is 7m old")
	}},
	{"the last pass failed after evictions", func(r *report.Release) {
		r.Object.Status.LastPass.Evicted, r.Object.Status.LastPass.AsPredicted = 1, 1
		r.Object.Status.LastPass.Stopped = &v1alpha1.Reason{Code: "StateUnavailable"}
		setCondition(r, "Ready", "StateUnavailable", "the state could not be saved")
		setCondition(r, "Evicting", "StateUnavailable", "the state could not be saved")
	}},
	{"an alert fires", func(r *report.Release) {
		setCondition(r, "Evicting", "AlertFiring", "alert NodesDown fires")
		stopPass(r, "AlertFiring")
	}},
	{"nothing judged, and an untrusted scheduler", func(r *report.Release) {
		setCondition(r, "Judging", "NothingInScope", "no strategy has a node in scope")
		s := &r.Object.Status
		*s.LastPass, s.ScorePerMille, s.Inputs, s.Limits = noMoves(s.LastPass), nil, nil, nil
		s.UnmetGoals, s.Strategies[0].UnmetGoals, s.Strategies[1].UnmetGoals = 0, 0, 0
		r.Object.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "UntrustedScheduler", Message: "default-scheduler: its version 1.39 is not known"}}}
	}},
	{"the definitions are missing", func(r *report.Release) { r.Object, r.KindsMissing = nil, true }},
	{"no pass yet", func(r *report.Release) { r.Object, r.NoObject = nil, true }},
	{"it never ran", func(r *report.Release) { r.Object, r.NoObject, r.Lease = nil, true, &report.Lease{} }},
	{"without rights", func(r *report.Release) {
		*r = report.Release{Namespace: "evenkeel", Now: releaseNow, Unknown: []string{"the state of the release: permission to get rebalancers.evenkeel.io in namespace evenkeel is missing",
			"who leads: permission to get leases in namespace evenkeel is missing"}}
	}},
	{"without the right to see plans that wait", func(r *report.Release) {
		r.Unknown = []string{"which pods the plans that wait would move: permission to list and get rebalanceplans.evenkeel.io in namespace evenkeel is missing"}
	}},
	{"a pause that has ended, and no pass yet", func(r *report.Release) {
		r.Object.Spec.Pause, r.Object.Status = &v1alpha1.Pause{Until: before(time.Hour)}, v1alpha1.RebalancerStatus{}
	}},
	{"text that would change the terminal", func(r *report.Release) {
		r.Object.Spec.Pause = &v1alpha1.Pause{By: "mallory\x1b[2J", Reason: "a\nevenkeel is well", Since: before(time.Minute)}
		setCondition(r, "Evicting", "Paused", "evictions are paused")
	}},
}

// TestReleaseStatus compares what a person reads in each situation with testdata/releases.txt.
func TestReleaseStatus(t *testing.T) {
	var all bytes.Buffer
	for _, x := range releases {
		r := wellRelease()
		x.change(&r)
		var out bytes.Buffer
		must.Succeed(t, report.ReleaseStatus(&out, report.Table, r, report.Options{}))
		if n := strings.Count(out.String(), "\n"); n > 26 {
			t.Errorf("%s: %d lines, want at most 26", x.name, n)
		}
		fmt.Fprintf(&all, "== %s\n%s\n", x.name, out.String())
	}
	golden.Equal(t, "testdata/releases.txt", all.Bytes())
}
