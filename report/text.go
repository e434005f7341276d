package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// percent writes a fraction 0..1 as a percentage with at most one decimal.
func percent(frac float64) string {
	if math.IsNaN(frac) || math.IsInf(frac, 0) {
		return "unknown"
	}
	return number(math.Round(frac*1000)/10) + "%"
}

// number writes v with at most three decimals and without trailing zeros.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// count writes n and the noun, with an s unless n is 1.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// category writes a failure category: the effect of losing the worst zone. It points
// out a workload of one pod, because no eviction improves that category.
func category(w plan.WorkloadState) string {
	pods := 0
	for _, n := range w.Zones {
		pods += n
	}
	switch {
	case w.FailureCategory == 1 && pods == 1:
		return "1 complete loss (it has one pod)"
	case w.FailureCategory == 3 && !w.CategoryCertain:
		return "3 or 4 (usage unknown)"
	case w.FailureCategory == 1:
		return "1 complete loss"
	case w.FailureCategory == 2:
		return "2 substantial"
	case w.FailureCategory == 3:
		return "3 noticeable"
	case w.FailureCategory == 4:
		return "4 minor"
	}
	return "unknown"
}

// goalText writes what a goal wants.
func goalText(g plan.Goal) string {
	what := safe(g.Subject.String())
	switch g.Kind {
	case plan.NodeBelow:
		return fmt.Sprintf("%s of %s at most %s", resourceText(g), what, percent(g.Limit))
	case plan.SkewAtMost:
		return fmt.Sprintf("%s: at most %s apart over %s", what, count(int(g.Limit), "pod"), safe(g.TopologyKey))
	case plan.NodeEmpty:
		return what + " empty"
	case plan.PodGone:
		return what + " gone"
	}
	return safe(string(g.Kind)) + " " + what
}

// resourceText writes the resource of a goal. Goals on measured usage say "used".
func resourceText(g plan.Goal) string {
	if g.Basis == plan.BasisLoad {
		return safe(g.Resource) + " used"
	}
	return safe(g.Resource)
}

// excess writes by how much a goal exceeds its limit, in the unit of the goal.
func excess(g plan.Goal, v float64) string {
	switch {
	case v <= tiny:
		return "met"
	case g.Kind == plan.NodeBelow:
		return percent(v) + " over"
	case g.Kind == plan.SkewAtMost:
		return number(v) + " over"
	}
	return count(int(math.Ceil(v)), "pod") + " left"
}

// tiny is smaller than the rounding of the planner. Values up to tiny count as zero.
const tiny = 1e-9

// outcomeText writes the outcome of a move.
func outcomeText(k plan.OutcomeKind) string {
	switch k {
	case plan.WouldEvict:
		return "would evict"
	case plan.AlreadyGone:
		return "already gone"
	case plan.UnknownOutcome:
		return "outcome unknown"
	}
	return safe(string(k))
}

// reasonText writes the message, followed by the reason code in parentheses.
func reasonText(r plan.Reason) string {
	switch {
	case r.Code == "":
		return safe(r.Message)
	case r.Message == "":
		return safe(string(r.Code))
	}
	return safe(r.Message) + " (" + safe(string(r.Code)) + ")"
}

// orDash returns s, or a dash if s is empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// zoneNames returns all zones of the plan, sorted.
func zoneNames(p plan.Plan) []string {
	seen := map[string]bool{}
	for _, s := range []plan.State{p.Before, p.After} {
		for _, n := range s.Nodes {
			if n.Zone != "" {
				seen[n.Zone] = true
			}
		}
		for _, w := range s.Workloads {
			for z := range w.Zones {
				seen[z] = true
			}
		}
	}
	return sortedKeys(seen)
}

// podsPerZone writes pod counts per zone: as 2/2/2 in the order of zones if a heading
// can name all zones, or else as name:count.
func podsPerZone(pods map[string]int, zones []string) string {
	if pods == nil {
		return "-"
	}
	var parts []string
	if len(zones) <= maxZoneColumns {
		for _, z := range zones {
			parts = append(parts, strconv.Itoa(pods[z]))
		}
		return strings.Join(parts, "/")
	}
	for _, z := range sortedKeys(pods) {
		if pods[z] > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", safe(z), pods[z]))
		}
	}
	return orDash(strings.Join(parts, " "))
}

// maxZoneColumns is the number of zones that a heading can name.
const maxZoneColumns = 6

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
