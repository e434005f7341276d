package limits

import "github.com/evenkeel-project/evenkeel/cluster"

// podCounts counts pods by what limits are about.
type podCounts struct {
	all             int
	node            []int // by NodeID
	namespace       map[string]int
	workload        []int // by WorkloadID
	withoutWorkload int   // of no workload
	zone            map[string]int
}

func newPodCounts(s *cluster.Snapshot) podCounts {
	return podCounts{0, make([]int, len(s.Nodes)), map[string]int{}, make([]int, len(s.Workloads)), 0, map[string]int{}}
}

// ofWorkload counts the pods of a workload; those of none together.
func (p *podCounts) ofWorkload(w cluster.WorkloadID) int {
	if w == cluster.NoWorkload {
		return p.withoutWorkload
	}
	return p.workload[w]
}

func (p *podCounts) add(s *cluster.Snapshot, zone []string, pod *cluster.Pod, d int) {
	p.all += d
	p.node[pod.Node] += d
	p.namespace[pod.Object.Namespace] += d
	if pod.Workload == cluster.NoWorkload {
		p.withoutWorkload += d
	} else {
		p.workload[pod.Workload] += d
	}
	p.zone[zone[pod.Node]] += d
}
