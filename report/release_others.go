package report

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// otherDescheduler is the code of the notice about another program that evicts pods to move them.
const otherDescheduler = "OtherDescheduler"

// otherDeschedulers names other programs that evict pods to move them, if this release evicts pods, too.
func (r *Release) otherDeschedulers() *finding {
	what := otherPrograms(r.Object)
	if what == "" || trialSetting(r) != "" {
		return nil
	}
	return &finding{head: "another descheduler runs", what: what, wrong: "If both evict, each may undo what the other does.",
		todo: []string{"Let only one of them evict: suspend or remove the other one."}}
}

// besideTrial names other programs that evict pods to move them, if this release evicts no pod. Nothing is wrong then.
func (r *Release) besideTrial() *finding {
	what, setting := otherPrograms(r.Object), trialSetting(r)
	if what == "" || setting == "" {
		return nil
	}
	return &finding{what: what, todo: []string{"Before you " + setting + ", stop the other program."}}
}

// otherPrograms returns a sentence about the other programs that evict pods to move them, or "" if there are none.
func otherPrograms(r *v1alpha1.Rebalancer) string {
	if r == nil {
		return ""
	}
	var what []string
	for _, n := range r.Status.Notices {
		if n.Code == otherDescheduler {
			what = append(what, escape(n.Message))
		}
	}
	if what == nil {
		return ""
	}
	return "Another program moves pods: " + strings.Join(what, "; ") + "."
}

// trialSetting returns the change of the configuration that would let this release evict pods, or "" if the release
// evicts pods already.
func trialSetting(r *Release) string {
	evicts := func(st v1alpha1.StrategyStatus) bool { return st.Mode != v1alpha1.ModeDryRun }
	switch {
	case r.dryRun() != nil:
		return "set dryRun: false"
	case r.Object != nil && len(r.Object.Status.Strategies) > 0 && !slices.ContainsFunc(r.Object.Status.Strategies, evicts):
		return "remove mode: dryRun from a strategy"
	}
	return ""
}

// byCommand reports whether only commands of persons have made passes.
func byCommand(r *Release) bool { return r.Object != nil && r.Object.Status.Schedule == "Command" }

// where names the namespace. Commands leave their record also where nothing is installed.
func where(r *Release) string {
	if byCommand(r) {
		return "namespace " + escape(r.Namespace)
	}
	return "installed in namespace " + escape(r.Namespace)
}

// onlyCommands says that no pass runs until a person makes one.
func (r *Release) onlyCommands() *finding {
	if !byCommand(r) || r.Lease != nil && r.Lease.Holder != "" {
		return nil
	}
	return &finding{head: "no controller runs", what: "A person made the last pass with a command (evenkeel run --once or evenkeel apply). " +
		"No process of Evenkeel leads, and no pass is scheduled.",
		todo: []string{"Run the next pass yourself, or install the chart, which makes passes on a schedule. To see what a pass would move now:", "evenkeel plan"}}
}
