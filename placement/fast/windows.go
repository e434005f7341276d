package fast

import (
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// windowEvents lists the start positions at which members enter or leave the window.
type windowEvents struct {
	*parts
	members []windowMember
	lasting []windowMember // members of every window
	events  []uint64       // sorted: start << 32 | index of the member << 1 | 1 if it enters
}

// find finds the start positions at which members enter and leave the window. The
// time is O(k log k) for k special nodes, plus O(N) for the groups that some window lacks.
func (p *windowEvents) find() {
	p.events, p.members, p.lasting = p.events[:0], p.members[:0], p.lasting[:0]
	for g := range p.pod.view.groups.nodes {
		m := windowMember{p.scores.groupOf[g], int32(g)}
		if p.inEveryWindow(int32(g)) {
			p.lasting = append(p.lasting, m)
		} else {
			p.members = append(p.members, m)
			p.addGroupEvents(g)
		}
	}
	for i := range p.special.list {
		if x := &p.special.list[i]; x.feasible {
			p.members = append(p.members, windowMember{x.scoreGroup, x.group})
			p.add(p.feasible.startsCovering(x.feasibleIndex))
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

// add records that the windows of these starts contain the last member.
func (p *windowEvents) add(from, to int32) {
	n, member := int32(len(p.nodes.position)), uint64(len(p.members)-1)
	add := func(at int32, comes uint64) {
		if at < n {
			p.events = append(p.events, uint64(at)<<32|member<<1|comes)
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
	f, half := &p.feasible, p.pod.sampleSize/2
	if int(p.pod.view.groups.size[g])*half < f.count {
		return false
	}
	isOrdinary := func(place int32) bool {
		return p.pod.view.groups.group[place] == g && p.special.positions[place>>6]>>(place&63)&1 == 0
	}
	for from := 0; from < f.count; from += half {
		if !slices.ContainsFunc(f.positions[from:min(from+half, f.count)], isOrdinary) {
			return false
		}
	}
	return true
}

func (p *windowEvents) addGroupEvents(g int) {
	from, to, any := int32(0), int32(0), false
	for i := range p.pod.view.groups.bits[g] {
		word, at := p.special.ordinaryOf(g, i)
		for ; word != 0; word &= word - 1 {
			first, last := p.feasible.startsCovering(p.feasible.countBefore[at] + int32(bits.OnesCount64(p.feasible.bits[at]&(word&-word-1))))
			switch {
			case !any:
				any, from, to = true, first, last
			case first <= to+1:
				to = last
			default:
				p.add(from, to)
				from, to = first, last
			}
		}
	}
	if any {
		p.add(from, to)
	}
}

// predictStarts distributes the odds of all starts in these ranges. Consecutive starts whose
// windows have the same ranges of raw scores are handled together, because each node has one total
// score in all of them.
func (p *windowEvents) predictStarts(runs []startRange) {
	i, from, n, began := 0, int32(0), int32(len(p.nodes.position)), false
	p.scores.emptyWindow()
	for _, m := range p.lasting {
		p.scores.change(m, 1)
	}
	var now scoreRanges
	for at, next := int32(0), int32(0); at < n; at = next {
		for ; i < len(p.events) && int32(p.events[i]>>32) == at; i++ {
			p.scores.change(p.members[uint32(p.events[i])>>1], int32(p.events[i]&1)*2-1)
		}
		if next = n; i < len(p.events) {
			next = int32(p.events[i] >> 32)
		}
		if !slices.ContainsFunc(runs, func(r startRange) bool { return r.from < next && at < r.to }) {
			continue
		}
		changed := p.scores.updateSpreadScores(p.pod.sampleSize)
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
