package descheduler

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
)

// result is what one product did in one cluster or, as a sum, in many.
type result struct {
	evictions int
	// left is the number of violations after the replacements have landed.
	left int
	// pending is the number of replacements that no node takes.
	pending int
	// back and again are ineffective evictions: the replacement is on the node that the pod left, or violates the rule.
	back, again int
}

func (a *result) add(b result) {
	a.evictions, a.left, a.pending, a.back, a.again = a.evictions+b.evictions, a.left+b.left, a.pending+b.pending, a.back+b.back, a.again+b.again
}

func (a result) String() string {
	return fmt.Sprintf("evict %d left %d pending %d back %d again %d", a.evictions, a.left, a.pending, a.back, a.again)
}

// runUntilQuiet runs cycles until one evicts nothing, but at most maxCycles, and counts what the rule finds afterwards.
// evict returns the names of the pods that a cycle evicts, in order.
func runUntilQuiet(t *testing.T, seed uint64, o *cluster.Objects, p *policy, opts placement.Options, evict func(o *cluster.Objects) []string) (out result) {
	t.Helper()
	r, before := rand.New(rand.NewPCG(seed, 7)), o
	for range *maxCycles {
		evicted := evict(o)
		if len(evicted) == 0 {
			break
		}
		after := replace(t, r, o, opts, evicted)
		f := p.find(before, after.o)
		out.evictions += len(evicted)
		out.pending = 0
		for name, l := range after.landings {
			switch {
			case l.to == "":
				out.pending++
			case l.to == l.from:
				out.back++
			case f.pods[name]:
				out.again++
			}
		}
		o = after.o
	}
	out.left = p.find(before, o).violations
	return out
}

var maxCycles, clusters = flag.Int("cycles", 1, ""), flag.Uint64("clusters", 40, "")

func TestRandom(t *testing.T) {
	now := time.Now()
	only := os.Getenv("PLUGIN")
	for _, plugin := range slices.Sorted(maps.Keys(scenarios)) {
		if only != "" && only != plugin {
			continue
		}
		start := time.Now()
		var ours, theirs result
		before, worse := 0, ""
		for seed := range *clusters {
			r := rand.New(rand.NewPCG(seed, 1))
			p := newPolicy(r, plugin)
			o := newCluster(r, p, now)
			extra := ""
			if plugin == "HighNodeUtilization" {
				extra = mostAllocated
			}
			c := convertPolicy(t, p.text(t), extra)
			opts := c.PlannerOptions().Placement
			a := runUntilQuiet(t, seed, o, p, opts, func(o *cluster.Objects) []string { return movedPods(planPolicy(t, o, c)) })
			b := runUntilQuiet(t, seed, o, p, opts, func(o *cluster.Objects) []string { return runPeer(t, o, p.text(t)) })
			before += p.find(o, o).violations
			ours.add(a)
			theirs.add(b)
			if a.left > b.left || a.evictions > b.evictions {
				worse += fmt.Sprintf("\n  seed %d: before %d ours %v theirs %v", seed, p.find(o, o).violations, a, b)
			}
		}
		t.Log(plugin, before, "\nours", ours, "\ntheirs", theirs, time.Since(start), worse)
	}
}
