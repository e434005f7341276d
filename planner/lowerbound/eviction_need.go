package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// evictionNeed sums up the evictions that the goals need: counts for CountBound, amounts for WeightedBound.
type evictionNeed struct {
	nodes, groups []int
	needs         []float64
	pods          map[cluster.PodID]*podShare
	order         []cluster.PodID // the keys of pods in the order of insertion
	// sumsOnly is true if the number of pods exceeds maxSharedPods. In this case, only sums is filled.
	sumsOnly bool
	sums     [2]int // evictions for nodes, evictions for groups
}

type podShare struct {
	at   Pod
	half []needShare
}

// maxSharedPods is the largest number of pods for which both bounds are computed. For more pods, lowerBound returns
// the larger of the two sums.
const maxSharedPods = 50_000

func newEvictionNeed(pods int) *evictionNeed {
	return &evictionNeed{pods: map[cluster.PodID]*podShare{}, sumsOnly: pods > maxSharedPods}
}

func (d *evictionNeed) shareOf(pod cluster.PodID) *podShare {
	x := d.pods[pod]
	if x == nil {
		x = &podShare{at: Pod{Node: -1, Group: -1}}
		d.pods[pod] = x
		d.order = append(d.order, pod)
	}
	return x
}

// addNode adds a need: the given number of pods must leave one node.
func (d *evictionNeed) addNode(evictions int) {
	d.nodes = append(d.nodes, evictions)
	d.sums[0] += evictions
}

// addAmount adds a need: pods with this total size must leave the node of the latest addNode call.
func (d *evictionNeed) addAmount(amount int64, pods []podSize) {
	if d.sumsOnly || amount <= 0 {
		return
	}
	for _, p := range pods {
		x := d.shareOf(p.id)
		x.at.Node = int32(len(d.nodes) - 1)
		x.half = append(x.half, needShare{Need: int32(len(d.needs)), Amount: min(1, float64(p.size)/float64(amount))})
	}
	d.needs = append(d.needs, 1)
}

// addGroup adds a need: the given number of these pods must move.
func (d *evictionNeed) addGroup(evictions int, pods []cluster.PodID) {
	d.sums[1] += evictions
	if d.sumsOnly || evictions <= 0 {
		return
	}
	for _, id := range pods {
		x := d.shareOf(id)
		x.at.Group = int32(len(d.groups))
		x.half = append(x.half, needShare{Need: int32(len(d.needs)), Amount: 1})
	}
	d.groups = append(d.groups, evictions)
	d.needs = append(d.needs, float64(evictions))
}

// lowerBound returns the least number of evictions that meet the needs. The parameter most is the number of evictions
// of a known solution.
func (d *evictionNeed) lowerBound(most int) int {
	if d.sumsOnly {
		return max(d.sums[0], d.sums[1])
	}
	var shares podShares
	pods := make([]Pod, 0, len(d.order))
	for _, id := range d.order {
		x := d.pods[id]
		pods = append(pods, x.at)
		shares.Add(x.half...)
	}
	return max(CountBound(d.nodes, d.groups, pods), weightedBound(d.needs, &shares, most))
}

// podSize is a pod with its request of a resource, or with its known usage for goals by load.
type podSize struct {
	size int64
	id   cluster.PodID
}
