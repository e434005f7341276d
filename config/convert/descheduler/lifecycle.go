package descheduler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
)

func (a *restartsArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	if a.PodRestartThreshold < 1 {
		s.fail("podRestartThreshold", "%d is too small, which the descheduler rejects (want 1 or more)", a.PodRestartThreshold)
	}
	s.arg("minRestarts", strconv.Itoa(a.PodRestartThreshold))
	s.argIf(a.IncludingInitContainers, "initContainers", "true")
	s.states(a.States, []string{"Running", "CrashLoopBackOff"})
}

// states converts the states of pods. known are those that the plugin accepts.
func (s *strategy) states(states, known []string) {
	states = unique(states)
	s.failArgs(podfilter.CheckStates("states", states, known))
	s.argIf(len(states) > 0, "states", flowList(states))
}

// failArgs adds the errors of the arguments of a strategy that have the same names in the plugin.
func (s *strategy) failArgs(errs []arg.Error) {
	for _, e := range errs {
		s.fail(e.Path, "%s", e.Message)
	}
}

func (a *podLifeTimeArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	if a.MaxPodLifeTimeSeconds == nil && len(a.States)+len(a.Conditions)+len(a.ExitCodes) == 0 && !s.hasErrors() {
		s.c.findings.fail(s.path, "want one of maxPodLifeTimeSeconds, states, conditions and exitCodes; the descheduler rejects this, too")
	}
	if n := a.MaxPodLifeTimeSeconds; n != nil {
		s.c.findings.checkNotNegative(s.path+".maxPodLifeTimeSeconds", *n)
		s.arg("maxAge", seconds(max(*n, 1)))
	} else {
		s.note("maxPodLifeTimeSeconds", "is missing, so pods younger than minAge stay (10m, unless they have ended); the descheduler "+
			"evicts such pods at once, also those that only start slowly")
	}
	s.states(a.States, podfilter.States())
	s.conditions(a.Conditions)
	s.argIf(len(a.ExitCodes) > 0, "exitCodes", flowInts(unique(a.ExitCodes)))
	s.owners(a.OwnerKinds)
	initContainers := len(a.States)+len(a.ExitCodes) > 0
	s.argIf(a.IncludingInitContainers && initContainers, "initContainers", "true")
	s.argIf(a.IncludingEphemeralContainers && len(a.States) > 0, "ephemeralContainers", "true")
	if a.IncludingInitContainers && !initContainers {
		s.note("includingInitContainers", "no effect without states and exitCodes; so it is not kept")
	}
	if a.IncludingEphemeralContainers && len(a.States) == 0 {
		s.note("includingEphemeralContainers", "no effect without states; so it is not kept")
	}
	a.rejectHealthyPods(s)
	if len(a.States) == 0 {
		a.addEndedPods(s)
	} else if slices.Contains(a.States, "Succeeded") || slices.Contains(a.States, "Failed") {
		s.noteEndedPods()
	}
}

// addEndedPods adds a second strategy. Without states, the plugin also evicts pods that have ended,
// but Lifetime only if states contains their phases.
func (a *podLifeTimeArgs) addEndedPods(s *strategy) {
	ended := s.sibling("Ended")
	ended.args = slices.DeleteFunc(ended.args, func(e yamlEntry) bool { return e.key == "maxAge" })
	if age := max(secondsOf(a.MaxPodLifeTimeSeconds), s.profile.guards.minPodAge); age > 0 {
		ended.args = slices.Insert(ended.args, 0, yamlEntry{"maxAge", config.Duration(age).String()})
	}
	ended.args = append(ended.args, yamlEntry{"states", "[Succeeded, Failed]"})
	ended.note("states", "without it, the descheduler also evicts pods that have ended. This strategy does so, by these states; remove it if you do not want that")
	ended.noteEndedPods()
}

// noteEndedPods says which guards do not protect pods that have ended.
func (s *strategy) noteEndedPods() {
	if s.profile.guards.minReplicas > 1 || s.profile.guards.minPodAge > 0 {
		s.note("", "guards.minReplicas and guards.minPodAge do not protect pods that have ended; those of the descheduler do")
	}
}

// rejectHealthyPods rejects arguments that every healthy pod matches: each run would evict all of them.
func (a *podLifeTimeArgs) rejectHealthyPods(s *strategy) {
	if a.MaxPodLifeTimeSeconds != nil || len(a.ExitCodes) > 0 {
		return
	}
	running := slices.Index(a.States, "Running")
	healthy := slices.IndexFunc(a.Conditions, func(f conditionFilter) bool {
		return f.counterpart().MatchesHealthyPods()
	})
	switch {
	case len(a.States) > 0 && running < 0, len(a.Conditions) > 0 && healthy < 0:
	case len(a.States) > 0:
		s.fail(fmt.Sprintf("states[%d]", running),
			"every healthy pod is Running, so each run of the descheduler evicts all of them; Evenkeel does not do that (want maxPodLifeTimeSeconds, too)")
	case len(a.Conditions) > 0:
		s.fail(fmt.Sprintf("conditions[%d]", healthy),
			"every healthy pod has this condition, so each run of the descheduler evicts all of them; Evenkeel does not do that "+
				"(want status: \"False\", maxPodLifeTimeSeconds or minTimeSinceLastTransitionSeconds, too)")
	}
}

// owners converts ownerKinds and excludeOwnerKinds.
func (s *strategy) owners(k *ownerKinds) {
	if k == nil {
		return
	}
	var entries []yamlEntry
	switch {
	case len(k.Include) > 0 && len(k.Exclude) > 0:
		s.fail("ownerKinds", "include and exclude are both set, which the descheduler rejects (want one of them)")
	case len(k.Include) > 0:
		entries = []yamlEntry{{"include", flowList(k.Include)}}
	case len(k.Exclude) > 0:
		entries = []yamlEntry{{"exclude", flowList(k.Exclude)}}
	default:
		return
	}
	s.arg("ownerKinds", flowMap(entries))
}

func (s *strategy) excludeOwnerKinds(kinds []string) {
	s.failArgs(renamed(podfilter.OwnerKinds{Exclude: kinds}.Check("excludeOwnerKinds"), ".exclude[", "["))
	s.owners(&ownerKinds{Exclude: kinds})
	for _, workload := range []string{"Deployment", "CronJob"} {
		if slices.Contains(kinds, workload) {
			s.note("excludeOwnerKinds", "%s also excludes the pods of its controllers; the descheduler looks only at the owners of the pod", workload)
		}
	}
}

func renamed(errs []arg.Error, from, to string) []arg.Error {
	for i := range errs {
		errs[i].Path = strings.Replace(errs[i].Path, from, to, 1)
	}
	return errs
}

// conditions converts the filters of conditions.
func (s *strategy) conditions(filters []conditionFilter) {
	converted := make([]podfilter.Condition, len(filters))
	for i, f := range filters {
		if f.MinTimeSinceLastTransitionSeconds != nil {
			s.c.findings.checkNotNegative(fmt.Sprintf("%s.conditions[%d].minTimeSinceLastTransitionSeconds", s.path, i), *f.MinTimeSinceLastTransitionSeconds)
		}
		converted[i] = f.counterpart()
	}
	s.failArgs(podfilter.CheckConditions("conditions", converted))
	s.argIf(len(filters) > 0, "conditions", flowConditions(filters))
}

func (f conditionFilter) counterpart() podfilter.Condition {
	return podfilter.Condition{Type: f.Type, Status: f.Status, Reason: f.Reason,
		MinTimeSinceTransition: arg.Duration(secondsOf(f.MinTimeSinceLastTransitionSeconds))}
}

func flowConditions(filters []conditionFilter) string {
	items := make([]string, len(filters))
	for i, f := range filters {
		var entries []yamlEntry
		for _, e := range []yamlEntry{{"type", f.Type}, {"status", f.Status}, {"reason", f.Reason}} {
			if e.value != "" {
				entries = append(entries, yamlEntry{e.key, quote(e.value)})
			}
		}
		if n := f.MinTimeSinceLastTransitionSeconds; n != nil {
			entries = append(entries, yamlEntry{"minTimeSinceTransition", seconds(*n)})
		}
		items[i] = flowMap(entries)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

const defaultMinPodLifetime = 3600

func (a *failedPodsArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	n := defaultMinPodLifetime
	if a.MinPodLifetimeSeconds != nil {
		n = *a.MinPodLifetimeSeconds
		s.c.findings.checkNotNegative(s.path+".minPodLifetimeSeconds", n)
	}
	s.arg("minAge", config.Duration(max(secondsOf(&n), s.profile.guards.minPodAge)).String())
	s.note("minPodLifetimeSeconds", "counts from the failure of the pod; the descheduler counts from its creation")
	if s.profile.guards.minPodAge > secondsOf(&n) {
		s.note("minPodLifetimeSeconds", "minPodAge of DefaultEvictor is longer, so minAge has that value")
	}
	s.noteEndedPods()
	reasons := unique(a.Reasons)
	s.failArgs(podfilter.CheckReasons("reasons", reasons))
	s.argIf(len(reasons) > 0, "reasons", flowList(reasons))
	s.argIf(len(a.ExitCodes) > 0, "exitCodes", flowInts(unique(a.ExitCodes)))
	s.excludeOwnerKinds(a.ExcludeOwnerKinds)
	filters := len(a.Reasons)+len(a.ExitCodes) > 0
	s.argIf(a.IncludingInitContainers && filters, "initContainers", "true")
	if a.IncludingInitContainers && !filters {
		s.note("includingInitContainers", "no effect without reasons and exitCodes; so it is not kept")
	}
}

// unique returns the values without repetitions, which mean nothing to the descheduler.
func unique[T comparable](values []T) []T {
	var out []T
	for _, n := range values {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
