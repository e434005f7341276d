// Package lowerbound counts the fewest pods whose leaving gives two kinds of goals what
// they need at once: nodes that some pods must leave, and groups of which some pods
// must move.
//
// It decides how the two needs add up, where one pod may serve both. It knows
// nothing of sizes, landings or limits: what a node or a group needs is given, as a
// count. So its answer is a lower bound for every plan.
package lowerbound

// Pod is one that may leave: its leaving serves the node it stands on, by index,
// and the group it is of; -1: that needs nothing, or there is none.
type Pod struct{ Node, Group int32 }

// CountBound is the least number of pods of which at least nodes[n] stand on node n and
// at least groups[g] are of group g. Needs beyond the pods that there are count as
// met by all of these.
//
// A pod is an edge between its node and its group, and the needs are degrees: the
// smallest set of edges with these degrees is the sum of the needs less the most
// edges that no more than meet them, a maximum flow (Gallai 1959, for needs of 1).
// Any set that meets the needs holds as many edges for each vertex as that needs,
// and an edge counts twice only if it is needed at both of its ends.
// O(pods x square root of needs), by phases of shortest augmenting paths (Hopcroft
// and Karp 1973).
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

// matching is a set of edges, taken, with no more at a vertex than that needs. Side 0
// are nodes, 1 groups.
type matching struct {
	edges    [][2]int32
	at       [2][][]int32 // edges of each vertex
	capacity [2][]int32
	used     [2][]int32 // edges taken
	matched  []bool
	level    [2][]int32
	next     [2][]int32 // of each vertex, the edge to try next
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
			f.capacity[0][p.Node]++ // for now: how many there are
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

// maximize takes as many edges as can be.
func (f *matching) maximize() int {
	all := 0
	for e, v := range f.edges { // most of them fit at once
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

func (f *matching) flip(e int32) {
	d := int32(1)
	if f.matched[e] {
		d = -1
	}
	f.matched[e] = !f.matched[e]
	f.used[0][f.edges[e][0]] += d
	f.used[1][f.edges[e][1]] += d
}

// computeLevels numbers the vertices by their distance from an open node, over edges that are
// not taken to groups and taken ones back; it reports whether an open group is
// reached.
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

// augment finds a path over ranked vertices to an open group and takes it: one edge
// more is taken then, and each vertex between keeps as many.
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
