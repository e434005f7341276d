package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/passlog"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestBuiltInConfigIsADryRun checks that a program without --config never evicts, even if config.yaml said
// dryRun: false when the program was built.
func TestBuiltInConfigIsADryRun(t *testing.T) {
	before := evenkeel.DefaultConfig
	t.Cleanup(func() { evenkeel.DefaultConfig = before })
	evenkeel.DefaultConfig = bytes.ReplaceAll(before, []byte("\ndryRun: true\n"), []byte("\ndryRun: false\n"))
	if bytes.Equal(before, evenkeel.DefaultConfig) {
		t.Fatal("config.yaml does not say dryRun: true")
	}
	conf, err := installed.Load("")
	if err != nil || !conf.DryRun {
		t.Errorf("error %v; want a dry run", err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(file, evenkeel.DefaultConfig, 0o600))
	if conf, err := installed.Load(file); err != nil || conf.DryRun {
		t.Errorf("the same text as a file: error %v; want a configuration that evicts", err)
	}
}

// singleMoveFake is a planner that always moves the same pod.
type singleMoveFake struct{ controller.Planner }

func (singleMoveFake) Snapshot(context.Context) (*cluster.Snapshot, error) {
	return &cluster.Snapshot{}, nil
}

func (singleMoveFake) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	return plan.Plan{ID: "p", Moves: []plan.Move{{Step: 1, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: "d", UID: "u"}}}}
}

func (singleMoveFake) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, p plan.Plan, _ int, _ time.Time) ([]plan.Move, []plan.Outcome) {
	return p.Moves, nil
}

func (singleMoveFake) EvictWave(_ context.Context, moves []plan.Move, _ func()) (r evictor.Result) {
	for _, m := range moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted, LandedAsPredicted: true})
	}
	return r
}

// failingStore is a state store whose Save succeeds for the given number of calls, and then fails.
type failingStore struct{ writes int }

func (*failingStore) Load(context.Context) (plan.PlannerState, error) {
	return plan.PlannerState{}, nil
}

func (f *failingStore) Save(context.Context, plan.PlannerState) error {
	if f.writes--; f.writes < 0 {
		return errors.New("writing ConfigMap ek/evenkeel-state-03: no space left")
	}
	return nil
}

// immediateClock is a clock whose timers fire immediately.
type immediateClock struct{ clock.RealClock }

func (c immediateClock) NewTimer(time.Duration) clock.Timer { return c.RealClock.NewTimer(0) }

// newSinglePassController returns a controller whose passes evict one pod. Its store fails after this number of writes.
func newSinglePassController(writes int) *controller.Controller {
	return &controller.Controller{
		Settings: controller.Settings{Planner: singleMoveFake{}, Mode: plan.Live},
		Dependencies: controller.Dependencies{Observer: singleMoveFake{}, Evictor: singleMoveFake{}, Store: &failingStore{writes},
			Clock: immediateClock{}, Log: slog.New(slog.DiscardHandler), Recorder: metrics.New("v", "h"),
			NewRunID: func() string { return "r1" }, OnReport: func(plan.RunReport) {}},
	}
}

// TestStoppedPassReturnsError checks that a stopped pass returns an error. With a nil error, Kubernetes would
// count the Job of a stopped pod as complete.
func TestStoppedPassReturnsError(t *testing.T) {
	for stopped, want := range map[bool]string{true: "the pass stopped early: Interrupted: the process was told to stop before wave 1", false: ""} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := newSinglePassController(9)
		if stopped {
			c.NewRunID = func() string { stop(); return "r1" }
		}
		if err := runSinglePass(ctx, c, nil); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("stopped: %v: %v, want %q", stopped, err, want)
		}
	}
	if err := errorIfNotBegun(nil, false); err == nil || errorIfNotBegun(nil, true) != nil || !errors.Is(errorIfNotBegun(io.EOF, false), io.EOF) {
		t.Errorf("error of a command that was stopped before its pass: %v", err)
	}
}

// TestTheEndOfThePassTimeoutIsNoError checks that a job succeeds although its pass left moves to the next one.
func TestTheEndOfThePassTimeoutIsNoError(t *testing.T) {
	var stopped *plan.Reason
	c := newSinglePassController(9)
	c.StopAt, c.OnReport = time.Now(), func(r plan.RunReport) { stopped = r.Stopped }
	if err := runSinglePass(t.Context(), c, nil); err != nil || stopped == nil || stopped.Code != plan.PassTimeout {
		t.Errorf("error %v, stopped by %v", err, stopped)
	}
}

// fullDisk is a writer that fails with ENOSPC.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFailedReportKeepsError checks that reportWriter keeps the error of a failed report until a later report
// succeeds.
func TestFailedReportKeepsError(t *testing.T) {
	var log strings.Builder
	r := &reportWriter{out: fullDisk{}, format: report.JSON, lines: passlog.Log{Logger: slog.New(slog.NewTextHandler(&log, nil)), Detail: passlog.None}}
	r.write(plan.RunReport{RunID: "r1"})
	if r.failed == nil || !errors.Is(r.failed, syscall.ENOSPC) || !strings.Contains(log.String(), "the report was not written") {
		t.Errorf("%v; %s", r.failed, log.String())
	}
	r.out = io.Discard
	if r.write(plan.RunReport{RunID: "r2"}); r.failed != nil {
		t.Error(r.failed)
	}
}

// TestUnclosedRunReturnsError checks that a command returns an error if it could not save that its run ended.
func TestUnclosedRunReturnsError(t *testing.T) {
	for writes, closed := range map[int]bool{2: false, 3: true} {
		c := newSinglePassController(writes)
		err := runSinglePass(t.Context(), c, nil)
		if (err == nil) != closed || err != nil && (strings.Contains(err.Error(), "nothing was evicted") || !strings.Contains(err.Error(), "run r1 is over and reported, but")) {
			t.Errorf("%d writes: %v", writes, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := runPasses(ended, c); (err == nil) != closed {
			t.Errorf("%d writes: ended with %v", writes, err)
		}
	}
}
