package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// percent reads a fraction 0..1 as a percentage with at most one decimal.
func percent(frac float64) string {
	if math.IsNaN(frac) || math.IsInf(frac, 0) {
		return "unknown"
	}
	return number(math.Round(frac*1000)/10) + "%"
}

// number writes v without needless decimals, with at most three.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// count writes n with the noun in the number it needs.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// category words a failure category: what losing the worst zone does. Where
// there is one pod it says so: no eviction can better that.
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

// goalText says in words what a goal wants.
func goalText(g plan.Goal) string {
	what := safe(g.Subject.String())
	switch g.Kind {
	case plan.NodeBelow:
		return fmt.Sprintf("%s of %s at most %s", resourceOf(g), what, percent(g.Limit))
	case plan.SkewAtMost:
		return fmt.Sprintf("%s: at most %s apart over %s", what, count(int(g.Limit), "pod"), safe(g.TopologyKey))
	case plan.NodeEmpty:
		return what + " empty"
	case plan.PodGone:
		return what + " gone"
	}
	return safe(string(g.Kind)) + " " + what
}

// resourceOf is the resource of a goal, by load said as such.
func resourceOf(g plan.Goal) string {
	if g.Basis == plan.BasisLoad {
		return safe(g.Resource) + " used"
	}
	return safe(g.Resource)
}

// excess words how far a goal is from its limit, in the goal's own unit.
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

// tiny is below every rounding of the planner: less is none.
const tiny = 1e-9

// outcomeText says what became of a move.
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

// reasonText joins message and code: the sentence for people, the code to look up.
func reasonText(r plan.Reason) string {
	switch {
	case r.Code == "":
		return safe(r.Message)
	case r.Message == "":
		return safe(string(r.Code))
	}
	return safe(r.Message) + " (" + safe(string(r.Code)) + ")"
}

// orDash stands a dash for what does not apply.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// zoneNames are all zones of the plan, sorted.
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

// spread writes pods per zone: as 2/2/2 in the order of zones when those are few
// enough to stand in a heading, by name otherwise.
func spread(pods map[string]int, zones []string) string {
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

// maxZoneColumns is how many zones a heading names.
const maxZoneColumns = 6

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
