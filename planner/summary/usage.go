package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// resourceUsage is the usage of one resource on the nodes after the planned moves. Nodes with unknown usage are left
// out.
type resourceUsage struct {
	resource string
	of       map[cluster.NodeID]float64 // share of the node's total
	used     float64                    // sum over these nodes; total likewise
	total    float64
}

func usageByResource(c *search.Result) []resourceUsage {
	var out []resourceUsage
	for _, r := range c.Snapshot.Usage.Resources() {
		a := c.Snapshot.Amounts(cluster.Measure{ByUsage: true, Resource: r}, c.Options.Guards.Scope.Usage)
		change := map[cluster.NodeID]int64{}
		for _, m := range c.PodMoves() {
			if c.Snapshot.Pods[m.Pod].Terminal {
				continue
			}
			change[m.From] -= a.Contribution(m.Pod, m.From)
			if m.To != cluster.NoNode {
				change[m.To] += a.Contribution(m.Pod, m.To)
			}
		}
		u := resourceUsage{resource: r, of: map[cluster.NodeID]float64{}}
		for i := range c.Snapshot.Nodes {
			n := cluster.NodeID(i)
			used, _, known := a.NodeUsed(n)
			if total := a.Total(n); known && total > 0 {
				now := float64(max(0, used+change[n]))
				u.of[n] = now / float64(total)
				u.used, u.total = u.used+now, u.total+float64(total)
			}
		}
		if len(u.of) > 0 {
			out = append(out, u)
		}
	}
	return out
}

func addUsage(c *search.Result, st *plan.State) {
	for _, u := range usageByResource(c) {
		fracs := make([]float64, 0, len(u.of))
		for i := range st.Nodes {
			f, known := u.of[cluster.NodeID(i)]
			if !known {
				continue
			}
			if st.Nodes[i].Used == nil {
				st.Nodes[i].Used = map[string]float64{}
			}
			st.Nodes[i].Used[u.resource] = plan.Round(f)
			fracs = append(fracs, f)
		}
		if st.Used == nil {
			st.Used = map[string]plan.Distribution{}
		}
		st.Used[u.resource] = newDistribution(fracs, u.used/u.total)
	}
}

// UsageOf returns the known usage of the node by resource after the moves, as a share of the node's total.
func UsageOf(c *search.Result, n *cluster.Node) map[string]float64 {
	var used map[string]float64
	for _, u := range usageByResource(c) {
		if f, known := u.of[n.ID]; known {
			if used == nil {
				used = map[string]float64{}
			}
			used[u.resource] = plan.Round(f)
		}
	}
	return used
}

// loadInput describes the usage data: source, age, and the share of nodes in scope with known usage. The problems
// name the goals and strategies that do not act because data is missing.
func loadInput(c *search.Result) (plan.Input, bool) {
	l, scope := c.Snapshot.Usage, c.Options.Guards.Scope
	if l == nil {
		return plan.Input{}, false
	}
	in := plan.Input{Source: sourceName(l.Raw), Statistic: describeStatistic(l.Raw),
		Age: c.Problem.Now.Sub(l.Raw.SampledAt).Round(time.Second).String(), Coverage: 1, Problems: []string{}}
	if l.Raw.SampledAt.IsZero() {
		in.Age = "never"
	}
	if len(l.Resources()) == 0 {
		in.Coverage = 0
	}
	for _, r := range l.Resources() {
		a := c.Snapshot.Amounts(cluster.Measure{ByUsage: true, Resource: r}, scope.Usage)
		known, all := a.Coverage(scope)
		if all > 0 {
			in.Coverage = min(in.Coverage, plan.Round(float64(known)/float64(all)))
		}
		switch {
		case !a.CoverageSufficient(scope):
			in.Problems = append(in.Problems, fmt.Sprintf("the usage of %s is known for %d of %d nodes in scope, fewer than load.minCoverage %v requires: no strategy uses it", r, known, all, scope.Usage.MinCoverage))
		case known < all:
			in.Problems = append(in.Problems, fmt.Sprintf("the usage of %s is known for %d of %d nodes in scope: the others have no goals", r, known, all))
		}
	}
	in.Problems = append(in.Problems, unmeasuredResources(c)...)
	in.Problems = append(in.Problems, waitingGoals(c)...)
	in.Problems = append(in.Problems, l.Raw.Problems...)
	if extra := len(in.Problems) - maxProblems; extra > 0 {
		in.Problems = append(in.Problems[:maxProblems:maxProblems], fmt.Sprintf("... and %d more", extra))
	}
	return in, true
}

func sourceName(u *cluster.Usage) string {
	if u.Source == "" {
		return "load"
	}
	return u.Source
}

// describeStatistic returns the statistic and time window of a Usage, or "" if unknown.
func describeStatistic(u *cluster.Usage) string {
	window := time.Duration(u.WindowSeconds * float64(time.Second))
	if u.Statistic == "" || u.Statistic == "latest" || window <= 0 {
		return u.Statistic
	}
	if window%time.Minute == 0 {
		return fmt.Sprintf("%s over %dm", u.Statistic, window/time.Minute)
	}
	return fmt.Sprintf("%s over %s", u.Statistic, window)
}

// unmeasuredResources describes the resources that strategies need and the source does not report. If the source
// reports no resource at all, the result is empty.
func unmeasuredResources(c *search.Result) []string {
	var out []string
	l, scope := c.Snapshot.Usage, c.Options.Guards.Scope
	for _, info := range listedStrategies(c) {
		for _, r := range info.ByLoad {
			if len(l.Resources()) > 0 && !slices.Contains(l.Resources(), r) {
				_, all := c.Snapshot.Amounts(cluster.Measure{ByUsage: true, Resource: r}, scope.Usage).Coverage(scope)
				out = append(out, fmt.Sprintf("the usage of %s is known for 0 of %d nodes in scope: strategy %s has no goal, not even for %s", r, all, info.Name, strings.Join(info.ByLoad, " or ")))
			}
		}
	}
	return out
}

// waitingGoals describes the goals that still wait for samples, with the reason.
func waitingGoals(c *search.Result) []string {
	var out []string
	for _, g := range c.End.Goals.Goals {
		if g.Wait.Code == plan.WaitsForSamples {
			out = append(out, fmt.Sprintf("strategy %s waits for %s, which is %s (%s)", g.Strategy, g.Subject.Name, g.Wait.Message, g.Resource))
		}
	}
	slices.Sort(out)
	return out
}

// newDistribution summarises fractions around the given mean, in which large nodes have more weight.
func newDistribution(fracs []float64, mean float64) plan.Distribution {
	var most, squares float64
	for _, f := range fracs {
		most = max(most, f)
		squares += (f - mean) * (f - mean)
	}
	return plan.Distribution{Max: plan.Round(most), Mean: plan.Round(mean), StdDev: plan.Round(math.Sqrt(squares / float64(len(fracs))))}
}
