package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// evictionNeed sums up the evictions that the goals need: counts for CountBound, amounts for WeightedBound.
type evictionNeed struct {
	// required are the pods that are evicted in any case. The other needs are what remains without them.
	required      requiredPods
	nodes, groups []int
	needs         []float64
	number        map[cluster.PodID]int32 // number of each pod, in the order of insertion
	pods          []Pod                   // by number
	shares        []numberedShare
	// sumsOnly is true if the number of pods exceeds maxSharedPods. In this case, only sums is filled.
	sumsOnly bool
	sums     [2]int // evictions for nodes, evictions for groups
}

// numberedShare is a share of the pod with this number.
type numberedShare struct {
	pod   int32
	share needShare
}

// maxSharedPods is the largest number of pods for which both bounds are computed. For more pods, lowerBound returns
// the larger of the two sums.
const maxSharedPods = 50_000

func newEvictionNeed(pods int) *evictionNeed {
	return &evictionNeed{number: make(map[cluster.PodID]int32, min(pods, maxSharedPods)), sumsOnly: pods > maxSharedPods}
}

// addShare adds a share of a pod in the next need, and returns the pod.
func (d *evictionNeed) addShare(id cluster.PodID, amount float64) *Pod {
	n, known := d.number[id]
	if !known {
		n = int32(len(d.pods))
		d.number[id] = n
		d.pods = append(d.pods, Pod{Node: -1, Group: -1})
	}
	d.shares = append(d.shares, numberedShare{n, needShare{Need: int32(len(d.needs)), Amount: amount}})
	return &d.pods[n]
}

// addNode adds a need: the given number of pods must leave one node.
func (d *evictionNeed) addNode(evictions int) {
	d.nodes = append(d.nodes, evictions)
	d.sums[0] += evictions
}

// addAmount adds a need: pods with this total size must leave the node of the latest addNode call.
// Those that are required leave in any case.
func (d *evictionNeed) addAmount(amount int64, pods []podSize) {
	for _, p := range pods {
		if d.required.has(p.id) {
			amount -= p.size
		}
	}
	if d.sumsOnly || amount <= 0 {
		return
	}
	for _, p := range pods {
		if d.required.has(p.id) {
			continue
		}
		d.addShare(p.id, min(1, float64(p.size)/float64(amount))).Node = int32(len(d.nodes) - 1)
	}
	d.needs = append(d.needs, 1)
}

// addGroup adds a need: the given number of these pods must move. Those that are required move in any case.
func (d *evictionNeed) addGroup(evictions int, pods []cluster.PodID) {
	for _, id := range pods {
		if d.required.has(id) {
			evictions--
		}
	}
	evictions = max(0, evictions)
	d.sums[1] += evictions
	if d.sumsOnly || evictions == 0 {
		return
	}
	for _, id := range pods {
		if d.required.has(id) {
			continue
		}
		d.addShare(id, 1).Group = int32(len(d.groups))
	}
	d.groups = append(d.groups, evictions)
	d.needs = append(d.needs, float64(evictions))
}

// lowerBound returns the least number of evictions that meet the needs. The parameter most is the number of evictions
// of a known solution.
func (d *evictionNeed) lowerBound(most int) int {
	return d.required.count + d.lowerBoundOfOthers(most-d.required.count)
}

// lowerBoundOfOthers is lowerBound for the evictions of pods that are not required.
func (d *evictionNeed) lowerBoundOfOthers(most int) int {
	if d.sumsOnly {
		return max(d.sums[0], d.sums[1])
	}
	count := CountBound(d.nodes, d.groups, d.pods)
	if count >= most {
		return count // weightedBound returns at most most
	}
	return max(count, weightedBound(d.needs, d.podShares(), most))
}

// podShares groups the shares by pod.
func (d *evictionNeed) podShares() *podShares {
	next := make([]int32, len(d.pods)+1) // index of the pod's next share
	for _, x := range d.shares {
		next[x.pod+1]++
	}
	for i := range d.pods {
		next[i+1] += next[i]
	}
	all := make([]needShare, len(d.shares))
	for _, x := range d.shares {
		all[next[x.pod]] = x.share
		next[x.pod]++
	}
	return &podShares{all, next[:len(d.pods)]}
}

// podSize is a pod with its request of a resource, or with its known usage for goals by load.
type podSize struct {
	size int64
	id   cluster.PodID
}
