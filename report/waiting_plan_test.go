package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// TestListsFitTheTerminal checks that lists of waiting and discarded moves show every step, no wider than the terminal.
// Without a terminal, each step is one line.
func TestListsFitTheTerminal(t *testing.T) {
	const steps = 100
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	p, discarded := plan.Plan{ID: "3f2a9c01d2e4b5a6", Expires: at.Add(time.Hour)}, []plan.DiscardedMove{}
	for i := range steps {
		pod := fmt.Sprintf("web-%d", i)
		p.Moves = append(p.Moves, plan.Move{Step: i + 1, Strategy: "zones", Pod: plan.PodRef{Namespace: "shop", Name: pod}, From: "node-1",
			Reason: plan.Reason{Message: strings.Repeat("the zone has too many pods ", 8)}})
		discarded = append(discarded, plan.DiscardedMove{Strategy: "zones", Pod: "shop/" + pod, Plan: p.ID, Step: i + 1,
			By: strings.Repeat("somebody ", 8), At: at, Until: at})
	}
	for _, width := range []int{0, 100, 140} {
		o := report.Options{Width: width}
		var waiting, list bytes.Buffer
		must.Succeed(t, report.WaitingPlan(&waiting, "p1", p, at, true, func(int) string { return "waits" }, o))
		must.Succeed(t, report.DiscardedMoves(&list, discarded, o))
		for _, text := range []string{waiting.String(), list.String()} {
			checkList(t, text, width, steps)
		}
	}
}

// checkList checks the list of pods web-0, web-1 and so on, which follows a line of text.
func checkList(t *testing.T, text string, width, steps int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
	for i := range steps {
		if !strings.Contains(text, fmt.Sprintf("shop/web-%d ", i)) {
			t.Errorf("width %d: the list lacks web-%d", width, i)
		}
	}
	if width == 0 && len(lines) != steps+1 {
		t.Errorf("%d lines without a terminal, want a heading and %d steps", len(lines), steps)
	}
	for _, l := range lines {
		if width > 0 && layout.Width(l) > width {
			t.Errorf("a line has %d columns, want at most %d: %s", layout.Width(l), width, l)
			break
		}
	}
}
