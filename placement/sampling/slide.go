package sampling

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// shared is what the second state of the victim takes over from the first. Both
// mostly differ in one node at most, the victim's, so that windows without it
// have the same outcome: they come first, and what they led to is kept.
type shared struct {
	in     *cycle.Replacement // whose windows are kept; nil: none
	pivot  int                // in the walk, the node that was left out
	column [][]int64          // what was read, by node; the scratch of the next reading
	fixed  []int64
	on     []bool
	window window
}

// read takes in what decides the scores, and keeps what the last state had.
func (s *Sampler) read() {
	x, k := &s.shared, &s.kinds
	x.column, k.column = k.column, x.column
	x.fixed, k.fixed = k.fixed, x.fixed
	x.on, k.on = k.on, x.on
	s.readColumns()
	s.addFixed()
}

// everyStart adds up the odds over every window: each gives its weight to the
// nodes with its best total, in equal parts.
func (s *Sampler) everyStart() {
	n, x := len(s.nodes), &s.shared
	s.findKinds()
	s.open()
	x.pivot = n - 1
	if v := s.r.Model.PodNode[s.r.Victim]; v != cluster.NoNode && s.place[v] > 0 {
		x.pivot = slices.Index(s.nodes, v)
	}
	first := (x.pivot + 1) % n
	for i := range s.size - 1 {
		s.enter((first + i) % n)
	}
	s.slide(first, n-s.size)
	x.in = s.r.Replacement
	x.window.copy(&s.window)
	s.finish(x.pivot)
}

// fewStarts is everyStart where nothing but the pivot is unlike the first state:
// only windows with the pivot are looked at. Otherwise it reports false.
func (s *Sampler) fewStarts() bool {
	x, k, n := &s.shared, &s.kinds, len(s.nodes)
	if x.in != s.r.Replacement {
		return false
	}
	x.in = nil
	for c := range softColumn + len(s.r.Replacement.Spread.Soft) {
		if k.on[c] != x.on[c] || k.on[c] && !x.alike(x.column[c], k.column[c]) {
			return false
		}
	}
	if !x.alike(x.fixed, k.fixed) {
		return false
	}
	s.window.copy(&x.window)
	s.addPivot()
	s.finish(n)
	s.window.odds[x.pivot] = s.window.odds[n]
	s.nodes = s.nodes[:n]
	return true
}

// alike reports whether two readings differ in the pivot at most.
func (x *shared) alike(a, b []int64) bool {
	p := x.pivot
	return slices.Equal(a[:p], b[:p]) && slices.Equal(a[p+1:], b[p+1:])
}

// addPivot adds what the pivot has become as one more node, the only one of its
// kind and level.
func (s *Sampler) addPivot() {
	x, k, w, n := &s.shared, &s.kinds, &s.window, len(s.nodes)
	value := k.fixed[x.pivot]
	for c, column := range k.column {
		k.column[c] = append(column, column[x.pivot])
		if k.on[c] {
			k.column[c][x.pivot] = x.column[c][x.pivot]
		}
	}
	s.nodes = append(s.nodes, s.nodes[x.pivot])
	kind, level := int32(k.count), int32(len(k.value))
	k.count++
	k.of, k.level = append(k.of[:n], kind), append(k.level[:n], level)
	k.first, k.value = append(k.first, int32(n)), append(k.value, value)
	k.start = append(k.start, level+1)
	w.inside, w.dealt = append(w.inside, 0), append(w.dealt, 0)
	w.since, w.odds = append(w.since, 0), append(w.odds, 0)
	w.kind, w.top = append(w.kind, 0), append(w.top, level)
	w.score, w.scoreAt = append(w.score, 0), append(w.scoreAt, 0)
	w.rawSpread = append(w.rawSpread, s.raw(int(kind)))
}

// slide looks at so many windows from the one that begins with node `from`, of
// which all but the last node are inside.
func (s *Sampler) slide(from, windows int) {
	n := s.around()
	last := (from + s.size - 1) % n
	for range windows {
		s.enter(last)
		s.judge(from, last)
		s.leave(from)
		if from++; from == n {
			from = 0
		}
		if last++; last == n {
			last = 0
		}
	}
}

// around is how many nodes the walk has, without the one that addPivot adds.
func (s *Sampler) around() int { return len(s.weight) }

// finish looks at the windows that have the pivot, as which the given node
// comes, and pays who is inside at the end.
func (s *Sampler) finish(pivot int) {
	n, at := s.around(), s.shared.pivot
	from := (at + 1 + n - s.size) % n
	s.enter(pivot)
	s.judge(from, pivot)
	s.leave(from)
	s.slide((from+1)%n, s.size-2)
	last := (at + s.size - 1) % n
	s.enter(last)
	s.judge(at, last)
	s.pay(pivot)
	for i := range s.size - 1 {
		s.pay((at + 1 + i) % n)
	}
}

// judge gives the weight of the window that begins with `from` to its winners;
// `last` has just come.
func (s *Sampler) judge(from, last int) {
	w := &s.window
	if w.fresh || len(w.counted) > 0 && !slices.Equal(w.domains, w.weighed) {
		s.weigh()
	}
	if w.unsure {
		s.measure()
	}
	if w.search {
		s.findBest()
	} else {
		s.consider(last)
	}
	w.most = max(w.most, w.best)
	ties := int32(0)
	for _, level := range w.winners {
		ties += w.inside[level]
	}
	share := s.weight[from]
	if ties > 1 {
		share /= float64(ties)
	}
	for _, level := range w.winners {
		w.dealt[level] += share
	}
}

// copy makes the window like another.
func (w *window) copy(from *window) {
	own := *w
	*w = *from
	w.inside, w.kind, w.top = append(own.inside[:0], from.inside...), append(own.kind[:0], from.kind...), append(own.top[:0], from.top...)
	w.dealt, w.since, w.odds = append(own.dealt[:0], from.dealt...), append(own.since[:0], from.since...), append(own.odds[:0], from.odds...)
	w.winners, w.counted = append(own.winners[:0], from.winners...), append(own.counted[:0], from.counted...)
	w.score, w.scoreAt, w.rawSpread = append(own.score[:0], from.score...), append(own.scoreAt[:0], from.scoreAt...), append(own.rawSpread[:0], from.rawSpread...)
	w.domains, w.weighed, w.weights = append(own.domains[:0], from.domains...), append(own.weighed[:0], from.weighed...), append(own.weights[:0], from.weights...)
	w.counts = own.counts
	for len(w.counts) < len(from.counts) {
		w.counts = append(w.counts, nil)
	}
	for c := range from.counts {
		w.counts[c] = append(w.counts[c][:0], from.counts[c]...)
	}
}
