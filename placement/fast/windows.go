package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// windowEvents lists the start positions at which a score group enters or leaves the window.
type windowEvents struct {
	pod             *podToPlace
	nodes           *nodeResources
	feasible        *feasibleNodes
	special         *specialNodes
	scores          *relativeScores
	levels          *levelSearch
	events          []uint64 // sorted: start << 32 | score group << 1 | 1 if it enters
	constantDomains bool     // every window contains every group that has a node
}

// find finds the start positions at which score groups enter and leave the window. The
// time is O(k log k) for k special nodes, plus O(N) for each group that some window lacks.
func (p *windowEvents) find() {
	p.events, p.constantDomains = p.events[:0], len(p.pod.view.unspread) == 0
	for g := range p.pod.view.groups.nodes {
		if p.inEveryWindow(int32(g)) {
			p.scores.groups[g].inEveryWindow = 1
		} else {
			p.constantDomains = false // windows without the group have fewer domains
			p.addGroupEvents(int32(g))
		}
	}
	for i := range p.special.list {
		if x := &p.special.list[i]; x.feasible {
			from, to := p.feasible.startsCovering(x.feasibleIndex)
			p.add(x.scoreGroup, from, to)
		}
	}
	slices.Sort(p.events)
}

// splitStarts splits the start positions by whether their windows contain the victim's node if this
// node is feasible.
func (p *windowEvents) splitStarts(victim cluster.NodeID) (with, others []startRange) {
	n := int32(len(p.nodes.position))
	if victim == cluster.NoNode || p.pod.view.groups.group[p.nodes.position[victim]] == noGroup {
		return nil, []startRange{{0, n}}
	}
	at, _ := p.feasible.indexOf(p.nodes.position[victim])
	from, _ := p.feasible.startsCovering(int32(at))
	to := p.nodes.position[victim] + 1
	if from >= 0 {
		return []startRange{{from, to}}, []startRange{{0, from}, {to, n}}
	}
	return []startRange{{0, to}, {from + n, n}}, []startRange{{to, from + n}}
}

// add records that the windows of these starts contain a score group.
func (p *windowEvents) add(kind, from, to int32) {
	n := int32(len(p.nodes.position))
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
func (p *windowEvents) inEveryWindow(g int32) bool {
	f, half := p.feasible, p.pod.sampleSize/2
	for from := 0; from < f.count; from += half {
		i, end := from, min(from+half, f.count)
		for i < end && !p.special.isOrdinary(f.positions[i], g) {
			i++
		}
		if i == end {
			return false
		}
	}
	return true
}

func (p *windowEvents) addGroupEvents(g int32) {
	from, to, any := int32(0), int32(0), false
	for at := range p.special.ordinaryNodes(int(g)) {
		first, last := p.feasible.startsCovering(at)
		switch {
		case !any:
			any, from, to = true, first, last
		case first <= to+1:
			to = last
		default:
			p.add(g, from, to)
			from, to = first, last
		}
	}
	if any {
		p.add(g, from, to)
	}
}

// predictStarts distributes the odds of all starts in these ranges. Consecutive starts whose
// windows have the same ranges of raw scores are handled together, because each node has one total
// score in all of them.
func (p *windowEvents) predictStarts(runs []startRange) {
	i, from, n, began := 0, int32(0), int32(len(p.nodes.position)), false
	for k := range p.scores.groups {
		p.scores.groups[k].presence = p.scores.groups[k].inEveryWindow
	}
	var now scoreRanges
	for at, next := int32(0), int32(0); at < n; at = next {
		for ; i < len(p.events) && int32(p.events[i]>>32) == at; i++ {
			p.scores.groups[uint32(p.events[i])>>1].presence += int32(p.events[i]&1)*2 - 1
		}
		if next = n; i < len(p.events) {
			next = int32(p.events[i] >> 32)
		}
		if !slices.ContainsFunc(runs, func(r startRange) bool { return r.from < next && at < r.to }) {
			continue
		}
		changed := (!began || !p.constantDomains) && p.scores.updateSpreadScores(p.pod.sampleSize)
		if x := p.scores.presentRanges(); changed || !began || x != now {
			if began {
				p.levels.distribute(runs, from, at)
			}
			p.scores.computeRelativeScores(&x)
			now, from, began = x, at, true
		}
	}
	if began {
		p.levels.distribute(runs, from, n)
	}
}
