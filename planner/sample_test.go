package planner_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestLargeClustersArePlannedByOdds: on 240 nodes, the scheduler samples 117 feasible nodes (49 %). Over all samples,
// the landing of each move is acceptable with at least guards.minConfidence. Landings rejected as uncertain have a
// lower probability. In each explanation, the probabilities of the nodes add up to those of the pod.
func TestLargeClustersArePlannedByOdds(t *testing.T) {
	conf := configWithTwoStrategies(t)
	s, p := planRandomCluster(t, nodesWithRareEmptyOnes(), conf)
	opts := conf.PlannerOptions()
	e := planner.New(opts).Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	unsure := 0
	for _, m := range p.Moves {
		if m.Confidence < opts.MinConfidence || m.Confidence+m.ReturnProbability+m.PendingProbability > 1.0001 {
			t.Errorf("%s: confidence %v, returnProbability %v, pendingProbability %v", m.Pod, m.Confidence, m.ReturnProbability,
				m.PendingProbability)
		}
		if m.Confidence < 1 {
			unsure++
		}
	}
	if len(p.Moves) < 10 || unsure == 0 {
		t.Errorf("%d moves, %d of them with confidence below 1; want at least 10, and 1", len(p.Moves), unsure)
	}
	refused := 0
	for id := range s.Pods {
		if l := e.Pod(cluster.PodID(id)).Pods[0].Landing; moreFeasibleThanSample(l) {
			checkProbabilitiesSumToOne(t, s, &s.Pods[id], l)
			if l.Verdict.Code == plan.UncertainLanding || l.Verdict.Code == plan.WouldReturn {
				refused++
				if l.Confidence >= opts.MinConfidence {
					t.Errorf("%s: refused as %s with confidence %v", s.Pods[id].Object.Name, l.Verdict.Code, l.Confidence)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no landing is uncertain")
	}
}

// nodesWithRareEmptyOnes returns a cluster of 240 nodes. About one node in 20 is almost empty, and wins in every
// sample that contains it, whatever its zone.
func nodesWithRareEmptyOnes() *cluster.Objects {
	r := rand.New(rand.NewPCG(3, 5))
	return addFillerPods(simulation.Crowded(r, 240, 16, 12), func() int64 { return int64(100 * (r.IntN(10) + 50*min(r.IntN(20), 1))) })
}

// moreFeasibleThanSample reports whether more than 117 nodes, the size of a sample, are feasible.
func moreFeasibleThanSample(l plan.Landing) bool {
	fits := 0
	for _, n := range l.Nodes {
		if strings.HasPrefix(n.Detail, "scores") {
			fits++
		}
	}
	return fits > 117
}

func checkProbabilitiesSumToOne(t *testing.T, s *cluster.Snapshot, p *cluster.Pod, l plan.Landing) {
	t.Helper()
	all, good, back := l.PendingProbability, 0.0, 0.0
	for _, n := range l.Nodes {
		all += n.Probability
		if n.Acceptable {
			good += n.Probability
		}
		if n.Name == s.Nodes[p.Node].Name {
			back = n.Probability
		}
		if strings.Contains(n.Detail, "the best") || !strings.Contains(n.Detail,
			"of which the scheduler judges 117 at a time") && strings.Contains(n.Detail, "scores") {
			t.Fatalf("%s on %s: %q", p.Object.Name, n.Name, n.Detail)
		}
	}
	// The tolerance covers the rounding of 240 values.
	if math.Abs(all-1) > 0.01 || math.Abs(good-l.Confidence) > 0.01 && len(l.Verdict.Code) == 0 || math.Abs(back-l.ReturnProbability) > 0.001 {
		t.Errorf("%s: the probabilities sum to %.4f for all nodes, %.4f for acceptable nodes and %.4f for its own node; want confidence %v, returnProbability %v", p.Object.Name, all, good, back, l.Confidence, l.ReturnProbability)
	}
}

// TestSampledShareIsTheProfiles: if the profile scores all nodes, fewer nodes are possible than if it scores 50 %.
func TestSampledShareIsTheProfiles(t *testing.T) {
	possible := func(percent int) int {
		s := must.Get(cluster.New(nodesWithRareEmptyOnes()))(t)
		profile := scheduler.DefaultProfile()
		profile.PercentageOfNodesToScore = percent
		w := placement.NewClusterModel(s, placement.Options{Profiles: map[string]scheduler.Profile{"default-scheduler": profile}})
		return len(w.Predict(s.PodByKey("ns1/d00001-x-00").ID).Possible())
	}
	if all, half := possible(100), possible(50); all >= half {
		t.Errorf("%d nodes are possible if all are scored, %d if half are scored", all, half)
	}
}
