package podfilter

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Condition matches a condition of a pod that has all the values. An empty value matches all conditions.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	// MinTimeSinceTransition is the shortest time since the status of the condition changed.
	MinTimeSinceTransition arg.Duration `json:"minTimeSinceTransition"`
}

// MatchCondition describes the first condition of the pod that one of the filters matches. It ignores the conditions of
// cluster.IsStartupCondition.
func MatchCondition(p *corev1.Pod, filters []Condition, now time.Time) (text string, ok bool) {
	for _, f := range filters {
		for i := range p.Status.Conditions {
			c := &p.Status.Conditions[i]
			if cluster.IsStartupCondition(c) || !f.matches(c, now) {
				continue
			}
			text = fmt.Sprintf("%s=%s", Shorten(string(c.Type)), Shorten(string(c.Status)))
			if c.Reason != "" {
				text += " (" + Shorten(c.Reason) + ")"
			}
			if age, known := since(c.LastTransitionTime.Time, now); known && f.MinTimeSinceTransition > 0 {
				text += " for " + RoundAge(age)
			}
			return text, true
		}
	}
	return "", false
}

// MatchesHealthyPods reports whether every running and ready pod matches the filter, whatever its age. A filter without
// a status matches every status.
func (f Condition) MatchesHealthyPods() bool {
	ofAll := f.Type == "" || f.Type == string(corev1.PodReady) || f.Type == string(corev1.PodScheduled)
	return ofAll && (f.Status == "" || f.Status == string(corev1.ConditionTrue)) && f.Reason == "" && f.MinTimeSinceTransition == 0
}

func (f Condition) matches(c *corev1.PodCondition, now time.Time) bool {
	accepts := func(want, has string) bool { return want == "" || want == has }
	if !accepts(f.Type, string(c.Type)) || !accepts(f.Status, string(c.Status)) || !accepts(f.Reason, c.Reason) {
		return false
	}
	if f.MinTimeSinceTransition == 0 {
		return true
	}
	age, known := since(c.LastTransitionTime.Time, now)
	return known && age >= time.Duration(f.MinTimeSinceTransition)
}

// maxShown limits how many characters of a text from the status of a pod a message repeats.
const maxShown = 64

// Shorten returns at most the first 64 characters of a text.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return text
}

// RoundAge writes an age in hours and minutes, or in seconds below one hour.
func RoundAge(age time.Duration) string {
	unit := time.Minute
	if age < time.Hour {
		unit = time.Second
	}
	return arg.Duration(age.Truncate(unit)).String()
}
