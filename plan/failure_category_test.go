package plan_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestFailureCategories spreads six pods over three zones. The utilization limit after the
// failure of the worst zone is 0.9.
func TestFailureCategories(t *testing.T) {
	for _, c := range []struct {
		lost int
		busy float64
		want int
	}{
		{6, 0.1, 1},
		{4, 0.1, 2},
		{2, 0.8, 3}, // 1.2 afterwards
		{2, 0.6, 4}, // 0.9
		{2, 0.4, 4}, // 0.6
		{3, 0.5, 3}, // 1.0
	} {
		if got := plan.FailureCategoryAtUtilization(6, c.lost, c.busy, 0.9); got != c.want {
			t.Errorf("%d of 6 lost at %v: category %d, want %d", c.lost, c.busy, got, c.want)
		}
	}
}
