package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Varied returns a cluster of unequal nodes over three zones. Its workloads have constraints that
// limit a plan: budgets, node affinity, pod affinity, topology spread, zonal volumes, node
// selectors and do-not-disrupt. About 30 % of the nodes hold far more than their share, and 30 %
// far less. Pods request 35 to 55 % of the CPU. mostPods limits the number of pods; 0 means no
// limit.
//
// A Varied cluster has no broken objects. Tests use it to measure how good a plan is, and use Mixed
// to check whether a plan is allowed.
func Varied(r *rand.Rand, nodes, mostPods int) *cluster.Objects {
	v := &variedCluster{r: r, o: &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}}
	for i := range 4 {
		addNamespace(v.o, fmt.Sprintf("ns%d", i))
	}
	v.addNodes(nodes)
	want := int64((0.35 + 0.2*r.Float64()) * float64(v.totalCPU))
	for i := 0; v.requestedCPU < want && (mostPods == 0 || len(v.o.Pods) < mostPods); i++ {
		replicas := pick(r, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12)
		if nodes <= 10 {
			replicas = min(replicas, 5)
		}
		if mostPods > 0 {
			replicas = min(replicas, mostPods-len(v.o.Pods))
		}
		v.addWorkload(i, replicas)
	}
	return v.o
}
