package controller_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/trigger"
)

// triggerBox holds at most one request.
type triggerBox struct {
	request  *trigger.Request
	lost     bool // another process takes the request first
	taken    int
	rejected []string
}

func (b *triggerBox) Pending(context.Context) (*trigger.Request, error) { return b.request, nil }

func (b *triggerBox) Take(context.Context, *trigger.Request, string) error {
	b.request = nil
	if b.lost {
		return errors.New("conflict")
	}
	b.taken++
	return nil
}

func (b *triggerBox) Reject(_ context.Context, _ *trigger.Request, why string) error {
	b.request, b.rejected = nil, append(b.rejected, why)
	return nil
}

// The leader runs a triggered strategy once, between its passes, and at most one a minute.
func TestATriggeredStrategyRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduleRun(t, "01:00:00", `- {name: zones, type: ZoneSpread, schedule: "0 3 * * *"}`)
		box := &triggerBox{}
		r.Triggers = box
		put := func(strategy string, at time.Time) {
			box.request = &trigger.Request{Strategy: strategy, By: "alice", At: at}
		}
		r.lead(t, 3*time.Minute, func(now time.Time) {
			switch now.Format(time.TimeOnly) {
			case "01:00:10", "01:00:40":
				put("zones", now)
			case "01:01:00":
				put("spread", now)
			case "01:01:10":
				put("zones", now.Add(-11*time.Minute))
			case "01:01:30":
				box.lost = true
				put("zones", now)
			case "01:02:00":
				box.lost = false
				put("zones", now)
			}
		})
		r.expect(t, "01:00:15", "01:02:05")
		want := []string{"the last trigger was less than 1m0s ago; trigger again in 30s",
			`the configuration has no strategy "spread" (it has: zones)`, "it was made at 2026-01-01T00:50:10Z, more than 10m0s before or after now"}
		if box.taken != 2 || len(box.rejected) != 3 || slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool {
			return !strings.HasPrefix(box.rejected[i], want[i])
		}) {
			t.Errorf("taken %d, rejected %q, want %q", box.taken, box.rejected, want)
		}
	})
}
