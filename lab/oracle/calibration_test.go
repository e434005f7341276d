package oracle

import (
	"flag"
	"math"
	"math/rand"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	corev1 "k8s.io/api/core/v1"
)

var placementCount = flag.Int("oracle.placements", 20_000, "pods to place on clusters of 100 to 2,000 nodes; -short divides by ten")

// probabilityBin collects events with similar predicted probabilities.
type probabilityBin struct {
	count, hits int
	predicted   float64 // sum of the predicted probabilities
}

// calibration compares the predicted probability of node groups with the observed frequency of the scheduler's
// choices.
type calibration struct {
	bins             [10]probabilityBin
	sampled, certain int
}

func (c *calibration) addEvent(p float64, hit bool) {
	b := &c.bins[min(int(p*10), 9)]
	b.count++
	b.predicted += p
	if hit {
		b.hits++
	}
}

// expectedError returns the expected calibration error: the mean, weighted by events, of the difference between
// predicted and observed probability per bin.
func (c *calibration) expectedError() float64 {
	sum, n := 0.0, 0
	for _, b := range c.bins {
		sum += math.Abs(b.predicted - float64(b.hits))
		n += b.count
	}
	return sum / float64(n)
}

// TestSampledPlacementIsCalibrated places pods on clusters of 100 to 2,000 nodes with the scheduler's complete
// algorithm. This includes node sampling, the rotating start and the choice among equal nodes. The node groups are
// drawn from the predictions, so that all probabilities occur. The scheduler does not know the groups. The test
// cannot see that the scheduler prefers one of several equal nodes, because every one of them is equally often in a
// group.
func TestSampledPlacementIsCalibrated(t *testing.T) {
	if *oldScheduler != "" {
		t.Skip("only the scheduler version of this process runs its complete algorithm")
	}
	want := *placementCount
	if testing.Short() {
		want /= 10
	}
	c, done := &calibration{}, 0
	for seed := *firstSeed; done < want; seed++ {
		done += c.placeOnCluster(t, seed, min(want-done, 150))
	}
	t.Logf("%d placements, %d from a sample, %d with only one possible node", done, c.sampled, c.certain)
	t.Log("predicted     mean  observed   count")
	for i, b := range c.bins {
		t.Logf("%.1f to %.1f   %.3f     %.3f  %6d", float64(i)/10, float64(i+1)/10,
			b.predicted/float64(b.count), float64(b.hits)/float64(b.count), b.count)
		if b.count < want/40 {
			t.Errorf("%d placements in the bin that starts at %.1f, want at least %d", b.count, float64(i)/10, want/40)
		}
	}
	limit := 0.03
	if testing.Short() {
		limit = 0.06 // a tenth of the cases has about three times the random error
	}
	t.Logf("expected calibration error %.4f", c.expectedError())
	if c.expectedError() > limit {
		t.Errorf("the expected calibration error is %.4f, want at most %.2f", c.expectedError(), limit)
	}
	if c.sampled < done/3 {
		t.Errorf("only %d of %d placements used a node sample, want at least a third", c.sampled, done)
	}
}

// placeOnCluster places the replacements of some pods of one cluster.
func (c *calibration) placeOnCluster(t *testing.T, seed int64, most int) (done int) {
	t.Helper()
	o := generateLargeCluster(seed)
	w := newModel(t, o)
	s := newSamplingScheduler(t, o, seed)
	rnd := rand.New(rand.NewSource(seed))
	for _, i := range rnd.Perm(len(w.Cluster.Snap.Pods)) {
		p := &w.Cluster.Snap.Pods[i]
		if done == most {
			break
		}
		if p.Terminating || p.Node == cluster.NoNode {
			continue
		}
		pr := w.Predict(p.ID)
		if pr.UnsupportedReason != "" {
			t.Fatalf("cluster %d: %s is not supported: %s", seed, p.Object.Name, pr.UnsupportedReason)
		}
		gone := rnd.Intn(2) == 0
		state := pr.Terminating
		pr.WeightGone = 0
		if gone {
			state, pr.WeightGone = pr.Gone, 1
		}
		node := s.nodeForReplacement(t, o, p.Object, gone)
		if (node == "") != (len(state.Feasible) == 0) {
			t.Errorf("cluster %d, %s: the scheduler chose %q of %d feasible nodes", seed, p.Object.Name, node, len(state.Feasible))
		}
		if node == "" {
			continue
		}
		group := drawGroup(rnd, state)
		c.addEvent(pr.Prob(func(n cluster.NodeID) bool { return group[n] }), group[w.Cluster.Snap.NodeByName(node).ID])
		done++
		if state.Odds != nil {
			c.sampled++
		}
		if len(state.Winners) == 1 {
			c.certain++
		}
	}
	return done
}

// drawGroup returns random winners whose total probability is close to a random number.
func drawGroup(rnd *rand.Rand, s prediction.State) map[cluster.NodeID]bool {
	want, sum := rnd.Float64(), 0.0
	group := map[cluster.NodeID]bool{}
	for _, i := range rnd.Perm(len(s.Winners)) {
		if odd := s.WinnerProb(i); sum+odd <= want+odd*rnd.Float64() {
			group[s.Winners[i]] = true
			sum += odd
		}
	}
	return group
}

// generateLargeCluster returns a cluster of 100 to 2,000 nodes with several hundred pods. Every third cluster has
// more than 300 nodes. The cluster mostly uses features whose scores depend on the other nodes of a sample.
func generateLargeCluster(seed int64) *cluster.Objects {
	g := &generatedCluster{Rand: rand.New(rand.NewSource(seed)), themes: map[string]bool{}}
	for _, theme := range []string{"taints", "affinity", "terms", "spread", "images"} {
		g.themes[theme] = g.chance(0.4)
	}
	g.objects.ServerVersion = serverVersion()
	for _, name := range []string{"ns0", "ns1"} {
		n := &corev1.Namespace{}
		n.Name, n.Labels = name, map[string]string{"team": g.oneOf("x", "y")}
		g.objects.Namespaces = append(g.objects.Namespaces, n)
	}
	alike := g.chance(0.5)
	nodes := 100 + g.Intn(201)
	if seed%3 == 2 {
		nodes = 300 + g.Intn(1701)
	}
	for i := range nodes {
		g.addNode(i)
		n := g.objects.Nodes[i]
		if alike && i > 0 {
			n.Status.Allocatable, n.Status.Capacity = g.objects.Nodes[0].Status.Allocatable, g.objects.Nodes[0].Status.Capacity
		}
	}
	for i := range 60 + g.Intn(100) {
		g.addApp(i)
	}
	return &g.objects
}
