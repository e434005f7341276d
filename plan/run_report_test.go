package plan

import "testing"

// TestEndedBeforePlanning: a pass that planned no moves and was then stopped did not end before planning.
func TestEndedBeforePlanning(t *testing.T) {
	for _, c := range []struct {
		hash string
		code Code
		want bool
	}{{"", APIError, true}, {"c1", APIError, false}, {"", BreakerOpen, false}} {
		r := RunReport{Plan: Plan{ConfigHash: c.hash}, Stopped: &Reason{Code: c.code}}
		if got := r.EndedBeforePlanning(); got != c.want {
			t.Errorf("configuration %q, stopped by %s: got %v", c.hash, c.code, got)
		}
	}
}
