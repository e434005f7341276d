package passlog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/passlog"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/logging"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// maxLine is the longest line of a pass or a move, in bytes.
const maxLine = 2 << 10

// newLog returns a log that writes to out as the program does.
func newLog(t *testing.T, out io.Writer, format string, detail passlog.Detail) *passlog.Log {
	t.Helper()
	o := &logging.Options{}
	fl := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(fl)
	must.Succeed(t, fl.Parse([]string{"--log-format", format}))
	return &passlog.Log{Logger: o.New(terminal.Writer{Writer: out}), Detail: detail}
}

// linesOf returns the lines that log writes, as text without their times.
func linesOf(t *testing.T, log func(l *passlog.Log)) string {
	t.Helper()
	var out bytes.Buffer
	log(newLog(t, &out, "text", passlog.Lines))
	return regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(out.String(), "")
}

func move(step int, to string) plan.Move {
	return plan.Move{Step: step, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("web-%d", step)}, From: "n3", To: to, Strategy: "zones",
		Owner: plan.ObjectRef{Kind: "Deployment", Name: "web"}, Reason: plan.Reason{Code: plan.ZoneSkewed, Message: "web has 1/1/4 pods"}}
}

func outcome(step int, k plan.OutcomeKind, why plan.Code, message string) plan.Outcome {
	return plan.Outcome{Step: step, Pod: move(step, "").Pod, Outcome: k, Reason: plan.Reason{Code: why, Message: message}}
}

// newReport returns the report of a pass with these moves.
func newReport(mode plan.Mode, moves ...plan.Move) plan.RunReport {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return plan.RunReport{RunID: "5d3f0a1c", Mode: mode, Started: at, Finished: at.Add(61500 * time.Millisecond), Due: []string{"hot", "zones"},
		Plan: plan.Plan{ID: "3f2a", Moves: moves, Bound: plan.Bound{MinForPlan: len(moves)}}}
}

func TestALiveAndADryPass(t *testing.T) {
	r := newReport(plan.Live, move(1, "n1"), move(2, "n2"), move(3, "n1"))
	landed := outcome(1, plan.Evicted, plan.ZoneSkewed, "web has 1/1/4 pods")
	landed.Landed, landed.LandedAsPredicted, landed.ReadyAfter = "n1", true, "2.1s"
	elsewhere := outcome(2, plan.Evicted, plan.LandedElsewhere, "n2 was predicted")
	elsewhere.Landed, elsewhere.ReadyAfter = "n3", "3s"
	r.Outcomes = []plan.Outcome{landed, elsewhere, outcome(3, plan.Blocked, plan.BlockedByPDB, "budget web allows no eviction")}
	r.Plan.Rejections.Counts = map[plan.Code]int{plan.DaemonSetPod: 30, plan.WouldReturn: 2}
	r.Plan.Before.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals, Uneven: 0.25}}}
	r.Plan.After.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals, Uneven: 0.0333}}}
	r.Stopped = &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop before wave 2"}
	const want = `level=INFO msg=move run=5d3f0a1c pod=shop/web-1 workload=Deployment/web from=n3 strategy=zones step=1 wave=1 outcome=evicted reason=ZoneSkewed landed=n1 asPredicted=true readyAfter=2.1s
level=INFO msg=move run=5d3f0a1c pod=shop/web-2 workload=Deployment/web from=n3 to=n2 strategy=zones step=2 wave=1 outcome=evicted reason=LandedElsewhere landed=n3 asPredicted=false readyAfter=3s message="n2 was predicted"
level=INFO msg=move run=5d3f0a1c pod=shop/web-3 workload=Deployment/web from=n3 to=n1 strategy=zones step=3 wave=1 outcome=blocked reason=BlockedByPDB message="budget web allows no eviction"
level=WARN msg="pass ended" run=5d3f0a1c mode=live strategies=hot,zones planned=3 proposed=0 evicted=2 asPredicted=1 blocked=1 notExecuted.BlockedByPDB=1 notMoved.DaemonSetPod=30 notMoved.WouldReturn=2 lowerBound=3 unmetGoals=0 score=75 scoreAfter=96.7 stopped=Interrupted message="the process was told to stop before wave 2" plan=3f2a duration=1m1.5s
`
	if got := linesOf(t, func(l *passlog.Log) { l.Pass(&r) }); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// A move of a batch is logged when the batch ends, and not again when the pass ends. A report of a run of another
	// process comes first, and its steps are others.
	other := newReport(plan.Live)
	other.RunID, other.Recovery, other.Outcomes = "00000000", &plan.Recovery{Holder: "ek-1"}, []plan.Outcome{outcome(2, plan.UnknownOutcome, plan.OutcomeUnknown, "")}
	got := linesOf(t, func(l *passlog.Log) {
		l.Pass(&other)
		l.Batch(&r, r.Outcomes[:1])
		l.Batch(&r, r.Outcomes[1:2])
		l.Pass(&r)
		l.Pass(&r)
	})
	first, rest, _ := strings.Cut(got, "recoveredFrom=ek-1")
	if strings.Count(first, "outcome=unknown") != 1 || !strings.HasSuffix(rest, "\n"+want+want) {
		t.Errorf("got\n%swant the other run, and twice\n%s", got, want)
	}
}

// TestStrategiesOfAnApprovedPlan: such a plan names no strategies, but its moves do.
func TestStrategiesOfAnApprovedPlan(t *testing.T) {
	r := newReport(plan.Live, move(1, "n1"), move(2, "n2"))
	r.Due, r.Approval = nil, &plan.Approval{By: "alice"}
	if got := linesOf(t, func(l *passlog.Log) { l.Pass(&r) }); !strings.Contains(got, " strategies=zones planned=2 ") {
		t.Error(got)
	}
}

// TestProposedMovesAreVisible: a pass whose only moves wait for approval says so, and lists them.
func TestProposedMovesAreVisible(t *testing.T) {
	r := newReport(plan.DryRun)
	r.Plan.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: plan.Plan{Moves: []plan.Move{move(1, "n1"), move(2, "n2")}}}}
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: "77aa"}}}
	const want = `level=INFO msg=move run=5d3f0a1c pod=shop/web-1 workload=Deployment/web from=n3 to=n1 strategy=zones step=1 wave=1 outcome=proposed decides=approve reason=ZoneSkewed
level=INFO msg=move run=5d3f0a1c pod=shop/web-2 workload=Deployment/web from=n3 to=n2 strategy=zones step=2 wave=1 outcome=proposed decides=approve reason=ZoneSkewed
level=INFO msg="pass ended" run=5d3f0a1c mode=dryRun strategies=hot,zones planned=0 proposed=2 evicted=0 asPredicted=0 lowerBound=0 unmetGoals=0 waitingPlans=77aa plan=3f2a duration=1m1.5s
`
	if got := linesOf(t, func(l *passlog.Log) { l.Pass(&r) }); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestMovesThatEvictNothingAreBounded: every eviction has a line; of the other moves, the first ones have, and the line
// of the pass counts the others.
func TestMovesThatEvictNothingAreBounded(t *testing.T) {
	var r plan.RunReport
	for _, mode := range []plan.Mode{plan.Live, plan.DryRun} {
		r = newReport(mode)
		for step := 1; step <= 100; step++ {
			r.Plan.Moves = append(r.Plan.Moves, move(step, "n1"))
			kind := plan.WouldEvict
			if mode == plan.Live && step <= 50 {
				kind = plan.Evicted
			} else if mode == plan.Live {
				kind = plan.Dropped
			}
			r.Outcomes = append(r.Outcomes, outcome(step, kind, plan.ZoneSkewed, ""))
		}
		r.Plan.Proposals = []plan.Proposal{{Mode: plan.ShowOnly, Plan: plan.Plan{Moves: r.Plan.Moves[:30]}}}
		got := linesOf(t, func(l *passlog.Log) { l.Pass(&r) })
		lines, left := 20, 110
		if mode == plan.Live {
			lines, left = 70, 60
		}
		if n := strings.Count(got, "msg=move"); n != lines || !strings.Contains(got, fmt.Sprintf(" movesNotLogged=%d ", left)) {
			t.Errorf("mode %s: %d lines of moves, want %d and %d left out:\n%s", mode, n, lines, left, got[strings.LastIndex(got, "level="):])
		}
	}
}

// TestTheWholeReport: only with the detail full, and as an object of a JSON line.
func TestTheWholeReport(t *testing.T) {
	r := newReport(plan.DryRun, move(1, "n1"))
	r.Plan.Moves[0].Pod.Name = "x\u202e"
	for detail, want := range map[passlog.Detail]int{passlog.None: 0, passlog.Lines: 1, passlog.Full: 2} {
		var out bytes.Buffer
		newLog(t, &out, "json", detail).Pass(&r)
		if n := strings.Count(out.String(), "\n"); n != want {
			t.Errorf("%s: %d lines, want %d", detail, n, want)
		}
		if detail != passlog.Full {
			continue
		}
		var line struct {
			Run    string
			Report v1alpha1.RebalancePlan
		}
		_, last, _ := strings.Cut(out.String(), "\n")
		if err := json.Unmarshal([]byte(last), &line); err != nil || line.Run != r.RunID || len(line.Report.Spec.Moves) != 1 || len(line.Report.Status.RunID) == 0 || strings.Contains(last, "\u202e") {
			t.Errorf("%v: %s", err, last)
		}
	}
}

// hostile is a text of another program in which every character takes more bytes in a log line.
func hostile(of string) string { return strings.Repeat(of, 2000) }

// TestLinesAreBounded fills every field with texts that other programs could have chosen.
func TestLinesAreBounded(t *testing.T) {
	for _, of := range []string{"a", "\\", "\"", "\n", "\x1b", "\u202e", "\U000e0001", "\xff", "\u00a0", "漢", "é"} {
		text := hostile(of)
		m := plan.Move{Pod: plan.PodRef{Namespace: text, Name: text}, Owner: plan.ObjectRef{Kind: text, Name: text}, From: text, To: text,
			Strategy: text, Step: 1 << 30, Wave: 1 << 30}
		why := plan.Reason{Code: plan.ReplacementNotScheduled, Message: text}
		r := newReport(plan.Live, m)
		r.RunID, r.Plan.ID, r.Stopped, r.Due = text, text, &plan.Reason{Code: plan.ReplacementNotScheduled, Message: text}, []string{text, text}
		r.Outcomes = []plan.Outcome{{Step: m.Step, Outcome: plan.Evicted, Reason: why, Landed: text, ReadyAfter: text}}
		r.Approval, r.Recovery = &plan.Approval{By: text, WaitingPlan: text}, &plan.Recovery{Holder: text}
		r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: text}, {ID: text}, {ID: text}, {ID: text}}, Problem: &plan.Reason{Code: plan.ReplacementNotScheduled}}
		r.Plan.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: plan.Plan{Moves: []plan.Move{m}}}}
		r.Plan.Rejections.Counts = map[plan.Code]int{}
		for i, code := range plan.NothingJudgedCodes() {
			r.Plan.NothingJudged = append(r.Plan.NothingJudged, plan.Reason{Code: code, Message: text})
			r.Plan.Rejections.Counts[code+plan.ReplacementNotScheduled] = 100_000 + i
		}
		for _, code := range plan.StopCodes() {
			r.Outcomes = append(r.Outcomes, plan.Outcome{Outcome: plan.Dropped, Reason: plan.Reason{Code: code}})
		}
		for _, format := range []string{"text", "json"} {
			var out bytes.Buffer
			newLog(t, &out, format, passlog.Lines).Pass(&r)
			for line := range strings.Lines(out.String()) {
				if len(line) > maxLine {
					t.Errorf("%q, %s: a line of %d bytes: %.300s", of, format, len(line), line)
				}
			}
		}
	}
}

// TestADayOfALargeCluster bounds the log of a day: 1,500 nodes, a pass every ten minutes, and as many evictions as the
// limits of the default configuration allow. The log may have 3 MB; 0.2 MB remain for other lines, such as those about
// waves.
func TestADayOfALargeCluster(t *testing.T) {
	const passes, budget = 144, 2_800_000
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 1500, 30_000)))(t)
	conf := must.Get(config.Load("c", []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  hot-nodes: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`)))(t)
	made := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	for i := range made.Moves { // names as long as those of a cloud
		m := &made.Moves[i]
		m.Pod.Namespace, m.Pod.Name, m.Owner.Name = "payments", m.Owner.Name+"-service-7d9f8b6c5d-x2x4z", m.Owner.Name+"-service"
		m.From, m.To = m.From+".eu-central-1.compute", m.To+".eu-central-1.compute"
	}
	if len(made.Moves) < 50 {
		t.Fatalf("the plan has %d moves, want the 50 that limits.perPass allows", len(made.Moves))
	}
	for _, mode := range []plan.Mode{plan.Live, plan.DryRun} {
		r := newReport(mode)
		r.Plan, r.Due = made, nil
		for _, m := range made.Moves {
			o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.WouldEvict, Reason: m.Reason}
			if mode == plan.Live {
				o.Outcome, o.Landed, o.LandedAsPredicted, o.ReadyAfter = plan.Evicted, m.To, true, "12.345s"
			}
			r.Outcomes = append(r.Outcomes, o)
		}
		for _, format := range []string{"text", "json"} {
			var out bytes.Buffer
			l := newLog(t, &out, format, passlog.Lines)
			for range passes {
				l.Pass(&r)
			}
			if out.Len() > budget {
				t.Errorf("%s, %s: %d bytes, want at most %d", mode, format, out.Len(), budget)
			}
		}
	}
}

// TestLevels: a pass that was stopped is a warning.
func TestLevels(t *testing.T) {
	r := newReport(plan.Live)
	var out bytes.Buffer
	l := &passlog.Log{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})), Detail: passlog.Lines}
	l.Pass(&r)
	r.Stopped = &plan.Reason{Code: plan.Paused, Message: "by alice"}
	l.Pass(&r)
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "level=WARN") {
		t.Error(out.String())
	}
}
