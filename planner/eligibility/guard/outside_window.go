package guard

import (
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The windows of the config and all that the pod was given must be open. When
// that is next is said of all of them together.
var outsideWindow = Rule{plan.OutsideWindow, podScope, func(in Input) (string, bool) {
	if why, open := in.Options.Windows.Open(in.Now); !open {
		return why + " (windows); " + in.opening(), true
	}
	for _, w := range in.asked().Windows {
		if why, open := w.Windows.Open(in.Now); !open {
			return why + " (" + w.Source.String() + "); " + in.opening(), true
		}
	}
	return "", false
}}

// AllowedUntil is when the windows that are open now close for this pod; zero
// when that is more than a day ahead.
func AllowedUntil(in Input) time.Time {
	return remember(in, func(m *Cache) map[string]time.Time { return m.ends }, func(all []cron.Windows) time.Time {
		var end time.Time
		for _, w := range all {
			if u := w.Until(in.Now); !u.IsZero() && (end.IsZero() || u.Before(end)) {
				end = u
			}
		}
		return end
	})
}

// opening says when evictions may happen next.
func (in Input) opening() string {
	return remember(in, func(m *Cache) map[string]string { return m.openings }, func(all []cron.Windows) string {
		return cron.DescribeNextOpening(in.Now, all...)
	})
}

// Cache keeps what many pods share and what is costly to find out: of windows, and
// of workloads.
type Cache struct {
	// Annotations is what is known of annotations.
	Annotations *annotation.Cache
	openings    map[string]string
	ends        map[string]time.Time
	sets        map[setsKey]int
	workloads   map[cluster.WorkloadID]numbers
	leans       *leans
	// free are nodes, and by workload pods, of which no rule refuses all pods.
	free struct {
		nodes []bool
		kin   []kin
	}
}

// numbers of a workload's pods: those that stay, and those of them that are available.
type numbers struct{ staying, available int }

// NewCache remembers nothing yet.
func NewCache() *Cache {
	return &Cache{Annotations: annotation.NewCache(), openings: map[string]string{}, ends: map[string]time.Time{}, sets: map[setsKey]int{}, workloads: map[cluster.WorkloadID]numbers{}}
}

// numbers counts the pods of a workload.
func (in Input) numbers(w *cluster.Workload) numbers {
	if in.Cache == nil {
		return numbers{staying(in.Snapshot, w), AvailableOf(in.Snapshot, w, in.Now)}
	}
	n, known := in.Cache.workloads[w.ID]
	if !known {
		n = numbers{staying(in.Snapshot, w), AvailableOf(in.Snapshot, w, in.Now)}
		in.Cache.workloads[w.ID] = n
	}
	return n
}

// remember finds something out of all windows of the pod, once for all pods
// with the same.
func remember[T any](in Input, of func(*Cache) map[string]T, find func([]cron.Windows) T) T {
	all := []cron.Windows{in.Options.Windows}
	for _, w := range in.asked().Windows {
		all = append(all, w.Windows)
	}
	if in.Cache == nil {
		return find(all)
	}
	var key strings.Builder
	for _, set := range all[1:] { // the first are the same for all pods
		for _, w := range set.Allow {
			key.WriteString(w.String() + ";")
		}
		key.WriteByte('\n')
	}
	known := of(in.Cache)
	got, ok := known[key.String()]
	if !ok {
		got = find(all)
		known[key.String()] = got
	}
	return got
}
