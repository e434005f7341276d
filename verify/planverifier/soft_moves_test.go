package planverifier_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const softSettings = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minConfidence: 0.1}
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
evictor: {inFlight: {total: 3, perNode: 3, perOwner: 1}}
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", soft: true, args: {target: {cpu: 0.4}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1}}
`

// TestSoftMovesKeepTheSpreads makes plans for a soft strategy on clusters in which ZoneSpread limits most of its moves.
func TestSoftMovesKeepTheSpreads(t *testing.T) {
	t.Parallel()
	soft := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 70))
		of := scenario.Scenario{Config: []byte(softSettings)}
		m := planFixedCase(t, simulation.Crowded(r, 6+r.IntN(3), 6+r.IntN(5), 4+r.IntN(6)), of)
		for _, x := range m.plan.Moves {
			if isSoft(&m, x) {
				soft++
			}
		}
		for _, v := range planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
		}
	}
	t.Logf("%d soft moves", soft)
	if soft < 60 {
		t.Errorf("%d soft moves are too few", soft)
	}
}
