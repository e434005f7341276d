package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// evictionNeed is what goals need of evictions, as far as it adds up: counts for
// cover.Fewest, amounts for cover.Priced.
type evictionNeed struct {
	nodes, groups []int
	needs         []float64
	pods          map[cluster.PodID]*podShare
	order         []cluster.PodID // of pods, as they came
	// alone: only counts are added up, since there are too many pods.
	alone bool
	sums  [2]int // of nodes, of groups
}

// podShare is what a pod's leaving brings to a demand.
type podShare struct {
	at   Pod
	half []Share
}

// maxSharedPods bounds the pods of a demand; beyond it the two kinds of needs combine by
// max alone.
const maxSharedPods = 50_000

func newDemand(pods int) *evictionNeed {
	return &evictionNeed{pods: map[cluster.PodID]*podShare{}, alone: pods > maxSharedPods}
}

func (d *evictionNeed) of(pod cluster.PodID) *podShare {
	x := d.pods[pod]
	if x == nil {
		x = &podShare{at: Pod{Node: -1, Group: -1}}
		d.pods[pod] = x
		d.order = append(d.order, pod)
	}
	return x
}

// node adds that so many pods of a node must leave.
func (d *evictionNeed) node(evictions int) {
	d.nodes = append(d.nodes, evictions)
	d.sums[0] += evictions
}

// amount adds that pods of the node added last must leave which request so much.
func (d *evictionNeed) amount(amount int64, pods []sized) {
	if d.alone || amount <= 0 {
		return
	}
	for _, p := range pods {
		x := d.of(p.id)
		x.at.Node = int32(len(d.nodes) - 1)
		x.half = append(x.half, Share{Need: int32(len(d.needs)), Amount: min(1, float64(p.size)/float64(amount))})
	}
	d.needs = append(d.needs, 1)
}

// group adds that so many of these pods must move.
func (d *evictionNeed) group(evictions int, pods []cluster.PodID) {
	d.sums[1] += evictions
	if d.alone || evictions <= 0 {
		return
	}
	for _, id := range pods {
		x := d.of(id)
		x.at.Group = int32(len(d.groups))
		x.half = append(x.half, Share{Need: int32(len(d.needs)), Amount: 1})
	}
	d.groups = append(d.groups, evictions)
	d.needs = append(d.needs, float64(evictions))
}

// lowerBound evictions meet the demand; most are known to.
func (d *evictionNeed) lowerBound(most int) int {
	if d.alone {
		return max(d.sums[0], d.sums[1])
	}
	var shares Shares
	pods := make([]Pod, 0, len(d.order))
	for _, id := range d.order {
		x := d.pods[id]
		pods = append(pods, x.at)
		shares.Add(x.half...)
	}
	return max(CountBound(d.nodes, d.groups, pods), WeightedBound(d.needs, &shares, most))
}

// sized is a pod with what it requests of a resource or, for goals by load, is known
// to use.
type sized struct {
	size int64
	id   cluster.PodID
}
