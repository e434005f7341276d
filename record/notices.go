package record

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Codes of notices that are no reasons of a pass. docs/reference/objects.md describes them.
const (
	strategyWaits    = "StrategyWaits"
	searchEndedEarly = "SearchEndedEarly"
	otherDescheduler = "OtherDescheduler"
	hintsWithoutData = "HintsWithoutData"
	filtered         = "Filtered"
)

const waitsFor = "waits for %d nodes"

// notices returns what a person should know about a pass beside its moves.
func notices(p *plan.Plan) (out []v1alpha1.Notice) {
	add := func(code, message, strategy string) {
		if message != "" && len(out) < maxStates {
			out = append(out, v1alpha1.Notice{Reason: v1alpha1.Reason{Code: code, Message: cut(message, maxMessage)}, Strategy: word(strategy)})
		}
	}
	add(filtered, p.FilterText(), "")
	for _, r := range p.NothingJudged {
		add(string(r.Code), r.Message, "")
	}
	for _, b := range p.Blocks {
		add(string(b.Reason.Code), b.Reason.Message, "")
	}
	for _, o := range p.OtherDeschedulers {
		add(otherDescheduler, o.String()+" evicts pods, too", "")
	}
	add(searchEndedEarly, p.SearchLimitReached, "")
	add(hintsWithoutData, p.HintsNoData, "")
	for _, st := range p.Strategies {
		add(string(plan.NoUsageData), st.NoData, st.Name)
		add(string(plan.NothingInScope), st.NothingInScope, st.Name)
		if st.WaitingNodes > 0 {
			add(strategyWaits, fmt.Sprintf(waitsFor+": %s", st.WaitingNodes, st.WaitReason), st.Name)
		}
	}
	for _, s := range p.Schedulers {
		if !s.Trusted {
			add(string(plan.UntrustedScheduler), s.Name+": "+s.Reason, "")
		}
	}
	return out
}
