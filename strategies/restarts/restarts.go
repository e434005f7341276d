// Package restarts states one goal for each pod whose containers restarted too often: the pod leaves. Its replacement
// starts with new containers, on any node.
//
// The package decides which pods restarted too often, and in which order they should leave. It never decides whether a
// pod may leave, and it does not look for the cause of the restarts.
package restarts

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy.
type Args struct {
	// MinRestarts is the number of restarts from which on a pod should leave. It counts all containers together.
	MinRestarts int `json:"minRestarts"`
	// States selects pods that are Running or whose container waits in CrashLoopBackOff. If it is empty, the state does
	// not matter.
	States []string `json:"states"`
	// InitContainers makes init containers count, in restarts and in states. Sidecars are init containers.
	InitContainers bool `json:"initContainers"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

const crashLoop = "CrashLoopBackOff"

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	var a Args
	errs := arg.Decode(raw, &a)
	switch {
	case arg.Reported(errs, "minRestarts"):
	case a.MinRestarts == 0:
		errs = append(errs, arg.Errorf("minRestarts",
			"is missing or 0 (want the number of restarts that is too many, such as 100)"))
	case a.MinRestarts < 0:
		errs = append(errs, arg.Errorf("minRestarts", "%d is negative (want 1 or more)", a.MinRestarts))
	}
	if !arg.Reported(errs, "states") {
		known := []string{string(corev1.PodRunning), crashLoop}
		errs = append(errs, podfilter.CheckStates("states", a.States, known)...)
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals}, errs
}

// goals returns one unmet PodAway goal for each pod that restarted too often. The pod with the most restarts comes
// first. Pods that have ended have no goal.
func (r *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	type worn struct {
		pod      *cluster.Pod
		restarts int64
		state    string
	}
	var found []worn
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal {
			continue
		}
		n := r.containers().Restarts(p.Object)
		if n < int64(r.args.MinRestarts) || !podfilter.InScope(s, r.scope, p) { // InScope takes longer
			continue
		}
		if state, ok := r.state(p.Object); ok {
			found = append(found, worn{p, n, state})
		}
	}
	slices.SortStableFunc(found, func(a, b worn) int {
		return cmp.Or(cmp.Compare(b.restarts, a.restarts), podfilter.Older(a.pod, b.pod))
	})
	goals := make([]plan.Goal, len(found))
	for i, f := range found {
		message := fmt.Sprintf("the containers of %s restarted %s; the strategy allows fewer than %d", f.pod.Object.Name,
			plural.Count(int(f.restarts), "time"), r.args.MinRestarts)
		if f.state != "" {
			message += " in state " + f.state
		}
		goals[i] = podfilter.Goal(r.name, f.pod, plan.Reason{Code: plan.TooManyRestarts, Message: message})
	}
	return goals
}

func (r *configuredStrategy) containers() podfilter.Containers {
	return podfilter.Containers{Init: r.args.InitContainers}
}

// state returns the state that the pod shares with the argument, and whether the pod matches. Without the argument,
// every pod matches.
func (r *configuredStrategy) state(p *corev1.Pod) (string, bool) {
	if len(r.args.States) == 0 {
		return "", true
	}
	if reason, ok := r.containers().Waiting(p, r.args.States); ok {
		return reason, true
	}
	phase := string(p.Status.Phase)
	return phase, slices.Contains(r.args.States, phase)
}
