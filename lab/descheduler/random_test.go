package descheduler

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

var (
	clusters = flag.Uint64("clusters", 60, "number of random clusters for each plugin")
	firstRun = flag.Uint64("seed", 0, "seed of the first cluster of each plugin")
	onlyFor  = flag.String("plugin", "", "compare only for this plugin")
	show     = flag.String("show", "", "compare nothing: print the cluster of this plugin and of -seed, and what both products do in it")
)

// maxCycles is the largest number of cycles in one cluster. Some clusters never come to rest,
// because the scheduler sends the pods back that the descheduler evicts.
const maxCycles = 5

// result is what one product did in one cluster or, as a sum, in many.
type result struct {
	evictions int
	// left is the number of violations after the last cycle.
	left int
	// pending is the number of replacements that no node takes in the end.
	pending int
	// back and again are ineffective evictions: the replacement is on the node that the pod left,
	// or on another one where it violates the rule.
	back, again int
}

func (a *result) add(b result) {
	a.evictions, a.left, a.pending = a.evictions+b.evictions, a.left+b.left, a.pending+b.pending
	a.back, a.again = a.back+b.back, a.again+b.again
}

func (a result) String() string {
	return fmt.Sprintf("evictions %d, left %d, pending %d, back %d, again %d", a.evictions, a.left, a.pending, a.back, a.again)
}

// TestRandomClusters lets both products run in random clusters until they evict nothing, and
// compares the violations that they leave, and their evictions.
func TestRandomClusters(t *testing.T) {
	if *show != "" {
		showCluster(t, *show, *firstRun)
		return
	}
	t.Logf("| plugin | clusters | violations before | evictions | violations left | back on its node | violates again | Pending |")
	var ours, theirs result // of the plugins that balance
	worse, all := 0, 0
	for _, plugin := range slices.Sorted(maps.Keys(scenarios)) {
		if *onlyFor != "" && *onlyFor != plugin {
			continue
		}
		a, b, more := compareFor(t, plugin)
		worse, all = worse+more, all+int(*clusters)
		if slices.Contains(balancing, plugin) {
			ours.add(a)
			theirs.add(b)
		}
	}
	t.Logf("plugins that balance: ours: %v; theirs: %v", ours, theirs)
	t.Logf("in %d of %d clusters, more violations are left than the descheduler leaves", worse, all)
	if float64(worse) > maxWorseFrac*float64(all) {
		t.Errorf("in %d of %d clusters, more violations are left than the descheduler leaves; want at most %.0f%%", worse, all, 100*maxWorseFrac)
	}
	if float64(ours.evictions) > 0.9*float64(theirs.evictions) {
		t.Errorf("%d evictions for plugins that balance, want at most 0.9 of the descheduler's %d", ours.evictions, theirs.evictions)
	}
}

// balancing are the plugins that balance, which together must need at most 0.9 of the descheduler's
// evictions.
var balancing = append([]string{"RemovePodsViolatingInterPodAntiAffinity"}, balancePlugins...)

// maxWorseFrac is the largest share of the clusters in which more violations may be left than the
// descheduler leaves. In such clusters, no further eviction helps by itself. The descheduler evicts
// anyway, and the landings of these replacements change what the scheduler does with the next ones.
const maxWorseFrac = 0.04

func compareFor(t *testing.T, plugin string) (ours, theirs result, worse int) {
	before := 0
	for seed := *firstRun; seed < *firstRun+*clusters; seed++ {
		p, o := randomCase(plugin, seed)
		a, b, last := compareIn(t, seed, o, p)
		before += p.find(o).violations
		ours.add(a)
		theirs.add(b)
		if a.left > b.left {
			worse++
			t.Logf("%s, seed %d: ours: %v; theirs: %v; rejected: %v", plugin, seed, a, b, last.Rejections.Counts)
		}
	}
	t.Logf("| %s | %d | %d | %d / %d | %d / %d | %d / %d | %d / %d | %d / %d |", plugin, *clusters, before, ours.evictions, theirs.evictions,
		ours.left, theirs.left, ours.back, theirs.back, ours.again, theirs.again, ours.pending, theirs.pending)
	// The order of maps decides which pods the descheduler evicts, so its figures vary between runs.
	if ours.left > theirs.left+before/100 {
		t.Errorf("%s: %d violations left; the descheduler leaves %d", plugin, ours.left, theirs.left)
	}
	most := theirs.evictions
	if !slices.Contains(balancing, plugin) {
		// A further violation that is repaired may need two evictions, because a move can first make room.
		most += 2 * (theirs.left - ours.left)
	}
	if ours.evictions > most {
		t.Errorf("%s: %d evictions, want at most %d; the descheduler has %d", plugin, ours.evictions, most, theirs.evictions)
	}
	return ours, theirs, worse
}

// compareIn runs both products in one cluster. last is our last plan.
func compareIn(t *testing.T, seed uint64, o *cluster.Objects, p *policy) (ours, theirs result, last plan.Plan) {
	text := p.text(t)
	c := convertPolicy(t, text, p.scheduler())
	opts := c.PlannerOptions().Placement
	ours = runUntilQuiet(t, seed, o, p, opts, func(o *cluster.Objects) []string {
		last = planPolicy(t, o, c)
		return movedPods(last)
	})
	theirs = runUntilQuiet(t, seed, o, p, opts, func(o *cluster.Objects) []string { return runPeer(t, o, text) })
	return ours, theirs, last
}

// runUntilQuiet runs cycles until one evicts nothing, but at most maxCycles, and counts what the
// rule finds afterwards. evict returns the names of the pods that a cycle evicts, in order.
func runUntilQuiet(t *testing.T, seed uint64, o *cluster.Objects, p *policy, opts placement.Options, evict func(o *cluster.Objects) []string) (out result) {
	t.Helper()
	r, first := rand.New(rand.NewPCG(seed, 7)), o
	for range maxCycles {
		evicted := evict(o)
		if len(evicted) == 0 {
			break
		}
		after := replace(t, r, o, opts, evicted)
		f := p.find(withPendingBack(first, after.o))
		out.evictions, out.pending = out.evictions+len(evicted), 0
		for name, l := range after.landings {
			switch {
			case l.to == "":
				out.pending++
			case l.to == l.from:
				out.back++
			case l.from != "" && f.pods[name]:
				out.again++
			}
		}
		o = after.o
	}
	out.left = p.find(withPendingBack(first, o)).violations
	return out
}

// TestPoliciesAreRandom checks that the policies differ, and that the descheduler accepts them, so
// that the comparison is about more than one policy.
func TestPoliciesAreRandom(t *testing.T) {
	for plugin := range scenarios {
		texts := map[string]bool{}
		for seed := range uint64(40) {
			text := newPolicy(rand.New(rand.NewPCG(seed, 1)), plugin).text(t)
			texts[text] = true
			if !strings.Contains(text, plugin) {
				t.Errorf("no %s in\n%s", plugin, text)
			}
		}
		if len(texts) < 20 {
			t.Errorf("%s: only %d policies of 40 differ", plugin, len(texts))
		}
	}
}
