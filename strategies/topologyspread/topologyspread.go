// Package topologyspread states one goal for each topology spread constraint that pods declare.
//
// The package decides which pods, nodes and domains a constraint counts, by the rules of kube-scheduler. It never
// selects the pods to move.
package topologyspread

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// Args are the arguments of the strategy.
type Args struct {
	// WhenUnsatisfiable lists the values of whenUnsatisfiable whose constraints have goals:
	// DoNotSchedule, ScheduleAnyway or both.
	WhenUnsatisfiable []string `json:"whenUnsatisfiable"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

var actions = []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{WhenUnsatisfiable: actions[:1:1]}
	errs := arg.Decode(raw, &a)
	if len(errs) > 0 {
		return strategy.Strategy{}, errs
	}
	if len(a.WhenUnsatisfiable) == 0 {
		errs = append(errs, arg.Error{Path: "whenUnsatisfiable", Message: "is empty (want [DoNotSchedule], [ScheduleAnyway] or both)"})
	}
	for i, action := range a.WhenUnsatisfiable {
		path := fmt.Sprintf("whenUnsatisfiable[%d]", i)
		switch {
		case !slices.Contains(actions, action):
			errs = append(errs, arg.Error{Path: path, Message: fmt.Sprintf("%q is unknown%s (want %s)", action,
				suggest.DidYouMean(action, actions), strings.Join(actions, " or "))})
		case slices.Contains(a.WhenUnsatisfiable[:i], action):
			errs = append(errs, arg.Error{Path: path, Message: fmt.Sprintf("%q is listed twice", action)})
		}
	}
	t := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: t.goals, Declared: true}, errs
}

// goals returns one goal, met or not, for each constraint that a running pod in scope declares. Constraints that allow
// the same share the goal if they count the same pods and nodes, whatever their selectors look like. A goal counts all
// pods that the constraint counts, whether they declare it or not.
//
// There is no goal for a constraint that its pods cannot violate: it counts at most maxSkew pods, or it has one domain
// and no minDomains. There is no goal either for a constraint that does not select the pods that declare it, because it
// says where these pods may run, not how the counted pods are spread.
func (t *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	f := newFinder(s, t.scope)
	for i := range s.Pods {
		p := &s.Pods[i]
		if len(p.Object.Spec.TopologySpreadConstraints) > 0 && topology.IsRunning(p) && !p.BelongsToNode() && t.scope.HasPod(s, p) {
			f.addConstraints(p, t.args.WhenUnsatisfiable)
		}
	}
	var goals []plan.Goal
	stated := map[sameGoal]bool{}
	for _, c := range f.constraints {
		if c.declaredBy == nil {
			continue
		}
		g, ok := f.goal(c)
		same := sameGoal{c.pods.first, c.nodes, c.topologyKey, c.maxSkew, g.Kind}
		if ok && !stated[same] {
			stated[same] = true
			g.Strategy = t.name
			goals = append(goals, g)
		}
	}
	return goals
}
