package guard

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestWhenAnEventFailedCreateCounts checks which FailedCreate events protect the pods of a workload from eviction. The
// time of the snapshot is 2026-01-02T00:00:00Z.
func TestWhenAnEventFailedCreateCounts(t *testing.T) {
	createdAt := func(pod, at string) string {
		return "- {kind: Pod, metadata: {name: " + pod + ", creationTimestamp: \"" + at + "\"}}\n"
	}
	event := func(fields string) string {
		return "- {kind: Event, metadata: {name: e}, " + fields + "}\n"
	}
	const minutesAgo = "lastTimestamp: \"2026-01-01T23:50:00Z\", "
	const about = "involvedObject: {kind: StatefulSet, namespace: shop, name: db, uid: StatefulSet/shop/db}"
	tenMinutesAgo := eventEntry("db", "2026-01-01T23:50:00Z")
	for name, c := range map[string]struct {
		objects string
		refused bool
	}{
		"no event":                       {"", false},
		"ten minutes ago":                {eventEntry("db", "2026-01-01T23:50:00Z"), true},
		"half an hour ago":               {eventEntry("db", "2026-01-01T23:30:00Z"), true},
		"longer ago":                     {eventEntry("db", "2026-01-01T23:29:59Z"), false},
		"a clock that is ahead":          {eventEntry("db", "2026-01-02T00:10:00Z"), true},
		"another StatefulSet":            {eventEntry("other", "2026-01-01T23:50:00Z"), false},
		"a pod was created later":        {tenMinutesAgo + createdAt("db-2", "2026-01-01T23:50:01Z"), false},
		"a pod was created at that time": {tenMinutesAgo + createdAt("db-2", "2026-01-01T23:50:00Z"), false},
		"a pod was created at that time, and one is missing": {tenMinutesAgo + createdAt("db-2", "2026-01-01T23:50:00Z") +
			"- {kind: StatefulSet, metadata: {name: db}, spec: {replicas: 6}}\n", true},
		"a pod was created at that time, and one terminates": {tenMinutesAgo + createdAt("db-2", "2026-01-01T23:50:00Z") +
			"- {kind: Pod, metadata: {name: db-1, deletionTimestamp: \"2026-01-01T23:59:59Z\"}}\n", true},
		"a pod was created before":      {tenMinutesAgo + createdAt("db-2", "2026-01-01T23:49:59Z"), true},
		"another pod was created later": {tenMinutesAgo + createdAt("web-6c8f-00", "2026-01-01T23:51:00Z"), true},
		"two events, the later one counts": {event("reason: FailedCreate, lastTimestamp: \"2026-01-01T23:55:00Z\", "+about) +
			eventEntry("db", "2026-01-01T23:40:00Z") + createdAt("db-2", "2026-01-01T23:50:00Z"), true},
		"another reason": {event("reason: FailedDelete, " + minutesAgo + about), false},
		"an earlier object": {event("reason: FailedCreate, " + minutesAgo +
			"involvedObject: {kind: StatefulSet, namespace: shop, name: db, uid: old}"), false},
		"eventTime": {event("reason: FailedCreate, eventTime: \"2026-01-01T23:50:00.000001Z\", " + about), true},
		"a series": {event("reason: FailedCreate, eventTime: \"2026-01-01T22:00:00.000001Z\", " +
			"series: {count: 9, lastObservedTime: \"2026-01-01T23:50:00.000001Z\"}, " + about), true},
		"only a creation time": {"- {kind: Event, metadata: {name: e, creationTimestamp: \"2026-01-01T23:50:00Z\"}, " +
			"reason: FailedCreate, " + about + "}\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range []string{"db-0", "web-6c8f-01"} {
				got := reasonsFor(t, refusal{pod: pod, objects: setObject + c.objects})
				refused := slices.ContainsFunc(got, func(r plan.RuleResult) bool { return r.Code == plan.ReplacementRefused && !r.Allows })
				if refused != (c.refused && pod == "db-0") {
					t.Errorf("%s: %v", pod, got)
				}
			}
		})
	}
}
