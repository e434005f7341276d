package passes

import (
	"fmt"
	"strings"
	"time"
)

// Evictions of all passes.
func (r Record) Evictions() int { return r.total(func(p Pass) int { return p.Evictions }) }

func (r Record) total(of func(Pass) int) (n int) {
	for _, p := range r.Passes {
		n += of(p)
	}
	return n
}

// Figures are what can be asked of a course, by name.
//
//	again        share of evictions of replicas that were moved within the hour before
//	againSoon    evictions of replicas that were moved within the shortest back-off
//	duringBackoff       evictions of workloads that were to rest
//	landedElsewhere      share of evictions whose replacement landed where that was not accepted
//	overAtEnd    share of the goals about nodes with excess, mean of the last quarter
//	overWorst    the same, the worst single pass after the first quarter
//	evictionsToChurn  evictions beside pods that churn had placed, both after the first quarter
//	skewedAtEnd  skewed groups for each node, mean of the passes at full hours of the last quarter
//	lateToEarly  evictions an hour in the last half beside those of the first two hours
//	late         evictions of all passes but the first, beside all
//	pending      most pods that were Pending after a pass
func (r Record) Figures() map[string]float64 {
	evictions := float64(max(1, r.Evictions()))
	out := map[string]float64{
		"again":           float64(r.total(func(p Pass) int { return p.EvictedAgain })) / evictions,
		"againSoon":       float64(r.total(func(p Pass) int { return p.EvictedAgainSoon })),
		"duringBackoff":   float64(r.total(func(p Pass) int { return p.BackedOff })),
		"late":            1 - float64(r.Passes[0].Evictions)/evictions,
		"landedElsewhere": float64(r.total(func(p Pass) int { return p.LandedElsewhere })) / evictions,
	}
	settled := Record{Passes: r.Passes[len(r.Passes)/4:]}
	for _, p := range settled.Passes {
		out["overWorst"] = max(out["overWorst"], float64(p.Over)/float64(max(1, p.Goals)))
	}
	out["evictionsToChurn"] = float64(settled.Evictions()) / float64(max(1, settled.total(func(p Pass) int { return p.Placed })))
	last := r.Passes[len(r.Passes)*3/4:]
	hours := 0.0
	for _, p := range last {
		out["overAtEnd"] += float64(p.Over) / float64(max(1, p.Goals)) / float64(len(last))
		if p.At.Minute() == 0 {
			out["skewedAtEnd"] += float64(p.Skewed) / float64(p.Nodes)
			hours++
		}
	}
	out["skewedAtEnd"] /= max(1, hours)
	for _, p := range r.Passes {
		out["pending"] = max(out["pending"], float64(p.Pending))
	}
	early := Record{Passes: r.Passes[:min(len(r.Passes), max(1, int(2*time.Hour/r.Every)))]}
	late := Record{Passes: r.Passes[len(r.Passes)/2:]}
	out["lateToEarly"] = float64(late.Evictions()) / float64(len(late.Passes)) / max(1, float64(early.Evictions())) * float64(len(early.Passes))
	return out
}

// Table shows the course by stretches of up to an eighth of it.
func (r Record) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %6s %6s %9s %7s %6s %9s %6s %6s %7s %8s\n", "after", "nodes", "pods", "evictions", "landedElsewhere", "again", "againSoon", "over", "skewed", "pending", "std.dev.")
	step := max(1, len(r.Passes)/12)
	for i := 0; i < len(r.Passes); i += step {
		part := Record{Passes: r.Passes[i:min(len(r.Passes), i+step)]}
		end := part.Passes[len(part.Passes)-1]
		fmt.Fprintf(&b, "%-12s %6d %6d %9d %7d %6d %9d %6d %6d %7d %8.4f\n", end.At.Sub(r.Passes[0].At), end.Nodes, end.Pods, part.Evictions(),
			part.total(func(p Pass) int { return p.LandedElsewhere }), part.total(func(p Pass) int { return p.EvictedAgain }), part.total(func(p Pass) int { return p.EvictedAgainSoon }), end.Over, end.Skewed, end.Pending, end.StdDev)
	}
	return b.String()
}
