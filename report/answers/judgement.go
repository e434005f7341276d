package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// judgement is what a pass could judge, and what forbids its moves.
type judgement struct {
	plan      *plan.Plan
	run       *view.Run
	untrusted []string // why predictions are not trusted
}

func newJudgement(v *view.View) judgement {
	j := judgement{plan: &v.Plan, run: v.Run}
	for _, s := range v.Plan.Schedulers {
		if s.Planned && !slices.Contains(j.untrusted, s.Reason) {
			j.untrusted = append(j.untrusted, s.Reason)
		}
	}
	return j
}

// nothing reports whether the pass could judge nothing, or ended before it planned.
func (j *judgement) nothing() bool {
	return len(j.plan.NothingJudged) > 0 || j.run != nil && j.run.Stopped != nil && j.plan.ConfigHash == "" && len(j.plan.Moves) == 0
}

// noData names the usage data that strategies lack.
func (j *judgement) noData() (out []string) {
	for _, st := range j.plan.Strategies {
		if st.NoData != "" {
			out = append(out, "strategy "+st.Name+": "+st.NoData)
		}
	}
	if j.plan.HintsNoData != "" {
		out = append(out, "hints: "+j.plan.HintsNoData)
	}
	return out
}

// missing names the data that are missing, also of some nodes.
func (j *judgement) missing() []string {
	out := j.noData()
	for _, in := range j.plan.Inputs {
		if in.Coverage < 1 && (in.Statistic != "" || in.Source == "nodes") {
			out = append(out, in.Source+" covers "+percent.Of(in.Coverage)+" of the nodes, and nothing is known of the others")
		}
	}
	return out
}

func (j *judgement) noViolation() bool {
	return slices.ContainsFunc(j.plan.Strategies, func(st plan.StrategyState) bool { return st.NoViolation })
}

// causes says in short why nothing could be judged.
func (j *judgement) causes() string {
	if len(j.plan.NothingJudged) == 0 {
		return "The pass ended before it planned. Nothing was evicted."
	}
	var causes []string
	for _, r := range j.plan.NothingJudged {
		if words := unjudgedWords[r.Code]; words != "" && !slices.Contains(causes, words) {
			causes = append(causes, words)
		}
	}
	return "Nothing could be judged: " + Join(causes) + "."
}

// messages are the whole causes.
func (j *judgement) messages() string {
	if len(j.plan.NothingJudged) == 0 {
		return j.run.Stopped.Message + " (" + string(j.run.Stopped.Code) + ")."
	}
	return j.plan.NothingJudgedText() + "."
}

// block returns the strongest reason why nothing is evicted now.
func (j *judgement) block() (*plan.EvictionBlock, bool) {
	if len(j.plan.Blocks) == 0 {
		return nil, false
	}
	return &j.plan.Blocks[0], true
}

func (j *judgement) forbids() (out []string) {
	if len(j.untrusted) > 0 {
		out = append(out, "Predictions not trusted")
	}
	for _, b := range j.plan.Blocks {
		words := blockWords[b.Reason.Code]
		if words == "" {
			words = string(b.Reason.Code)
		}
		if !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	if len(j.noData()) > 0 {
		out = append(out, "No usage data")
	}
	return out
}

// newHints counts the nodes that would get a pressure hint.
func (j *judgement) newHints() (n int) {
	for _, h := range j.plan.Pressure {
		if h.State == plan.HintToWrite {
			n++
		}
	}
	return n
}

// incomplete names the sources of data that have problems.
func (j *judgement) incomplete() (out []string) {
	for _, in := range j.plan.Inputs {
		if len(in.Problems) > 0 && !slices.Contains(out, in.Source) {
			out = append(out, in.Source)
		}
	}
	return out
}

// waits says for what strategies wait before they act.
func (j *judgement) waits() string {
	var out []string
	for _, st := range j.plan.Strategies {
		if st.WaitingNodes == 0 {
			continue
		}
		why := st.WaitReason
		if why == "" {
			why = "a condition of the strategy is not met yet"
		}
		out = append(out, fmt.Sprintf("%s: %s (strategy %s).", plural.Choose(st.WaitingNodes, "1 node waits", Count(st.WaitingNodes, "node")+" wait"), why, st.Name))
	}
	return strings.Join(out, " ")
}
