// Package lowerbound computes lower bounds on the evictions of any plan. Two kinds of goals need evictions: nodes
// that some pods must leave, and groups of pods, some of which must move. One eviction can satisfy a need of a node
// and a need of a group.
//
// CountBound uses numbers of pods, and WeightedBound also uses their sizes. Both bounds ignore limits and the
// landings of replacements, so every plan needs at least as many evictions.
package lowerbound

// A Pod may be evicted. The eviction reduces the needs of the node and the group with these indices. The index -1
// means that the pod has no such node or group.
type Pod struct{ Node, Group int32 }

// CountBound returns the size of the smallest set of pods that meets all needs: at least nodes[n] pods on node n and
// at least groups[g] pods of group g. A need is capped at the number of existing pods.
//
// A pod is an edge between its node and its group, and a need is a minimum degree. The smallest edge cover with these
// degrees has sum(needs) - M edges. M is the size of the largest matching in which no vertex has more edges than its
// need (Gallai 1959, for needs of 1). An edge saves an eviction only if both of its vertices need it.
//
// Hopcroft and Karp's algorithm (1973) finds the matching in O(pods x sqrt(needs)).
func CountBound(nodes, groups []int, pods []Pod) int {
	f := newMatching(nodes, groups, pods)
	all := 0
	for _, side := range [...][]int32{f.capacity[0], f.capacity[1]} {
		for _, n := range side {
			all += int(n)
		}
	}
	return all - f.maximize()
}

// matching is a set of edges in which no vertex has more edges than its capacity. Side 0 holds the nodes, side 1 the
// groups.
type matching struct {
	edges    [][2]int32
	at       [2][][]int32 // the edges of each vertex
	capacity [2][]int32
	used     [2][]int32 // the number of matched edges of each vertex
	matched  []bool
	level    [2][]int32
	next     [2][]int32 // the edge to try next, for each vertex
}

func newMatching(nodes, groups []int, pods []Pod) *matching {
	f := &matching{}
	for side, needs := range [...][]int{nodes, groups} {
		n := len(needs)
		f.capacity[side], f.used[side] = make([]int32, n), make([]int32, n)
		f.level[side], f.next[side], f.at[side] = make([]int32, n), make([]int32, n), make([][]int32, n)
	}
	for _, p := range pods {
		if p.Node >= 0 {
			f.capacity[0][p.Node]++ // first counts the pods; the loop below limits it by the need
		}
		if p.Group >= 0 {
			f.capacity[1][p.Group]++
		}
	}
	for side, needs := range [...][]int{nodes, groups} {
		for i, n := range needs {
			f.capacity[side][i] = min(f.capacity[side][i], int32(n))
		}
	}
	for _, p := range pods {
		if p.Node >= 0 && p.Group >= 0 && f.capacity[0][p.Node] > 0 && f.capacity[1][p.Group] > 0 {
			e := int32(len(f.edges))
			f.edges = append(f.edges, [2]int32{p.Node, p.Group})
			f.at[0][p.Node] = append(f.at[0][p.Node], e)
			f.at[1][p.Group] = append(f.at[1][p.Group], e)
		}
	}
	f.matched = make([]bool, len(f.edges))
	return f
}

// maximize adds edges until the matching is largest, and returns their number.
func (f *matching) maximize() int {
	all := 0
	for e, v := range f.edges { // greedy start, which matches most edges
		if f.hasCapacity(0, v[0]) && f.hasCapacity(1, v[1]) {
			f.flip(int32(e))
			all++
		}
	}
	for f.computeLevels() {
		clear(f.next[0])
		clear(f.next[1])
		for n := range f.capacity[0] {
			for f.hasCapacity(0, int32(n)) && f.augment(0, int32(n)) {
				all++
			}
		}
	}
	return all
}

func (f *matching) hasCapacity(side int, v int32) bool { return f.used[side][v] < f.capacity[side][v] }

// flip adds the edge to the matching, or removes a matched edge.
func (f *matching) flip(e int32) {
	d := int32(1)
	if f.matched[e] {
		d = -1
	}
	f.matched[e] = !f.matched[e]
	f.used[0][f.edges[e][0]] += d
	f.used[1][f.edges[e][1]] += d
}

// computeLevels sets the distance of each vertex from a node with free capacity, by breadth-first search.
// computeLevels follows unmatched edges to groups and matched edges to nodes. computeLevels reports whether it
// reaches a group with free capacity.
func (f *matching) computeLevels() (reached bool) {
	type vertex struct {
		side int
		v    int32
	}
	var queue []vertex
	for side := range f.level {
		for v := range f.level[side] {
			f.level[side][v] = -1
		}
	}
	for n := range f.capacity[0] {
		if f.hasCapacity(0, int32(n)) {
			f.level[0][n] = 0
			queue = append(queue, vertex{0, int32(n)})
		}
	}
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		reached = reached || x.side == 1 && f.hasCapacity(1, x.v)
		for _, e := range f.at[x.side][x.v] {
			far := f.edges[e][1-x.side]
			if f.matched[e] == (x.side == 1) && f.level[1-x.side][far] < 0 {
				f.level[1-x.side][far] = f.level[x.side][x.v] + 1
				queue = append(queue, vertex{1 - x.side, far})
			}
		}
	}
	return reached
}

// augment finds a path of increasing levels to a group with free capacity and flips its edges. Flipping the path adds
// one edge to the matching.
func (f *matching) augment(side int, v int32) bool {
	if side == 1 && f.hasCapacity(1, v) {
		return true
	}
	for at := f.at[side][v]; int(f.next[side][v]) < len(at); f.next[side][v]++ {
		e := at[f.next[side][v]]
		far := f.edges[e][1-side]
		if f.matched[e] != (side == 1) || f.level[1-side][far] != f.level[side][v]+1 {
			continue
		}
		if f.augment(1-side, far) {
			f.flip(e)
			f.next[side][v]++
			return true
		}
	}
	return false
}
