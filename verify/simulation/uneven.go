package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Uneven creates Deployments of 20 pods in ten namespaces, as the benchmarks of the lab do. Every
// fourth Deployment must be spread over three zones.
const (
	unevenPer   = 20
	unevenZones = 3
	unevenFull  = 9900 // requested milliCPU of a full node
)

var unevenCPU = []int64{100, 200, 250, 300, 400} // milliCPU requests of a pod

// Uneven returns a cluster of nodes with 10 CPU and 40Gi. 30 % of the nodes hold 1.7 times
// the mean number of pods, and 30 % hold 0.3 times the mean. There are no budgets.
func Uneven(r *rand.Rand, nodes, pods int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range nodes {
		o.Nodes = append(o.Nodes, bigNode(fmt.Sprintf("n%05d", i), fmt.Sprintf("z%d", i%unevenZones)))
	}
	for i := range 10 {
		addNamespace(o, fmt.Sprintf("ns%d", i))
	}
	for i := range pods / unevenPer {
		addUnevenApp(o, i, 0.6+0.4*r.Float64())
	}
	placeUneven(r, o, nodes)
	return o
}

// addUnevenApp adds a Deployment with its ReplicaSet. memPart is the memory request of its pods as a
// share of 4Gi per CPU.
func addUnevenApp(o *cluster.Objects, i int, memPart float64) {
	name, cpu := fmt.Sprintf("d%05d", i), unevenCPU[i%len(unevenCPU)]
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(30)), Containers: []corev1.Container{{Name: "app",
		Image: "registry.k8s.io/pause:3.10", Env: settings, Resources: requests(cpu, int64(float64(cpu)*4.096*memPart)<<20)}}}
	if i%4 == 0 {
		spec.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, map[string]string{"app": name})
	}
	addDeployment(o, fmt.Sprintf("ns%d", i%10), name, "seed", unevenPer, spec)
}

// placeUneven binds the shuffled pods to nodes. Pods that fit no node go to the nodes with an
// average number of pods.
func placeUneven(r *rand.Rand, o *cluster.Objects, nodes int) {
	type pod struct{ app, ordinal int }
	var all []pod
	for a := range o.ReplicaSets {
		for k := range unevenPer {
			all = append(all, pod{a, k})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	put := func(p pod, node int) {
		rs := o.ReplicaSets[p.app]
		addPod(o, rs, fmt.Sprintf("%s-%02d", rs.Name, p.ordinal), o.Nodes[node].Name)
	}
	mean, next, order := float64(len(all))/float64(nodes), 0, r.Perm(nodes)
	for rank, n := range order {
		part := 1.0
		switch at := float64(rank) / float64(nodes); {
		case at < 0.3:
			part = 1.7
		case at >= 0.7:
			part = 0.3
		}
		used := int64(0)
		for k := math.Round(mean * part); k > 0 && next < len(all); k-- {
			cpu := unevenCPU[all[next].app%len(unevenCPU)]
			if used+cpu > unevenFull {
				break
			}
			used += cpu
			put(all[next], n)
			next++
		}
	}
	middling := order[int(0.3*float64(nodes)):int(math.Ceil(0.7*float64(nodes)))]
	for i := next; i < len(all); i++ {
		put(all[i], middling[i%len(middling)])
	}
}
