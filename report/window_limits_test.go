package report_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/report"
)

// A plan says which limits of windows apply to it, and nothing if only the limits of the configuration do.
func TestPlansNameTheLimitsOfOpenWindows(t *testing.T) {
	for _, keys := range [][]string{nil, {"windows.allow[0].limits", "windows.allow[2].limits"}} {
		p := newPlan()
		p.WindowLimits = keys
		text := written(t, report.Plan, report.Table, p)
		const line = "The limits of the open windows apply: windows.allow[0].limits, windows.allow[2].limits.\n"
		if got := strings.Contains(text, line); got != (keys != nil) {
			t.Errorf("%v: the line is there: %v\n%s", keys, got, text)
		}
	}
}
