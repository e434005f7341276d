// Package failedpods states one goal for each pod that has failed: the pod is removed. The pod has ended, so its
// removal interrupts nothing and no replacement follows it.
//
// The package decides which failed pods match its arguments, in which order they should be removed, and by which
// request. It never decides whether a pod may be removed.
package failedpods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy. A pod must match every argument that is set. It matches a list if it matches
// one element.
type Args struct {
	// MinAge is the time since its failure from which on a pod matches.
	MinAge arg.Duration `json:"minAge"`
	// Reasons are reasons in the status of pods and of their containers, such as Evicted.
	Reasons []string `json:"reasons"`
	// ExitCodes are those of terminated containers.
	ExitCodes []int `json:"exitCodes"`
	// OwnerKinds selects pods by the kinds of their owners.
	OwnerKinds podfilter.OwnerKinds `json:"ownerKinds"`
	// InitContainers makes init containers count in Reasons and ExitCodes. Sidecars are init containers.
	InitContainers bool `json:"initContainers"`
	// Remove is eviction or deletion.
	Remove plan.Removal `json:"remove"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{MinAge: arg.Duration(time.Hour), Remove: plan.ByEviction}
	errs := arg.Decode(raw, &a)
	check := func(path string, found []arg.Error) {
		if !arg.Reported(errs, path) {
			errs = append(errs, found...)
		}
	}
	check("reasons", podfilter.CheckReasons("reasons", a.Reasons))
	check("exitCodes", podfilter.CheckExitCodes("exitCodes", a.ExitCodes))
	check("ownerKinds", a.OwnerKinds.Check("ownerKinds"))
	if a.Remove != plan.ByEviction && a.Remove != plan.ByDeletion {
		errs = append(errs, arg.Errorf("remove", "%q is unknown%s (want eviction or deletion)", a.Remove,
			suggest.DidYouMean(string(a.Remove), []string{string(plan.ByEviction), string(plan.ByDeletion)})))
	}
	if a.InitContainers && len(a.Reasons) == 0 && len(a.ExitCodes) == 0 {
		errs = append(errs, arg.Errorf("initContainers",
			"has no effect without reasons and exitCodes (want one of them, or leave the key out)"))
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals, WhyNoGoal: i.whyNoGoal}, errs
}

// goals returns one unmet PodAway goal for each failed pod that matches the arguments. The oldest pod comes first.
func (f *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	var found []*cluster.Pod
	reasons := map[cluster.PodID]plan.Reason{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Object.Status.Phase != corev1.PodFailed || !podfilter.InScope(s, f.scope, p) {
			continue
		}
		if why, mismatch := f.match(s, p); mismatch == "" {
			found = append(found, p)
			reasons[p.ID] = plan.Reason{Code: plan.PodFailed, Message: why}
		}
	}
	slices.SortStableFunc(found, podfilter.Older)
	goals := make([]plan.Goal, len(found))
	for i, p := range found {
		goals[i] = podfilter.Goal(f.name, p, reasons[p.ID])
		goals[i].Removal = f.args.Remove
	}
	return goals
}

// whyNoGoal says why the strategy does not remove a pod that has ended. It returns "" if the
// strategy states a goal about it.
func (f *configuredStrategy) whyNoGoal(s *cluster.Snapshot, p *cluster.Pod) string {
	if p.Object.Status.Phase != corev1.PodFailed {
		return "the pod did not fail: its phase is " + string(p.Object.Status.Phase)
	}
	if why := podfilter.WhyOutOfScope(s, f.scope, p); why != "" {
		return why
	}
	_, mismatch := f.match(s, p)
	return mismatch
}

// match describes why the failed pod matches all arguments that are set, or which argument it does not match.
func (f *configuredStrategy) match(s *cluster.Snapshot, p *cluster.Pod) (why, mismatch string) {
	age, known := podfilter.SinceFailure(p, s.TakenAt)
	switch {
	case !known:
		return "", "it is unknown when the pod failed"
	case age < time.Duration(f.args.MinAge):
		return "", fmt.Sprintf("the pod failed %s ago; minAge is %s", podfilter.RoundAge(age), f.args.MinAge)
	case !f.args.OwnerKinds.Match(s, p):
		return "", "the kind of its owner does not match ownerKinds"
	}
	why = p.Object.Name + " failed " + podfilter.RoundAge(age) + " ago"
	containers := podfilter.Containers{Init: f.args.InitContainers}
	reason := p.Object.Status.Reason
	if len(f.args.Reasons) > 0 {
		r, ok := containers.Reason(p.Object, f.args.Reasons)
		if !ok {
			return "", "no reason in its status matches reasons: " + strings.Join(f.args.Reasons, ", ")
		}
		reason = r
	}
	if reason != "" {
		why += " (" + podfilter.Shorten(reason) + ")"
	}
	if len(f.args.ExitCodes) > 0 {
		code, ok := containers.ExitCode(p.Object, f.args.ExitCodes)
		if !ok {
			return "", "no container ended with one of exitCodes"
		}
		why += fmt.Sprintf(" with exit code %d", code)
	}
	return why, ""
}
