package limits

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Allowance is one limit with the number of evictions that count against the limit. Limits per hour also count the
// evictions of the last hour.
type Allowance struct {
	Code               plan.Code
	limit              plan.CountLimit
	podCount, Planned  int
	configKey, subject string
	lastHour           int
	workloadKind       string // kind of the workload that subject names
}

// Name returns the configuration key of the limit and its subject, for example a node or a namespace.
func (a Allowance) Name() string {
	switch a.Code {
	case plan.LimitPerNode:
		return a.configKey + " on " + a.subject
	case plan.LimitPerNamespace:
		return a.configKey + " in " + a.subject
	case plan.LimitPerHour:
		switch {
		case a.workloadKind != "":
			return a.configKey + " for " + a.workloadKind + " " + a.subject
		case a.subject != "":
			return a.configKey + " in " + a.subject
		}
	case plan.LimitPerZone:
		return a.configKey + " " + describeZone(a.subject)
	}
	return a.configKey
}

// allowedInPass returns the number of evictions that the limit allows in this pass.
func (a Allowance) allowedInPass() int { return a.limit.For(a.podCount) - a.lastHour }

// Left returns the number of further evictions that the limit allows in this pass.
func (a Allowance) Left() int { return a.allowedInPass() - a.Planned }

// Description says after the name how many evictions the limit allows. For a percentage, the text includes the number
// of pods.
func (a Allowance) Description() string {
	n := a.limit.For(a.podCount)
	switch {
	case n == math.MaxInt:
		return "is unlimited"
	case a.limit.String() == strconv.Itoa(n):
		return "allows " + plural.Count(n, "eviction")
	}
	return fmt.Sprintf("allows %s of %s, which is %s", a.limit, plural.Count(a.podCount, "pod"), plural.Count(n, "eviction"))
}

// For an hourly limit, LastHour describes the evictions of the last hour. For other limits, the result is "".
func (a Allowance) LastHour() string {
	if a.Code != plan.LimitPerHour {
		return ""
	}
	return fmt.Sprintf("; %d within the last hour", a.lastHour)
}

func (a Allowance) reason() plan.Reason {
	return plan.Reason{Code: a.Code, Message: fmt.Sprintf("%s %s%s; %d planned already", a.Name(), a.Description(),
		a.LastHour(), a.Planned)}
}

// NarrowKey returns the key of the limit that a rejection names, if it is a limit of a window or of
// a strategy. Otherwise the result is "".
func NarrowKey(r plan.Reason) string {
	if strategy, rest, ok := strings.Cut(r.Message, ": "); ok && strings.HasPrefix(r.Message, strategyPrefix) {
		key, _, _ := strings.Cut(rest, " ")
		return key + " of " + strategy
	}
	if key, _, _ := strings.Cut(r.Message, " "); strings.HasPrefix(key, windowPrefix) {
		return key
	}
	return ""
}

// Beginnings of the keys of limits in reasons.
const (
	strategyPrefix = "strategy "
	windowPrefix   = "windows."
)

func describeZone(zone string) string {
	if zone == "" {
		return "outside of zones"
	}
	return "in " + zone
}

func strictestExceeded(list []Allowance) (plan.Reason, bool) {
	var least *Allowance
	for i := range list {
		if a := &list[i]; a.Left() < 1 && (least == nil || a.allowedInPass() < least.allowedInPass()) {
			least = a
		}
	}
	if least == nil {
		return plan.Reason{}, false
	}
	return least.reason(), true
}

// podCounts counts pods for each subject of a limit.
type podCounts struct {
	all             int
	node            []int // by NodeID
	namespace       map[string]int
	workload        []int // by WorkloadID
	withoutWorkload int   // pods without a workload
	zone            map[string]int
}

func newPodCounts(s *cluster.Snapshot) podCounts {
	return podCounts{0, make([]int, len(s.Nodes)), map[string]int{}, make([]int, len(s.Workloads)), 0, map[string]int{}}
}

func (p podCounts) clone() podCounts {
	p.node, p.workload = slices.Clone(p.node), slices.Clone(p.workload)
	p.namespace, p.zone = maps.Clone(p.namespace), maps.Clone(p.zone)
	return p
}

// ofWorkload returns the count of a workload. All pods without a workload share one count.
func (p *podCounts) ofWorkload(w cluster.WorkloadID) int {
	if w == cluster.NoWorkload {
		return p.withoutWorkload
	}
	return p.workload[w]
}

func (p *podCounts) add(s *cluster.Snapshot, zone []string, pod *cluster.Pod, d int) {
	p.all += d
	p.node[pod.Node] += d
	p.namespace[pod.Object.Namespace] += d
	if pod.Workload == cluster.NoWorkload {
		p.withoutWorkload += d
	} else {
		p.workload[pod.Workload] += d
	}
	p.zone[zone[pod.Node]] += d
}
