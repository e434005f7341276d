package descheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
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

// judge evicts pods and counts what the rule finds afterwards.
func judge(t *testing.T, seed uint64, o *cluster.Objects, p *policy, evicted []string, now time.Time) result {
	after := replace(t, rand.New(rand.NewPCG(seed, 7)), o, placement.Options{}, evicted, now)
	f := p.find(after.o, now)
	out := result{evictions: len(evicted), left: f.violations}
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
	return out
}

func TestPeerAlone(t *testing.T) {
	now := time.Now()
	for _, plugin := range slices.Sorted(maps.Keys(scenarios)) {
		start := time.Now()
		var sum result
		before := 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			o := newCluster(r, plugin, now)
			p := newPolicy(r, plugin)
			before += p.find(o, now).violations
			sum.add(judge(t, seed, o, p, runPeer(t, o, p.text(t)), now))
		}
		t.Log(plugin, before, sum, time.Since(start))
	}
}
