// Package lifetime states one goal for each pod that is too old, or that is in an unwanted state: the pod leaves. Its
// replacement may run on any node.
//
// The package decides which pods match its arguments, and in which order they should leave. It never decides whether a
// pod may leave.
package lifetime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy. A pod must match every argument that is set. It matches a list if it matches
// one element.
type Args struct {
	// MaxAge is the age, counted from its creation, above which a pod matches.
	MaxAge arg.Duration `json:"maxAge"`
	// MinAge is the age below which a pod that has not ended does not match. Without MaxAge, a replacement would
	// otherwise match while it still starts.
	MinAge arg.Duration `json:"minAge"`
	// States are phases of pods, and reasons in the status of pods and of their containers.
	States []string `json:"states"`
	// Conditions match the conditions of a pod.
	Conditions []podfilter.Condition `json:"conditions"`
	// ExitCodes are those of terminated containers. Ephemeral containers never count.
	ExitCodes []int `json:"exitCodes"`
	// OwnerKinds selects pods by the kinds of their owners.
	OwnerKinds podfilter.OwnerKinds `json:"ownerKinds"`
	// InitContainers makes init containers count in States and ExitCodes. Sidecars are init containers.
	InitContainers bool `json:"initContainers"`
	// EphemeralContainers makes ephemeral containers count in States.
	EphemeralContainers bool `json:"ephemeralContainers"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// defaultMinAge is MinAge if the arguments set neither MinAge nor MaxAge. Most pods start within this time.
const defaultMinAge = arg.Duration(10 * time.Minute)

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	const unset = -1
	a := Args{MinAge: unset}
	errs := arg.Decode(raw, &a)
	switch {
	case a.MinAge != unset && a.MaxAge > 0:
		errs = append(errs, arg.Errorf("minAge", "has no effect beside maxAge (want one of them)"))
	case a.MinAge == unset && a.MaxAge > 0:
		a.MinAge = 0
	case a.MinAge == unset:
		a.MinAge = defaultMinAge
	}
	if len(errs) == 0 && a.MaxAge == 0 && len(a.States) == 0 && len(a.Conditions) == 0 && len(a.ExitCodes) == 0 {
		errs = append(errs, arg.Errorf("",
			"would match every pod (want maxAge, states, conditions or exitCodes, such as maxAge: 24h)"))
	}
	check := func(path string, found []arg.Error) {
		if !arg.Reported(errs, path) {
			errs = append(errs, found...)
		}
	}
	check("states", podfilter.CheckStates("states", a.States, podfilter.States()))
	check("conditions", podfilter.CheckConditions("conditions", a.Conditions))
	check("exitCodes", podfilter.CheckExitCodes("exitCodes", a.ExitCodes))
	check("ownerKinds", a.OwnerKinds.Check("ownerKinds"))
	switch {
	case len(a.States) > 0:
	case a.EphemeralContainers:
		errs = append(errs, arg.Errorf("ephemeralContainers",
			"has no effect without states (want states, or leave the key out)"))
	case a.InitContainers && len(a.ExitCodes) == 0:
		errs = append(errs, arg.Errorf("initContainers",
			"has no effect without states and exitCodes (want one of them, or leave the key out)"))
	}
	if len(errs) == 0 {
		errs = a.checkHealthyPods()
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals, Warnings: i.warnings(), WhyNoGoal: i.whyNoGoal}, errs
}

// checkHealthyPods returns an error if every healthy running pod matches the arguments, and so every replacement would.
func (a Args) checkHealthyPods() []arg.Error {
	running := slices.Index(a.States, string(corev1.PodRunning))
	healthy := slices.IndexFunc(a.Conditions, func(c podfilter.Condition) bool { return c.Status != "" && c.MatchesHealthyPods() })
	switch {
	case !a.matchesHealthyPods() || running < 0 && healthy < 0:
		return nil
	case running >= 0:
		return []arg.Error{arg.Errorf(fmt.Sprintf("states[%d]", running),
			"every healthy pod is Running, so each replacement would be evicted again (remove it, or add maxAge, such as maxAge: 24h)")}
	}
	return []arg.Error{arg.Errorf(fmt.Sprintf("conditions[%d]", healthy),
		"every healthy pod has this condition, so each replacement would be evicted again (want status: \"False\", or add "+
			"minTimeSinceTransition or maxAge, such as maxAge: 24h)")}
}

// matchesHealthyPods reports whether every healthy running pod of any age matches the arguments, except for OwnerKinds
// and MinAge.
func (a Args) matchesHealthyPods() bool {
	return a.MaxAge == 0 && len(a.ExitCodes) == 0 &&
		(len(a.States) == 0 || slices.Contains(a.States, string(corev1.PodRunning))) &&
		(len(a.Conditions) == 0 || slices.ContainsFunc(a.Conditions, podfilter.Condition.MatchesHealthyPods))
}

// warnings returns the arguments that are valid but match more pods than the user probably wants.
func (l *configuredStrategy) warnings() []arg.Error {
	i := slices.IndexFunc(l.args.Conditions, podfilter.Condition.MatchesHealthyPods)
	if i < 0 || !l.args.matchesHealthyPods() {
		return nil
	}
	return []arg.Error{arg.Errorf(fmt.Sprintf("conditions[%d]", i),
		"without a status it also matches every healthy pod, so each pod is replaced again once it is older than %s (want status: \"False\", "+
			"or add minTimeSinceTransition or maxAge)", l.args.MinAge)}
}

// goals returns one unmet PodAway goal for each pod that matches the arguments. The oldest pod comes first. Pods that
// have ended have goals only if States contains their phase or a reason in their status.
func (l *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	var found []*cluster.Pod
	reasons := map[cluster.PodID]plan.Reason{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if why, ok := l.match(s, p); ok && podfilter.InScope(s, l.scope, p) { // InScope takes longer
			found = append(found, p)
			reasons[p.ID] = plan.Reason{Code: plan.PodExpired, Message: p.Object.Name + " " + why}
		}
	}
	slices.SortStableFunc(found, podfilter.Older)
	goals := make([]plan.Goal, len(found))
	for i, p := range found {
		goals[i] = podfilter.Goal(l.name, p, reasons[p.ID])
		if p.Terminal {
			goals[i].Removal = plan.ByEviction
		}
	}
	return goals
}

// whyNoGoal says why the strategy does not remove a pod that has ended. It returns "" if the
// strategy states a goal about it.
func (l *configuredStrategy) whyNoGoal(s *cluster.Snapshot, p *cluster.Pod) string {
	if _, listed := l.containers().State(p.Object, l.args.States); !listed {
		return "states contains neither " + string(p.Object.Status.Phase) + " nor a reason of the pod"
	}
	if why := podfilter.WhyOutOfScope(s, l.scope, p); why != "" {
		return why
	}
	if _, ok := l.match(s, p); ok {
		return ""
	}
	return "the pod does not match maxAge, conditions, exitCodes or ownerKinds"
}

// match describes why the pod matches all arguments that are set, such as "is 26h old, above 24h, and in state Failed".
func (l *configuredStrategy) match(s *cluster.Snapshot, p *cluster.Pod) (why string, ok bool) {
	if p.Terminal && len(l.args.States) == 0 || !l.args.OwnerKinds.Match(s, p) {
		return "", false
	}
	var parts []string
	age, known := podfilter.Age(p, s.TakenAt)
	if l.args.MinAge > 0 && !p.Terminal && (!known || age < time.Duration(l.args.MinAge)) {
		return "", false
	}
	if l.args.MaxAge > 0 {
		if !known || age <= time.Duration(l.args.MaxAge) {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("is %s old, above %s", podfilter.RoundAge(age), l.args.MaxAge))
	}
	containers := l.containers()
	if len(l.args.States) > 0 {
		state, ok := containers.State(p.Object, l.args.States)
		if !ok {
			return "", false
		}
		parts = append(parts, "has the state "+state)
	}
	if len(l.args.Conditions) > 0 {
		condition, ok := podfilter.MatchCondition(p.Object, l.args.Conditions, s.TakenAt)
		if !ok {
			return "", false
		}
		parts = append(parts, "has the condition "+condition)
	}
	if len(l.args.ExitCodes) > 0 {
		containers.Ephemeral = false
		code, ok := containers.ExitCode(p.Object, l.args.ExitCodes)
		if !ok {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("has a container with exit code %d", code))
	}
	return strings.Join(parts, ", and "), true
}

// containers selects the containers that count in States.
func (l *configuredStrategy) containers() podfilter.Containers {
	return podfilter.Containers{Init: l.args.InitContainers, Ephemeral: l.args.EphemeralContainers}
}
