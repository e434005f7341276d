package limits

import "github.com/evenkeel-project/evenkeel/cluster"

// podCounts counts pods for each subject of a limit.
type podCounts struct {
	all             int
	node            []int // by NodeID
	namespace       map[string]int
	workload        []int // by WorkloadID
	withoutWorkload int   // pods without a workload
	zone            map[string]int
}

func newPodCounts(s *cluster.Snapshot) podCounts {
	return podCounts{0, make([]int, len(s.Nodes)), map[string]int{}, make([]int, len(s.Workloads)), 0, map[string]int{}}
}

// ofWorkload returns the count of a workload. All pods without a workload share one count.
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
