package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestWhatIfPage checks that an imagined change comes before the plan, which nobody can execute.
func TestWhatIfPage(t *testing.T) {
	x := plan.WhatIf{Change: plan.Change{Without: []string{"n1"}}, Pods: []plan.PodFit{{Pod: plan.PodRef{Namespace: "shop", Name: "d-1"}}}}
	var b bytes.Buffer
	must.Succeed(t, report.WhatIf(&b, report.HTML, x, threeZonesPlan()))
	text := b.String()
	if !strings.Contains(text, "Imagined change") || strings.Contains(text, "evenkeel apply") || strings.Index(text, `id="what-if"`) > strings.Index(text, `id="zones"`) {
		t.Errorf("the page has no section about the change before the plan, or a command that executes it:\n%s", text)
	}
}

// TestHTMLForms checks the headline of each kind of HTML report.
func TestHTMLForms(t *testing.T) {
	h := report.History{Now: taken, Counts: report.MoveCounts{}, Oldest: taken}
	h.Plans = append(h.Plans, *pastPlan(), *pastPlan())
	moves := record.PastMoves(pastPlan())
	for i := range moves {
		h.Counts.Add(&moves[i])
	}
	ofPod := h
	ofPod.Subject, ofPod.Moves = "pod shop/web-b", moves
	history := func(h report.History) string {
		var b bytes.Buffer
		must.Succeed(t, report.WriteHistory(&b, report.HTML, h, report.Options{}))
		return b.String()
	}
	for want, text := range map[string]string{
		"2 evictions would spread them evenly.":                                   written(t, report.Plan, report.HTML, threeZonesPlan()),
		"2 of 3 pods were evicted: 1 as predicted, 1 elsewhere and 1 not evicted": written(t, report.Run, report.HTML, liveRun()),
		`stays: the pod started 3m0s ago (PodTooYoung).</h1>`:                     written(t, report.Explain, report.HTML, explanationOfPod(1)),
		`Node <span class="nm">n3</span>: 1 of its 2 pods would be moved`:         written(t, report.Explain, report.HTML, fullExplanation()),
		"2 passes evicted 3 pods, 2 as predicted.</h1>":                           history(h),
		`4 moves of <span class="nm">pod shop/web-b</span>: 2 as predicted`:       history(ofPod),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("a report lacks %q:\n%s", want, text)
		}
	}
}
