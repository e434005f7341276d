package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// The nodes of FullInGPUs.
const (
	gpusPerNode = 8
	gpuNodeCPU  = 96_000 // milliCPU
	gpuResource = corev1.ResourceName("nvidia.com/gpu")
)

// FullInGPUs returns a cluster in which pods request 98 % of the GPUs and about 59 % of the CPU. Pods request
// different amounts of CPU per GPU, so about a quarter of the nodes exceed 80 % of their CPU. A pod of such a node
// fits almost nowhere else, because other pods occupy the GPUs.
func FullInGPUs(r *rand.Rand, nodes int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	addNamespace(o, "shop")
	nodesWithFreeGPU := nodes * gpusPerNode * 2 / 100
	for i := range nodes {
		n := bigNode(fmt.Sprintf("n%04d", i), fmt.Sprintf("z%d", i%3))
		n.Status.Allocatable["cpu"] = *resource.NewMilliQuantity(gpuNodeCPU, resource.DecimalSI)
		n.Status.Allocatable["memory"] = *resource.NewQuantity(768<<30, resource.BinarySI)
		n.Status.Allocatable[gpuResource] = *resource.NewQuantity(gpusPerNode, resource.DecimalSI)
		o.Nodes = append(o.Nodes, n)
		gpus, cpu := int64(gpusPerNode), int64(gpuNodeCPU)
		if i < nodesWithFreeGPU {
			gpus--
		}
		cpuPerGPU := pickRandom(r, 4100.0, 5100, 6100, 9500, 10_600)
		for k := 0; gpus > 0; k++ {
			g := min(gpus, pickRandom(r, int64(1), 1, 1, 2, 2, 4))
			requested := int64(cpuPerGPU * float64(g) * (0.5 + r.Float64()))
			requested = max(500, min(requested/100*100, cpu-gpus*500))
			addGPUApp(o, fmt.Sprintf("gpu-%s-%d", n.Name, k), n.Name, requested, g)
			gpus, cpu = gpus-g, cpu-requested
		}
	}
	return o
}

// addGPUApp adds a Deployment with one pod on a node.
func addGPUApp(o *cluster.Objects, name, node string, cpu, gpus int64) {
	spec, amount := tightSpec(cpu, cpu*4), *resource.NewQuantity(gpus, resource.DecimalSI)
	r := &spec.Containers[0].Resources
	r.Requests[gpuResource], r.Limits = amount, corev1.ResourceList{gpuResource: amount}
	rs := addDeployment(o, "shop", name, "x", 1, spec)
	addPod(o, rs, rs.Name+"-0", node).CreationTimestamp = metav1.NewTime(epoch)
}
