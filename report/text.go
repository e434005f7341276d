package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// number writes v with at most three decimals and without trailing zeros.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// categoryText describes a failure category: the effect of losing the worst zone. It points out a workload of one pod,
// because no eviction improves the category of such a workload.
func categoryText(w plan.WorkloadState) string {
	pods := 0
	for _, n := range w.Zones {
		pods += n
	}
	names := [...]string{"", "1 complete loss", "2 substantial", "3 noticeable", "4 minor"}
	switch c := w.FailureCategory; {
	case c == 1 && pods == 1:
		return "1 complete loss (it has one pod)"
	case c == 3 && !w.CategoryCertain:
		return "3 or 4 (usage unknown)"
	case c >= 1 && c < len(names):
		return names[c]
	}
	return "unknown"
}

// goalText describes the condition that a goal states.
func goalText(g plan.Goal) string {
	what := escape(g.Subject.String())
	if g.Group != "" {
		what += " (" + escape(g.Group) + ")"
	}
	switch g.Kind {
	case plan.NodeBelow:
		return fmt.Sprintf("%s of %s at most %s", resourceText(g), what, percent.Of(g.Limit))
	case plan.SkewAtMost:
		return fmt.Sprintf("%s: at most %s apart over %s", what, plural.Count(int(g.Limit), "pod"), escape(g.TopologyKey))
	case plan.PodsApart:
		return what + ": no pods that anti-affinity keeps apart share a domain"
	case plan.CountAtMost:
		return fmt.Sprintf("at most %s of %s on each value of %s", plural.Count(int(g.Limit), "pod"), what, escape(g.TopologyKey))
	case plan.NodeEmpty:
		return what + " empty"
	case plan.NoLowerRank:
		return what + " on no node that strategy " + escape(g.Strategy) + " ranks lower"
	case plan.PodAway:
		if g.MayReturn {
			return what + " " + leavingWords(g).done
		}
		return what + " away from " + cmp.Or(escape(g.From), "its node")
	}
	return escape(string(g.Kind)) + " " + what
}

// resourceText writes the resource of a goal. Goals on measured usage say "used".
func resourceText(g plan.Goal) string {
	if g.Basis == plan.BasisLoad {
		return escape(g.Resource) + " used"
	}
	return escape(g.Resource)
}

// excessText writes an excess over the limit of a goal, in the unit of the goal.
func excessText(g plan.Goal, v float64) string {
	switch {
	case g.AtLeast:
		return "at least " + plural.Count(int(v), "conflict")
	case v <= tiny:
		return "met"
	case g.Kind == plan.NodeBelow:
		now, _ := percent.Pair(g.Limit+v, g.Limit)
		return now + " (" + percent.Of(v) + " over)"
	case g.Kind == plan.SkewAtMost: // skew is the number of pods that goalText calls apart
		return "skew " + number(g.Limit+v) + " (" + number(v) + " over)"
	}
	if g.Kind == plan.PodsApart {
		return plural.Count(int(v), "conflict")
	}
	return podsToMoveText(int(math.Ceil(v)), leavingWords(g).toDo)
}

// tiny is smaller than the rounding of the planner. The report treats values up to tiny as zero.
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
	case plan.InProgress:
		return "in the background"
	}
	return escape(string(k))
}

// reasonText writes the message, followed by the reason code in parentheses.
func reasonText(r plan.Reason) string {
	switch {
	case r.Code == "":
		return escape(r.Message)
	case r.Message == "":
		return escape(string(r.Code))
	}
	return escape(r.Message) + " (" + escape(string(r.Code)) + ")"
}

func orDash(s string) string { return cmp.Or(s, "-") }

// zoneNames returns all zones of the plan, sorted.
func zoneNames(p plan.Plan) []string {
	seen := map[string]int{}
	for _, s := range []plan.State{p.Before, p.After} {
		for _, n := range s.Nodes {
			if n.Zone != "" {
				seen[n.Zone]++
			}
		}
		for _, w := range s.Workloads {
			maps.Copy(seen, w.Zones) // "" is for pods on nodes without a zone
		}
	}
	return sortedKeys(seen)
}

// podsPerZone writes pod counts per zone: as 2/2/2 in the order of zones if a heading can name all zones, and otherwise
// as name:count.
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
			parts = append(parts, fmt.Sprintf("%s:%d", escape(z), pods[z]))
		}
	}
	return orDash(strings.Join(parts, " "))
}

// maxZoneColumns is the number of zones that a heading can name.
const maxZoneColumns = 6

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
