package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// segments are what the starts of the walk are divided by: where kinds of nodes
// come into the windows and go.
type segments struct {
	events  []uint64 // by start: start << 32 | kind << 1, and 1 where it comes
	weights [maxSoft]float64
	shared  bool // every group that is anywhere is in every window
}

// findEvents finds where kinds come and go, O(k log k) for k special nodes, and O(N)
// for each group that is not in every window.
func (q *Predictor) findEvents() {
	p := &q.parts
	p.events, p.shared = p.events[:0], true
	for g := range q.sight.land.nodes {
		if q.everywhere(uint8(g)) {
			q.kinds[g].always = 1
		} else {
			p.shared = false // windows without it have other domains
			q.addRuns(uint8(g))
		}
	}
	for i := range q.special {
		if x := &q.special[i]; x.feasible {
			from, to := q.reach(x.at)
			q.addEvents(x.kind, from, to)
		}
	}
	slices.Sort(p.events)
	p.weights = [maxSoft]float64{}
}

// startsWith are the starts whose windows the victim's node is in when it is
// feasible, and the others.
func (q *Predictor) startsWith(victim cluster.NodeID) (with, others []run) {
	n := int32(len(q.place))
	if victim == cluster.NoNode || q.sight.land.group[q.place[victim]] == nowhere {
		return nil, []run{{0, n}}
	}
	at, _ := q.field.find(q.place[victim])
	from, _ := q.reach(int32(at))
	to := q.place[victim] + 1
	if from >= 0 {
		return []run{{from, to}}, []run{{0, from}, {to, n}}
	}
	return []run{{0, to}, {from + n, n}}, []run{{to, from + n}}
}

// reach are the starts, from and up to, whose windows have the node; from is
// negative where they begin at the end of the walk.
func (q *Predictor) reach(at int32) (from, to int32) {
	f, size := &q.field, int32(q.size)
	if at >= size {
		return f.at[at-size] + 1, f.at[at]
	}
	return f.at[int(at)+f.count-q.size] - int32(len(q.place)) + 1, f.at[at]
}

// addEvents notes that a kind is in the windows from a start up to another.
func (q *Predictor) addEvents(kind, from, to int32) {
	p, n := &q.parts, int32(len(q.place))
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

// everywhere reports that a group is in every window: it is in every stretch of
// half a window. False may be wrong.
func (q *Predictor) everywhere(g uint8) bool {
	f, half := &q.field, q.size/2
	for from := 0; from < f.count; from += half {
		i, end := from, min(from+half, f.count)
		for i < end && !q.plain(f.at[i], g) {
			i++
		}
		if i == end {
			return false
		}
	}
	return true
}

// addRuns notes in which windows a group is that is not in all of them.
func (q *Predictor) addRuns(g uint8) {
	f, from, to, any := &q.field, int32(0), int32(0), false
	for i := range f.count {
		if !q.plain(f.at[i], g) {
			continue
		}
		first, last := q.reach(int32(i))
		switch {
		case !any:
			any, from, to = true, first, last
		case first <= to+1:
			to = last
		default:
			q.addEvents(int32(g), from, to)
			from, to = first, last
		}
	}
	if any {
		q.addEvents(int32(g), from, to)
	}
}

// everyStart deals the odds of the starts in these runs. It goes along them by
// segments: starts whose windows have the same extremes of the relative scores, so
// that a node has one total in all of them.
func (q *Predictor) everyStart(runs []run) {
	p, i, from, n, began := &q.parts, 0, int32(0), int32(len(q.place)), false
	for k := range q.kinds {
		q.kinds[k].present = q.kinds[k].always
	}
	var now sampling.Ranges
	for at, next := int32(0), int32(0); at < n; at = next {
		for ; i < len(p.events) && int32(p.events[i]>>32) == at; i++ {
			q.kinds[uint32(p.events[i])>>1].present += int32(p.events[i]&1)*2 - 1
		}
		if next = n; i < len(p.events) {
			next = int32(p.events[i] >> 32)
		}
		if !meets(runs, at, next) {
			continue
		}
		changed := (!began || !p.shared) && q.weigh(q.size)
		if x := q.stretches(); changed || !began || x != now {
			if began {
				q.coverStarts(runs, from, at)
			}
			q.relate(&x)
			now, from, began = x, at, true
		}
	}
	if began {
		q.coverStarts(runs, from, n)
	}
}

// meets reports whether any of the starts is in a run.
func meets(runs []run, from, to int32) bool {
	for _, r := range runs {
		if r.from < to && from < r.to {
			return true
		}
	}
	return false
}

// plain reports whether a node of a group, but no special one, is at the place.
func (q *Predictor) plain(place int32, g uint8) bool {
	return q.sight.land.group[place] == g && q.marked[place>>6]>>(place&63)&1 == 0
}
