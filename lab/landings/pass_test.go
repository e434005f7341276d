package landings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// The size of the unbalanced cluster. Pods request 250m on average; a node has 10 CPU.
const (
	podsPerApp        = 20
	podsPerNode       = 20 // on average
	podsPerHotNode    = 34 // 8.5 CPU on average
	podsPerMiddleNode = 22 // 5.5 CPU: most of these nodes have no room for another pod below the target
)

const balancingConfig = `
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.6, memory: 0.8}}}
limits: {perPass: %d, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: 32, perNode: 4, perOwner: 1}}
`

// TestReplacementsLandWhereForetold lets a pass balance a cluster in which a fifth of the nodes is hot. The test
// follows each replacement both in the report and in the data of the API server. At least 98 % of the replacements must
// land on an acceptable node, and at most 1 % on their source.
func TestReplacementsLandWhereForetold(t *testing.T) {
	const ns = "balance"
	nodes, moves := 300, 200
	if testing.Short() {
		nodes, moves = 30, 20
	}
	seedCluster(t, ns, nodes, hotFifthApps(nodes, rand.New(rand.NewPCG(2, 2))))
	before := listPods(t, ns)
	begun := time.Now()
	var r testbed.Report
	config := testbed.ConfigFile(t, fmt.Sprintf(balancingConfig, moves))
	out := runEvenkeel(t, "run", "--once", "-o", "json", "--lease-namespace", ns, "--config", config)
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("parsing the report: %v in %s", err, lastBytes(out))
	}
	t.Logf("%d moves planned in %d waves (lower bound %d), the pass took %.0f s; rejections: %v",
		len(r.Spec.Moves), countWaves(&r), r.Spec.Minimum.ForPlan, time.Since(begun).Seconds(), r.NotMoved())
	if c := r.NotMoved(); c["WouldReturn"]+c["UncertainLanding"] == 0 {
		t.Error("no pod was rejected because of its predicted landing, so the test proves little")
	}
	told := countLandings(t, &r)
	seen := observeLandings(t, ns, before, listPods(t, ns))
	seen.compareWithReport(t, &r)
	t.Logf("by the report:     %s", told)
	t.Logf("by the API server: %s", seen.landingCounts)
	for _, x := range []landingCounts{told, seen.landingCounts} {
		x.checkLimits(t, moves)
	}
}

// hotFifthApps distributes the pods of Deployments with 20 replicas in random order. A fifth of the nodes is hot, a
// third is nearly empty, and the others are near the target. A quarter of the Deployments has a zone spread constraint.
// A fifth of the Deployments prefers the hot nodes. Their replacements would return, so evicting these pods is useless.
func hotFifthApps(nodes int, rnd *rand.Rand) []seed.App {
	var slots, hotNodes []string
	hot, middling := nodes/5, nodes/5+nodes*7/15
	for rank, n := range rnd.Perm(nodes) {
		k := podsPerMiddleNode
		if rank < hot {
			k = podsPerHotNode
			hotNodes = append(hotNodes, fmt.Sprintf("n%d", n+1))
		}
		if rank >= middling {
			left, among := nodes*podsPerNode-hot*podsPerHotNode-(middling-hot)*podsPerMiddleNode, nodes-middling
			k = left / among
			if rank-middling < left%among {
				k++
			}
		}
		for range k {
			slots = append(slots, fmt.Sprintf("n%d", n+1))
		}
	}
	rnd.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	var apps []seed.App
	for a := 0; len(slots) > 0; a++ {
		app := seed.App{Name: fmt.Sprintf("app%d", a), MilliCPU: int64(100 + 50*(a%7)), MemoryMi: int64(100 + 50*(a%5)),
			Nodes: slots[:podsPerApp], GraceSeconds: 30, WithoutService: a%2 == 0}
		if a%4 == 3 {
			app.ZoneSkew = 1
		}
		if a%5 == 1 {
			app.PreferredNodes = hotNodes
		}
		apps, slots = append(apps, app), slots[podsPerApp:]
	}
	return apps
}
