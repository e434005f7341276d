package guard

import (
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The windows of the configuration and all windows in annotations must be open. The message contains the next time at
// which all of these windows are open.
var outsideWindow = Rule{plan.OutsideWindow, PodScope, func(in Input) (string, bool) {
	if !in.ownerPassed { // the windows of the configuration are the same for all pods
		if why, open := in.Options.Windows.Open(in.Now); !open {
			return why + " (windows); " + nextOpening(in), true
		}
	}
	for _, w := range in.podAnnotations().Windows {
		if why, open := w.Windows.Open(in.Now); !open {
			return why + " (" + w.Source.String() + "); " + nextOpening(in), true
		}
	}
	return "", false
}}

// AllowedUntil returns the time at which the first of the pod's open windows closes. It returns the zero time if no
// window closes within a day.
func AllowedUntil(in Input) time.Time {
	find := func(windows []cron.Windows) time.Time {
		var end time.Time
		for _, w := range windows {
			if u := w.Until(in.Now); !u.IsZero() && (end.IsZero() || u.Before(end)) {
				end = u
			}
		}
		return end
	}
	return cachedByWindows(in, func(c *Cache) map[string]time.Time { return c.closings }, find)
}

// nextOpening describes the next time at which evictions of the pod are allowed.
func nextOpening(in Input) string {
	find := func(windows []cron.Windows) string { return cron.DescribeNextOpening(in.Now, windows...) }
	return cachedByWindows(in, func(c *Cache) map[string]string { return c.nextOpenings }, find)
}

// cachedByWindows calls find with all windows of the pod, once for all pods with equal windows.
func cachedByWindows[T any](in Input, results func(*Cache) map[string]T, find func([]cron.Windows) T) T {
	windows := []cron.Windows{in.Options.Windows}
	for _, w := range in.podAnnotations().Windows {
		windows = append(windows, w.Windows)
	}
	var key strings.Builder
	for _, set := range windows[1:] { // all pods have the windows of the configuration
		for _, w := range set.Allow {
			key.WriteString(w.String() + ";")
		}
		key.WriteByte('\n')
	}
	cached := results(in.Cache)
	result, ok := cached[key.String()]
	if !ok {
		result = find(windows)
		cached[key.String()] = result
	}
	return result
}
