package passes

import (
	"fmt"
	"strings"
	"time"
)

// Evictions returns the number of evictions in all passes.
func (r Record) Evictions() int { return r.total(func(p Pass) int { return p.Evictions }) }

func (r Record) total(of func(Pass) int) (n int) {
	for _, p := range r.Passes {
		n += of(p)
	}
	return n
}

// Figures returns the figures of a simulation by name.
//
//	again             share of evictions whose replica was also moved within the last hour
//	againSoon         evictions of replicas that were moved within the shortest backoff
//	duringBackoff     evictions of workloads in backoff
//	landedElsewhere   share of evictions whose replacement landed on a node that the plan does not accept
//	overAtEnd         share of node goals with excess, mean of the last quarter
//	overWorst         share of node goals with excess, worst pass after the first quarter
//	evictionsToChurn  evictions divided by the pods that churn scheduled, both after the first quarter
//	skewedAtEnd       skewed groups per node, mean of the hourly passes of the last quarter
//	lateToEarly       evictions per pass in the last half, divided by those of the first two hours
//	late              share of evictions after the first pass
//	pending           highest number of Pending pods after a pass
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
	out["lateToEarly"] = float64(late.Evictions()) / float64(len(late.Passes)) / max(1,
		float64(early.Evictions())) * float64(len(early.Passes))
	return out
}

// Table returns the course of the simulation as a table of about twelve rows.
func (r Record) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %6s %6s %9s %15s %6s %9s %6s %6s %7s %8s\n", "after", "nodes", "pods", "evictions", "landedElsewhere", "again",
		"againSoon", "over", "skewed", "pending", "std.dev.")
	step := max(1, len(r.Passes)/12)
	for i := 0; i < len(r.Passes); i += step {
		part := Record{Passes: r.Passes[i:min(len(r.Passes), i+step)]}
		end := part.Passes[len(part.Passes)-1]
		fmt.Fprintf(&b, "%-12s %6d %6d %9d %15d %6d %9d %6d %6d %7d %8.4f\n", end.At.Sub(r.Passes[0].At), end.Nodes, end.Pods, part.Evictions(),
			part.total(func(p Pass) int { return p.LandedElsewhere }), part.total(func(p Pass) int { return p.EvictedAgain }),
			part.total(func(p Pass) int { return p.EvictedAgainSoon }), end.Over, end.Skewed, end.Pending, end.StdDev)
	}
	return b.String()
}
