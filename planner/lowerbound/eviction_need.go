package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// evictionNeed sums up the evictions that the goals need: counts for CountBound, amounts for WeightedBound.
type evictionNeed struct {
	// required are the pods that are evicted in any case. The other needs are what remains without them.
	required requiredPods
	nodeOf   func(cluster.PodID) cluster.NodeID
	nodes    []nodeNeed
	groups   []groupNeed
	// sumsOnly is true if the number of pods exceeds maxSharedPods. In this case, only sums is filled.
	sumsOnly bool
	sums     [2]int // evictions for nodes, evictions for groups
	// The following fields are filled by addShares.
	needs  []float64
	number map[cluster.PodID]int32 // number of each pod, in the order of insertion
	pods   []Pod                   // by number
	shares []numberedShare
}

// nodeNeed is a number of pods that must leave one node.
type nodeNeed struct {
	node      cluster.NodeID
	evictions int
	// amounts returns the amounts that must leave the node.
	amounts func() []amountNeed
}

// amountNeed is an amount that must leave a node, and the pods that can make it up. Those that are required leave in
// any case.
type amountNeed struct {
	amount int64
	pods   []podSize
}

// groupNeed is a number of pods of a group that must move, none of which is required.
type groupNeed struct {
	evictions int
	pods      []cluster.PodID
}

// numberedShare is a share of the pod with this number.
type numberedShare struct {
	pod   int32
	share needShare
}

// maxSharedPods is the largest number of pods for which both bounds are computed. For more pods, lowerBound returns
// the larger of the two sums.
const maxSharedPods = 50_000

// newEvictionNeed returns the needs of goals about this number of pods of the snapshot.
func newEvictionNeed(s *cluster.Snapshot, pods int) *evictionNeed {
	return &evictionNeed{nodeOf: func(id cluster.PodID) cluster.NodeID { return s.Pods[id].Node }, sumsOnly: pods > maxSharedPods}
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
func (d *evictionNeed) addNode(n nodeNeed) {
	if d.sums[0] += n.evictions; !d.sumsOnly {
		d.nodes = append(d.nodes, n)
	}
}

// addGroup adds a need: the given number of these pods must move. Those that are required move in any case.
func (d *evictionNeed) addGroup(evictions int, pods []cluster.PodID) {
	for _, id := range pods {
		if d.required.has(id) {
			evictions--
		}
	}
	evictions = max(0, evictions)
	if d.sums[1] += evictions; !d.sumsOnly && evictions > 0 {
		d.groups = append(d.groups, groupNeed{evictions, pods})
	}
}

// addShares adds the shares of all pods in the needs.
func (d *evictionNeed) addShares() {
	d.number = map[cluster.PodID]int32{}
	for i := range d.nodes {
		for _, x := range d.nodes[i].amounts() {
			d.addAmount(int32(i), x)
		}
	}
	for i, g := range d.groups {
		for _, id := range g.pods {
			if !d.required.has(id) {
				d.addShare(id, 1).Group = int32(i)
			}
		}
		d.needs = append(d.needs, float64(g.evictions))
	}
}

// addAmount adds the shares of the pods in an amount that must leave the node with this number.
func (d *evictionNeed) addAmount(node int32, x amountNeed) {
	amount := x.amount
	for _, p := range x.pods {
		if d.required.has(p.id) {
			amount -= p.size
		}
	}
	if amount <= 0 {
		return
	}
	for _, p := range x.pods {
		if !d.required.has(p.id) {
			d.addShare(p.id, min(1, float64(p.size)/float64(amount))).Node = node
		}
	}
	d.needs = append(d.needs, 1)
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
	if d.required.count == 0 {
		if count := d.countWithoutAmounts(); count >= most {
			return count // no bound exceeds a known solution
		}
	}
	d.addShares()
	nodes, groups := d.counts()
	count := CountBound(nodes, groups, d.pods)
	if count >= most {
		return count // weightedBound returns at most most
	}
	return max(count, weightedBound(d.needs, d.podShares(), most))
}

// countWithoutAmounts returns a lower bound that is at most CountBound, without the amounts: it takes every pod of a
// group for one that the need of its node counts. No pod may be required.
func (d *evictionNeed) countWithoutAmounts() int {
	nodes, groups := d.counts()
	numbers, pods := make(map[cluster.NodeID]int32, len(nodes)), make([]Pod, 0, d.sums[0])
	for i, n := range d.nodes {
		numbers[n.node] = int32(i)
		for range n.evictions {
			pods = append(pods, Pod{int32(i), -1})
		}
	}
	for i, g := range d.groups {
		for _, id := range g.pods {
			n, needed := numbers[d.nodeOf(id)]
			if !needed {
				n = -1
			}
			pods = append(pods, Pod{n, int32(i)})
		}
	}
	return CountBound(nodes, groups, pods)
}

func (d *evictionNeed) counts() (nodes, groups []int) {
	for _, n := range d.nodes {
		nodes = append(nodes, n.evictions)
	}
	for _, g := range d.groups {
		groups = append(groups, g.evictions)
	}
	return nodes, groups
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
