package simulation_test

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestFiveSizes checks the shares that FiveSizes documents.
func TestFiveSizes(t *testing.T) {
	for _, nodes := range []int{50, 500} {
		o := simulation.FiveSizes(rand.New(rand.NewPCG(1, 1)), nodes, 20*nodes)
		type amounts struct{ cpu, gpus, pods int64 }
		used, sizes := map[string]amounts{}, map[int64]bool{}
		var sum, has amounts
		for _, p := range o.Pods {
			of := used[p.Spec.NodeName]
			r := p.Spec.Containers[0].Resources.Requests
			gpus := r["nvidia.com/gpu"]
			of.cpu, of.gpus, of.pods = of.cpu+r.Cpu().MilliValue(), of.gpus+gpus.Value(), of.pods+1
			used[p.Spec.NodeName] = of
		}
		above := 0
		for _, n := range o.Nodes {
			of, a := used[n.Name], n.Status.Allocatable
			cpu, gpus := a.Cpu().MilliValue(), a[corev1.ResourceName("nvidia.com/gpu")]
			sizes[cpu] = true
			sum.cpu, sum.gpus, has.cpu, has.gpus = sum.cpu+of.cpu, sum.gpus+of.gpus, has.cpu+cpu, has.gpus+gpus.Value()
			if of.cpu > cpu || of.gpus > gpus.Value() || of.pods > 110 {
				t.Errorf("node %s is overcommitted: %+v", n.Name, of)
			}
			if float64(of.cpu) > 0.65*float64(cpu) {
				above++
			}
		}
		cpu, gpus := 100*sum.cpu/has.cpu, 100*float64(sum.gpus)/float64(has.gpus)
		if len(o.Pods) != 20*nodes || len(sizes) != 5 || cpu < 58 || cpu > 60 || gpus < 98 || gpus > 98.9 ||
			above < nodes*45/100 || above > nodes*55/100 {
			t.Errorf("%d pods, %d sizes, %d%% of the CPU and %.1f%% of the GPUs requested, %d of %d nodes above 65%%",
				len(o.Pods), len(sizes), cpu, gpus, above, nodes)
		}
	}
}
