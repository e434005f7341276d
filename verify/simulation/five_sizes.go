package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// fiveSizes are the nodes of FiveSizes: CPU, GPUs, and how many of ten nodes have this size. A node has 4Gi per CPU.
var fiveSizes = []struct{ cpu, gpus, ofTen int64 }{{8, 0, 3}, {16, 0, 3}, {32, 0, 2}, {64, 4, 1}, {96, 8, 1}}

// The requests of FiveSizes. Of every two nodes, one is full and one is not.
const (
	fiveSizesFull  = 0.76 // share of the CPU that pods request on a full node
	fiveSizesEmpty = 0.42
	gpuReplicas    = 5
)

var fiveSizesCPU = []int64{200, 300, 400, 500, 700} // milliCPU requests of a pod without GPUs

// FiveSizes returns a cluster with nodes of five sizes, the two largest of which have GPUs. Pods request 98 % of the
// GPUs and about 59 % of the CPU. Half of the nodes are above 65 % of their CPU. Pods with GPUs are in Deployments of
// at most 5 pods, and the other pods in Deployments of 20, of which every fourth must be spread over three zones.
func FiveSizes(r *rand.Rand, nodes, pods int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range 10 {
		addNamespace(o, fmt.Sprintf("ns%d", i))
	}
	var sizes []int // of ten nodes
	for size, s := range fiveSizes {
		for range s.ofTen {
			sizes = append(sizes, size)
		}
	}
	free := make([]int64, nodes) // milliCPU that pods will request
	freeGPUs := make([]int64, nodes)
	full := map[int]int{} // nodes by size, so that half of each size is full
	for i := range nodes {
		size := sizes[i%len(sizes)]
		s := fiveSizes[size]
		n := bigNode(fmt.Sprintf("n%05d", i), fmt.Sprintf("z%d", i%unevenZones))
		n.Status.Allocatable["cpu"] = *resource.NewQuantity(s.cpu, resource.DecimalSI)
		n.Status.Allocatable["memory"] = *resource.NewQuantity(s.cpu<<32, resource.BinarySI)
		if s.gpus > 0 {
			n.Status.Allocatable[gpuResource] = *resource.NewQuantity(s.gpus, resource.DecimalSI)
		}
		share := fiveSizesEmpty
		if full[size]++; full[size]%2 == 1 {
			share = fiveSizesFull
		}
		free[i], freeGPUs[i] = int64(share*float64(1000*s.cpu)), s.gpus
		o.Nodes = append(o.Nodes, n)
	}
	placeSmall(r, o, free, pods-placeGPUs(r, o, free, freeGPUs))
	return o
}

// placeGPUs fills the GPUs, except 2 % of them, and returns the number of pods. Pods of one Deployment request the same
// CPU and the same number of GPUs.
func placeGPUs(r *rand.Rand, o *cluster.Objects, free, gpus []int64) int {
	var all int64
	for _, n := range gpus {
		all += n
	}
	unused := all * 2 / 100
	type shape struct{ cpuPerGPU, gpus int64 }
	places := map[shape][]int{}
	var order []shape
	for i := range gpus {
		cpuPerGPU := int64(0)
		if gpus[i] > 0 {
			cpuPerGPU = free[i] / gpus[i] / 100 * 100
		}
		if gpus[i] > 0 && unused > 0 {
			gpus[i], unused = gpus[i]-1, unused-1
		}
		for gpus[i] > 0 {
			s := shape{cpuPerGPU, min(gpus[i], pickRandom(r, int64(1), 1, 1, 2, 2, 4))}
			if places[s] == nil {
				order = append(order, s)
			}
			places[s] = append(places[s], i)
			gpus[i], free[i] = gpus[i]-s.gpus, free[i]-s.gpus*cpuPerGPU
		}
	}
	n, apps := 0, 0
	for _, s := range order {
		on := places[s]
		r.Shuffle(len(on), func(i, j int) { on[i], on[j] = on[j], on[i] })
		for ; len(on) > 0; apps++ {
			k := min(gpuReplicas, len(on))
			spec, amount := tightSpec(s.cpuPerGPU*s.gpus, s.cpuPerGPU*s.gpus*4), *resource.NewQuantity(s.gpus, resource.DecimalSI)
			of := &spec.Containers[0].Resources
			of.Requests[gpuResource], of.Limits = amount, corev1.ResourceList{gpuResource: amount}
			rs := addDeployment(o, fmt.Sprintf("ns%d", apps%10), fmt.Sprintf("gpu%05d", apps), "seed", int32(k), spec)
			for j, node := range on[:k] {
				addPod(o, rs, fmt.Sprintf("%s-%02d", rs.Name, j), o.Nodes[node].Name)
			}
			n, on = n+k, on[k:]
		}
	}
	return n
}

// placeSmall adds pods without GPUs, and fills one node after the other up to its free CPU. Pods that are left over go
// to all nodes in turn.
func placeSmall(r *rand.Rand, o *cluster.Objects, free []int64, pods int) {
	type pod struct{ app, ordinal int }
	var all []pod
	first := len(o.ReplicaSets)
	for i := 0; len(all) < pods; i++ {
		name, cpu := fmt.Sprintf("d%05d", i), fiveSizesCPU[i%len(fiveSizesCPU)]
		spec, replicas := tightSpec(cpu, cpu*4), min(unevenPer, pods-len(all))
		if i%4 == 0 {
			spec.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, map[string]string{"app": name})
		}
		addDeployment(o, fmt.Sprintf("ns%d", i%10), name, "seed", int32(replicas), spec)
		for k := range replicas {
			all = append(all, pod{i, k})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	order, at := r.Perm(len(free)), 0
	for i, p := range all {
		cpu := fiveSizesCPU[p.app%len(fiveSizesCPU)]
		for at < len(order) && free[order[at]] < cpu {
			at++
		}
		node := order[i%len(order)]
		if at < len(order) {
			node = order[at]
		}
		free[node] -= cpu
		rs := o.ReplicaSets[first+p.app]
		addPod(o, rs, fmt.Sprintf("%s-%02d", rs.Name, p.ordinal), o.Nodes[node].Name)
	}
}
