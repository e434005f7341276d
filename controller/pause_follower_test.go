package controller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
)

// scriptedPauses answers each read with the next entry, and repeats the last one.
type scriptedPauses struct {
	answers []pauseAnswer
	reads   int
}

type pauseAnswer struct {
	pause *plan.Pause
	err   error
}

func (s *scriptedPauses) Read(context.Context) (*plan.Pause, error) {
	a := s.answers[min(s.reads, len(s.answers)-1)]
	s.reads++
	return a.pause, a.err
}

type recordedPauses struct{ states []string }

func (r *recordedPauses) RecordPause(paused, known bool) {
	r.states = append(r.states, fmt.Sprintf("paused %t, known %t", paused, known))
}

// scriptedStatus fails its second write.
type scriptedStatus struct{ writes int }

func (s *scriptedStatus) WritePause(context.Context) error {
	if s.writes++; s.writes == 2 {
		return errors.New("conflict")
	}
	return nil
}

// TestPausesBetweenPassesAreSeen: a pause that begins and ends between two passes leaves two events and
// two lines in the log, and the metric follows it within the interval of the reads.
func TestPausesBetweenPassesAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := &plan.Pause{Since: time.Now(), By: "alice", Reason: "release 42"}
		renewed := &plan.Pause{Since: pause.Since, By: "bob", Reason: "release 43"}
		fake := clocktesting.NewFakeClock(pause.Since)
		denied := errors.New("denied")
		pauses := &scriptedPauses{answers: []pauseAnswer{{}, {pause: pause}, {pause: pause}, {err: denied}, {err: denied}, {pause: renewed}, {}}}
		var log bytes.Buffer
		events, metric, status := &recordingEvents{}, &recordedPauses{}, &scriptedStatus{}
		f := &controller.PauseFollower{Pauses: pauses, Events: events, Recorder: metric, Status: status, Clock: fake,
			Log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx) }()
		for i := range pauses.answers {
			synctest.Wait()
			if pauses.reads != i+1 {
				t.Fatalf("%d reads after %d intervals", pauses.reads, i)
			}
			fake.Step(15 * time.Second)
		}
		end()
		<-done

		want := []string{"paused false, known true", "paused true, known true", "paused true, known true", "paused false, known false",
			"paused false, known false", "paused true, known true", "paused false, known true"}
		if got := strings.Join(metric.states[:len(want)], "\n"); got != strings.Join(want, "\n") {
			t.Errorf("metric:\n%s", got)
		}
		if status.writes != 5 {
			t.Errorf("%d writes of the conditions, want one at first, one for each of 3 changes, and one again after a failure", status.writes)
		}
		var changes []string
		for i := range events.before {
			if was, is := events.before[i].Pause, events.after[i].Pause; was != is {
				changes = append(changes, fmt.Sprintf("%s -> %s", pausedBy(was), pausedBy(is)))
			}
		}
		if got := strings.Join(changes, ", "); got != "nobody -> alice, alice -> bob, bob -> nobody" {
			t.Errorf("events: %s", got)
		}
		for text, times := range map[string]int{"evictions are paused\"": 2, "the pause has ended": 1, "it is unknown whether": 1} {
			if n := strings.Count(log.String(), text); n != times {
				t.Errorf("the log says %q %d times, want %d:\n%s", text, n, times, log.String())
			}
		}
	})
}

func pausedBy(p *plan.Pause) string {
	if p == nil {
		return "nobody"
	}
	return p.By
}

// TestAPassLeavesFollowedPausesAlone: a pass publishes no pause that a PauseFollower publishes, because the pause of
// the stored state is older.
func TestAPassLeavesFollowedPausesAlone(t *testing.T) {
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	events := &recordingEvents{}
	c.Events, c.PauseFollowed = events, true
	storeState(t, c, plan.PlannerState{Pause: &plan.Pause{Since: c.Clock.Now(), By: "alice"}})
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range events.after {
		if events.before[i].Pause != nil || events.after[i].Pause != nil {
			t.Errorf("the pass published the pause: %+v", events.after[i].Pause)
		}
	}
}
