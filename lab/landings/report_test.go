package landings

import (
	"fmt"
	"testing"
)

// report is what is read of a RunReport.
type report struct {
	Plan struct {
		Moves      []move
		Bound      struct{ MinForPlan int }
		Rejections struct{ Counts map[string]int }
	}
	Outcomes []outcome
	Stopped  *reason
}

type move struct {
	Pod                           pod
	From, To                      string
	Step, Wave                    int
	Confidence, ReturnProbability float64
	Acceptable                    struct{ Nodes int }
}

type outcome struct {
	Step              int
	Pod               pod
	Outcome           string
	Reason            reason
	Replacement       *pod
	Landed            string
	LandedAsPredicted bool
}

type pod struct{ Namespace, Name, UID string }

type reason struct{ Code, Message string }

func (r *report) waves() (n int) {
	for _, m := range r.Plan.Moves {
		n = max(n, m.Wave)
	}
	return n
}

// tally is where the replacements landed.
type tally struct {
	evicted, acceptable, returned int
	other                         map[string]int // moves without an eviction, by reason
}

func (x tally) String() string {
	s := fmt.Sprintf("%d evicted, %d landed where acceptable (%.1f %%), %d on their source (%.1f %%)",
		x.evicted, x.acceptable, x.percent(x.acceptable), x.returned, x.percent(x.returned))
	if len(x.other) > 0 {
		s += fmt.Sprintf(", not evicted: %v", x.other)
	}
	return s
}

func (x tally) percent(n int) float64 { return 100 * float64(n) / float64(max(1, x.evicted)) }

func (x tally) check(t *testing.T, moves int) {
	t.Helper()
	if x.evicted < moves*9/10 {
		t.Errorf("%d of %d moves were carried out, want at least nine in ten", x.evicted, moves)
	}
	if x.percent(x.acceptable) < 98 {
		t.Errorf("%.1f %% landed where acceptable, want at least 98 %%", x.percent(x.acceptable))
	}
	if x.percent(x.returned) > 1 {
		t.Errorf("%.1f %% are back on their source, want at most 1 %%", x.percent(x.returned))
	}
}

// count adds up the report, and tells of every miss.
func (r *report) count(t *testing.T) tally {
	t.Helper()
	if r.Stopped != nil {
		t.Errorf("the pass was stopped: %s: %s", r.Stopped.Code, r.Stopped.Message)
	}
	by := map[int]move{}
	for _, m := range r.Plan.Moves {
		by[m.Step] = m
	}
	x := tally{other: map[string]int{}}
	var good, back, nodes float64
	likeliest := 0
	for _, o := range r.Outcomes {
		if o.Outcome != "evicted" {
			x.other[o.Outcome+" "+o.Reason.Code]++
			t.Logf("step %d, %s: %s, %s", o.Step, o.Pod.Name, o.Outcome, o.Reason.Message)
			continue
		}
		m := by[o.Step]
		x.evicted++
		good, back, nodes = good+m.Confidence, back+m.ReturnProbability, nodes+float64(m.Acceptable.Nodes)
		if o.Landed == m.To {
			likeliest++
		}
		if o.Landed == m.From {
			x.returned++
		}
		if o.LandedAsPredicted {
			x.acceptable++
		} else {
			t.Logf("missed: step %d, wave %d, %s from %s landed on %q, foretold %s of %d nodes with %.4f: %s",
				o.Step, m.Wave, o.Pod.Name, m.From, o.Landed, m.To, m.Acceptable.Nodes, m.Confidence, o.Reason.Message)
		}
	}
	n := float64(max(1, x.evicted))
	t.Logf("the plan foretold: acceptable %.2f %%, back %.2f %%; %.1f nodes acceptable on average; %d landed on the likeliest node", 100*good/n, 100*back/n, nodes/n, likeliest)
	return x
}
