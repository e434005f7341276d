package podfilter

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Phases are the phases of a pod.
var Phases = []string{string(corev1.PodPending), string(corev1.PodRunning), string(corev1.PodSucceeded),
	string(corev1.PodFailed), string(corev1.PodUnknown)}

// reasons are the reasons that Kubernetes gives for the state of a pod or of a container.
var reasons = []string{
	// The reason in the status of a pod.
	"Evicted", "NodeAffinity", "NodeLost", "NodeShutdown", "Shutdown", "Terminated", "UnexpectedAdmissionError",
	"Preempting", "OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage",
	// The reason for which a container waits.
	"ContainerCreating", "PodInitializing", "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError",
	"ErrImageNeverPull", "ErrImagePull", "ImageInspectError", "ImagePullBackOff", "InvalidImageName",
	"PostStartHookError", "RunContainerError",
	// The reason for which a container terminated.
	"Completed", "ContainerCannotRun", "ContainerStatusUnknown", "DeadlineExceeded", "Error", "OOMKilled", "StartError",
}

// maxListed limits how many known states a message lists.
const maxListed = 5

// CheckStates checks that each state is a known phase or reason. A misspelled state would silently match no pod.
func CheckStates(path string, states, known []string) (errs []arg.Error) {
	for i, s := range states {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case slices.Contains(states[:i], s):
			errs = append(errs, arg.Errorf(at, "%q occurs twice", s))
		case !slices.Contains(known, s):
			want := "one of " + strings.Join(known, ", ")
			if len(known) > maxListed {
				want = "a phase such as Failed, or a reason such as CrashLoopBackOff"
			}
			errs = append(errs, arg.Errorf(at, "unknown state %q%s (want %s)", s, suggest.DidYouMean(s, known), want))
		}
	}
	return errs
}

// States returns the phases and reasons that CheckStates can accept.
func States() []string { return slices.Concat(Phases, reasons) }

// CheckReasons checks that each reason is one word. It accepts unknown words, because container runtimes have reasons
// of their own, but not a known word with another capitalization.
func CheckReasons(path string, list []string) (errs []arg.Error) {
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		known := slices.IndexFunc(reasons, func(k string) bool { return strings.EqualFold(k, r) })
		switch {
		case r == "" || strings.ContainsFunc(r, func(c rune) bool { return c <= ' ' }):
			errs = append(errs, arg.Errorf(at, "%q is not a reason (want one word, such as Evicted)", r))
		case slices.Contains(list[:i], r):
			errs = append(errs, arg.Errorf(at, "%q occurs twice", r))
		case known >= 0 && reasons[known] != r:
			errs = append(errs, arg.Errorf(at, "unknown reason %q (did you mean %s?)", r, reasons[known]))
		}
	}
	return errs
}

// CheckExitCodes checks that no exit code occurs twice. Containers on Windows have negative ones.
func CheckExitCodes(path string, codes []int) (errs []arg.Error) {
	for i, c := range codes {
		if slices.Contains(codes[:i], c) {
			errs = append(errs, arg.Errorf(fmt.Sprintf("%s[%d]", path, i), "%d occurs twice", c))
		}
	}
	return errs
}

// Check checks the lists of kinds.
func (k OwnerKinds) Check(path string) (errs []arg.Error) {
	if len(k.Include) > 0 && len(k.Exclude) > 0 {
		errs = append(errs, arg.Errorf(path, "want either include or exclude, not both"))
	}
	for _, list := range [...]struct {
		key   string
		kinds []string
	}{{"include", k.Include}, {"exclude", k.Exclude}} {
		for i, kind := range list.kinds {
			if kind == "" || strings.ContainsAny(kind, "/. ") || kind[0] < 'A' || kind[0] > 'Z' {
				at := fmt.Sprintf("%s.%s[%d]", path, list.key, i)
				errs = append(errs, arg.Errorf(at, "%q is not a kind (want one word, such as Deployment)", kind))
			}
		}
	}
	return errs
}

// CheckConditions checks that each filter has a value, and that Evenkeel keeps the conditions that it matches.
func CheckConditions(path string, filters []Condition) (errs []arg.Error) {
	statuses := []string{string(corev1.ConditionTrue), string(corev1.ConditionFalse), string(corev1.ConditionUnknown)}
	for i, f := range filters {
		at := fmt.Sprintf("%s[%d]", path, i)
		if f == (Condition{}) {
			errs = append(errs, arg.Errorf(at,
				"matches every condition (want type, status, reason or minTimeSinceTransition)"))
		}
		if f.Status != "" && !slices.Contains(statuses, f.Status) {
			errs = append(errs, arg.Errorf(at+".status", "unknown status %q%s (want one of %s)", f.Status,
				suggest.DidYouMean(f.Status, statuses), strings.Join(statuses, ", ")))
		}
		if f.Status == string(corev1.ConditionTrue) && f.Reason == "" && cluster.IsStartupConditionType(corev1.PodConditionType(f.Type)) {
			errs = append(errs, arg.Errorf(at+".type",
				"%s is True for every running pod, so Evenkeel does not read it without a reason (want status: \"False\", a reason such as PodCompleted, or another type such as DisruptionTarget)", f.Type))
		}
	}
	return errs
}
