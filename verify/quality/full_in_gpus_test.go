package quality

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestSwapSearchHelpsWhereGPUsAreFull plans on clusters in which pods request 98 % of the GPUs and 59 % of the
// CPU. Plans with displaced moves must leave fewer goals unmet than plans without them.
func TestSwapSearchHelpsWhereGPUsAreFull(t *testing.T) {
	conf := must.Get(config.Load("c", fmt.Appendf(nil, balanceConfig, "0.8", 1, "none")))(t)
	conf.Guards.MinReplicas = 1
	clusters := 10
	if *longRun {
		clusters = 100
	}
	var with, without int
	for seed := range clusters {
		s := must.Get(cluster.New(simulation.FullInGPUs(rand.New(rand.NewPCG(uint64(seed), 5)), 40)))(t)
		p := problem{seed, s, conf, nil}
		with += countUnmet(p.plan())
		without += countUnmet(p.withoutSteps(t).plan())
	}
	t.Logf("unmet goals in %d clusters: %d with displaced moves, %d without", clusters, with, without)
	if with >= without {
		t.Errorf("%d goals stay unmet with displaced moves, %d without; want fewer with them", with, without)
	}
}

// countUnmet returns the number of goals that a plan leaves unmet.
func countUnmet(p plan.Plan) int {
	n := 0
	for _, g := range p.Goals {
		if !g.Constraint && p.After.Excess[g.ID] > 0 {
			n++
		}
	}
	return n
}
