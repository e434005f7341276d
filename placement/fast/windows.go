package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// windowEvents lists the start positions at which a score group enters or leaves the window.
type windowEvents struct {
	events          []uint64 // sorted: start << 32 | score group << 1 | 1 if it enters
	constantDomains bool     // every window contains every group that has a node
}

// findWindowEvents finds the start positions at which score groups enter and leave the window. The
// time is O(k log k) for k special nodes, plus O(N) for each group that some window lacks.
func (q *windowOdds) findWindowEvents() {
	p := &q.windows
	p.events, p.constantDomains = p.events[:0], true
	for g := range q.view.groups.nodes {
		if q.inEveryWindow(uint8(g)) {
			q.scoreGroups[g].inEveryWindow = 1
		} else {
			p.constantDomains = false // windows without the group have fewer domains
			q.addGroupEvents(uint8(g))
		}
	}
	for i := range q.specialNodes {
		if x := &q.specialNodes[i]; x.feasible {
			from, to := q.startsCovering(x.feasibleIndex)
			q.addWindowEvents(x.scoreGroup, from, to)
		}
	}
	slices.Sort(p.events)
	q.spreadWeights = [maxSoftConstraints]float64{}
}

// splitStarts splits the start positions by whether their windows contain the victim's node if this
// node is feasible.
func (q *windowOdds) splitStarts(victim cluster.NodeID) (with, others []startRange) {
	n := int32(len(q.position))
	if victim == cluster.NoNode || q.view.groups.group[q.position[victim]] == noGroup {
		return nil, []startRange{{0, n}}
	}
	at, _ := q.feasible.indexOf(q.position[victim])
	from, _ := q.startsCovering(int32(at))
	to := q.position[victim] + 1
	if from >= 0 {
		return []startRange{{from, to}}, []startRange{{0, from}, {to, n}}
	}
	return []startRange{{0, to}, {from + n, n}}, []startRange{{to, from + n}}
}

// startsCovering returns the first and last start whose windows contain the node. The first start
// may be negative: the window then begins at the end of the node order.
func (q *windowOdds) startsCovering(at int32) (from, to int32) {
	f, size := &q.feasible, int32(q.sampleSize)
	if at >= size {
		return f.positions[at-size] + 1, f.positions[at]
	}
	return f.positions[int(at)+f.count-q.sampleSize] - int32(len(q.position)) + 1, f.positions[at]
}

// addWindowEvents records that the windows of these starts contain a score group.
func (q *windowOdds) addWindowEvents(kind, from, to int32) {
	p, n := &q.windows, int32(len(q.position))
	add := func(at int32, comes uint64) {
		if at < n {
			p.events = append(p.events, uint64(at)<<32|uint64(kind)<<1|comes)
		}
	}
	add(max(from, 0), 1)
	add(to+1, 0)
	if from < 0 {
		add(from+n, 1)
	}
}

// inEveryWindow reports whether a group has a node in every half window, and therefore in every
// window. If the result is false, the group may still be in every window.
func (q *windowOdds) inEveryWindow(g uint8) bool {
	f, half := &q.feasible, q.sampleSize/2
	for from := 0; from < f.count; from += half {
		i, end := from, min(from+half, f.count)
		for i < end && !q.isOrdinary(f.positions[i], g) {
			i++
		}
		if i == end {
			return false
		}
	}
	return true
}

func (q *windowOdds) addGroupEvents(g uint8) {
	f, from, to, any := &q.feasible, int32(0), int32(0), false
	for i := range f.count {
		if !q.isOrdinary(f.positions[i], g) {
			continue
		}
		first, last := q.startsCovering(int32(i))
		switch {
		case !any:
			any, from, to = true, first, last
		case first <= to+1:
			to = last
		default:
			q.addWindowEvents(int32(g), from, to)
			from, to = first, last
		}
	}
	if any {
		q.addWindowEvents(int32(g), from, to)
	}
}

// predictStarts distributes the odds of all starts in these ranges. Consecutive starts whose
// windows have the same ranges of raw scores are handled together, because each node has one total
// score in all of them.
func (q *windowOdds) predictStarts(runs []startRange) {
	p, i, from, n, began := &q.windows, 0, int32(0), int32(len(q.position)), false
	for k := range q.scoreGroups {
		q.scoreGroups[k].presence = q.scoreGroups[k].inEveryWindow
	}
	var now sampling.Ranges
	for at, next := int32(0), int32(0); at < n; at = next {
		for ; i < len(p.events) && int32(p.events[i]>>32) == at; i++ {
			q.scoreGroups[uint32(p.events[i])>>1].presence += int32(p.events[i]&1)*2 - 1
		}
		if next = n; i < len(p.events) {
			next = int32(p.events[i] >> 32)
		}
		if !overlapsAnyRange(runs, at, next) {
			continue
		}
		changed := (!began || !p.constantDomains) && q.updateSpreadScores(q.sampleSize)
		if x := q.presentRanges(); changed || !began || x != now {
			if began {
				q.distributeOdds(runs, from, at)
			}
			q.computeRelativeScores(&x)
			now, from, began = x, at, true
		}
	}
	if began {
		q.distributeOdds(runs, from, n)
	}
}

func overlapsAnyRange(runs []startRange, from, to int32) bool {
	for _, r := range runs {
		if r.from < to && from < r.to {
			return true
		}
	}
	return false
}
