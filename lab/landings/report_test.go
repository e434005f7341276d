package landings

import (
	"fmt"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

func countWaves(r *testbed.Report) (n int) {
	for _, m := range r.Spec.Moves {
		n = max(n, m.Wave)
	}
	return n
}

// landingCounts counts where the replacements landed.
type landingCounts struct {
	evicted, acceptable, returned int
	other                         map[string]int // moves without an eviction, by outcome and reason
}

func (x landingCounts) String() string {
	s := fmt.Sprintf("%d pods evicted; %d replacements landed on an acceptable node (%.1f %%), %d on their source (%.1f %%)",
		x.evicted, x.acceptable, x.percentOfEvicted(x.acceptable), x.returned, x.percentOfEvicted(x.returned))
	if len(x.other) > 0 {
		s += fmt.Sprintf(", not evicted: %v", x.other)
	}
	return s
}

func (x landingCounts) percentOfEvicted(n int) float64 {
	return 100 * float64(n) / float64(max(1, x.evicted))
}

func (x landingCounts) checkLimits(t *testing.T, moves int) {
	t.Helper()
	if x.evicted < moves*9/10 {
		t.Errorf("%d of %d moves were executed, want at least 90 %%", x.evicted, moves)
	}
	if x.percentOfEvicted(x.acceptable) < 98 {
		t.Errorf("%.1f %% landed on an acceptable node, want at least 98 %%", x.percentOfEvicted(x.acceptable))
	}
	if x.percentOfEvicted(x.returned) > 1 {
		t.Errorf("%.1f %% landed on their source, want at most 1 %%", x.percentOfEvicted(x.returned))
	}
}

// countLandings counts the outcomes in the report and logs every landing that differs from the prediction.
func countLandings(t *testing.T, r *testbed.Report) landingCounts {
	t.Helper()
	if r.Status.Stopped != nil {
		t.Errorf("the pass stopped early: %s: %s", r.Status.Stopped.Code, r.Status.Stopped.Message)
	}
	by := map[int]testbed.Move{}
	for _, m := range r.Spec.Moves {
		by[m.Step] = m
	}
	x := landingCounts{other: map[string]int{}}
	var good, back, nodes float64
	likeliest := 0
	for _, o := range r.Outcomes() {
		if o.Outcome != "evicted" {
			x.other[o.Outcome+" "+o.Reason.Code]++
			t.Logf("step %d, %s: %s, %s", o.Step, o.Pod.Name, o.Outcome, o.Reason.Message)
			continue
		}
		m := by[o.Step]
		x.evicted++
		good, back, nodes = good+float64(m.ConfidencePerMille)/1000, back+float64(m.ReturnPerMille)/1000, nodes+float64(m.AcceptableNodes)
		if o.Landed == m.To {
			likeliest++
		}
		if o.Landed == m.From {
			x.returned++
		}
		if o.AsPredicted {
			x.acceptable++
		} else {
			t.Logf("landed elsewhere: step %d, wave %d, %s from %s landed on %q; predicted %s of %d nodes with confidence %.4f: %s",
				o.Step, m.Wave, o.Pod.Name, m.From, o.Landed, m.To, m.AcceptableNodes, float64(m.ConfidencePerMille)/1000, o.Reason.Message)
		}
	}
	n := float64(max(1, x.evicted))
	t.Logf("predicted: %.2f %% on an acceptable node, %.2f %% back on the source; "+
		"%.1f acceptable nodes on average; %d landed on the likeliest node",
		100*good/n, 100*back/n, nodes/n, likeliest)
	return x
}
