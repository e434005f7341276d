package sampling

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"math"
	"slices"
)

// window is the sample that is looked at while samples slide along the walk.
// From one to the next a node leaves and a node comes, so that little changes:
// the extremes by which scores are stretched only when a kind comes or goes that
// has one, the best nodes only when one of them goes or one as good comes.
type window struct {
	inside []int32 // nodes by level
	kind   []int32 // nodes by kind
	top    []int32 // by kind, a level that no level with nodes is above

	// dealt is what every node of a level has got so far while it was inside;
	// since is what that was when a node came.
	dealt []float64
	since []float64
	odds  []float64 // of each node: the probability that it is chosen
	most  int64     // best total of any window so far

	best    int64
	winners []int32 // the levels with the best total; never empty ones
	search  bool    // they are not known

	stretch   Ranges
	unsure    bool    // whether the stretches still hold
	version   int32   // of the stretches
	score     []int64 // by kind, the relative scores
	scoreAt   []int32 // by kind, the version at which score holds
	rawSpread []int64 // by kind

	fresh   bool      // rawSpread is not known
	domains []int32   // by soft constraint
	weighed []int32   // the domains by which rawSpread is weighed
	weights []float64 // by soft constraint, what rawSpread is weighed with
	counts  [][]int32 // by soft constraint but the host name, nodes by domain
	counted []int     // soft constraints whose domains are not the same in every window
}

// Ranges are the extremes over a sample by which raw scores become 0..100.
type Ranges struct {
	Taints, Preferred        int64 // most
	InterPodMin, InterPodMax int64
	SpreadMin, SpreadMax     int64
}

// open makes the window empty.
func (s *Sampler) open() {
	w, k := &s.window, &s.kinds
	levels := len(k.value)
	w.inside, w.kind, w.top = Resize(w.inside, levels), Resize(w.kind, k.count), Resize(w.top, k.count)
	clear(w.inside)
	clear(w.kind)
	copy(w.top, k.start)
	w.dealt, w.since, w.odds = cycle.ResizeFloat64(w.dealt, levels), cycle.ResizeFloat64(w.since, len(s.nodes)), cycle.ResizeFloat64(w.odds, len(s.nodes))
	w.most, w.fresh = 0, true
	w.score, w.scoreAt, w.rawSpread = cycle.ResizeInt64(w.score, k.count), Resize(w.scoreAt, k.count), cycle.ResizeInt64(w.rawSpread, k.count)
	clear(w.scoreAt)
	w.version, w.search, w.unsure = 1, true, true
	soft := len(s.r.Replacement.Spread.Soft)
	w.domains, w.weighed, w.counted = Resize(w.domains, soft), Resize(w.weighed, soft), w.counted[:0]
	for len(w.counts) < soft {
		w.counts = append(w.counts, nil)
	}
	for c := range soft {
		w.domains[c], w.weighed[c] = 0, -1
		if k.on[softColumn+c] && !s.steady(c) {
			w.counted = append(w.counted, c)
		}
	}
}

func (s *Sampler) enter(i int) {
	w, kind, level := &s.window, s.kinds.of[i], s.kinds.level[i]
	w.since[i] = w.dealt[level]
	w.inside[level]++
	w.kind[kind]++
	w.top[kind] = max(w.top[kind], level)
	if len(w.counted) > 0 {
		s.countDomains(i, 1)
	}
	w.unsure = w.unsure || w.kind[kind] == 1 && s.extreme(kind)
}

// consider looks whether the node that came is as good as the best.
func (s *Sampler) consider(i int) {
	w, kind, level := &s.window, s.kinds.of[i], s.kinds.level[i]
	switch total := s.relative(kind) + s.kinds.value[level]; {
	case total > w.best:
		w.best, w.winners = total, append(w.winners[:0], level)
	case total == w.best && w.inside[level] == 1:
		w.winners = append(w.winners, level)
	}
}

func (s *Sampler) leave(i int) {
	w, kind, level := &s.window, s.kinds.of[i], s.kinds.level[i]
	s.pay(i)
	w.inside[level]--
	w.kind[kind]--
	if len(w.counted) > 0 {
		s.countDomains(i, -1)
	}
	if w.kind[kind] == 0 && s.extreme(kind) {
		w.unsure = true
	}
	if w.inside[level] > 0 {
		return
	}
	if at := slices.Index(w.winners, level); at >= 0 {
		w.winners = slices.Delete(w.winners, at, at+1)
		w.search = w.search || len(w.winners) == 0
	}
}

// pay gives a node what its level got since it came.
func (s *Sampler) pay(i int) {
	w := &s.window
	w.odds[i] += w.dealt[s.kinds.level[i]] - w.since[i]
}

// scored reports whether soft constraints score the nodes of a kind.
func (s *Sampler) scored(kind int32) bool {
	k := &s.kinds
	return len(k.on) > softColumn && k.on[softColumn] && k.column[softColumn][k.first[kind]] != skipped
}

// extreme reports whether a kind has a value that is, or goes beyond, an extreme
// of the sample.
func (s *Sampler) extreme(kind int32) bool {
	w, k := &s.window, &s.kinds
	x, i := &w.stretch, k.first[kind]
	at := func(c int, most int64) bool { return k.on[c] && k.column[c][i] > 0 && k.column[c][i] >= most }
	if at(taintColumn, x.Taints) || at(affinityColumn, x.Preferred) {
		return true
	}
	if v := k.column[interColumn][i]; k.on[interColumn] && (v <= x.InterPodMin || v >= x.InterPodMax) {
		return true
	}
	return s.scored(kind) && (w.rawSpread[kind] <= x.SpreadMin || w.rawSpread[kind] >= x.SpreadMax)
}

// measure finds the stretches of the window anew.
func (s *Sampler) measure() {
	w, k := &s.window, &s.kinds
	x := Ranges{InterPodMin: math.MaxInt64, InterPodMax: math.MinInt64, SpreadMin: math.MaxInt64}
	for kind, nodes := range w.kind {
		if nodes == 0 {
			continue
		}
		i := k.first[kind]
		if k.on[taintColumn] {
			x.Taints = max(x.Taints, k.column[taintColumn][i])
		}
		if k.on[affinityColumn] {
			x.Preferred = max(x.Preferred, k.column[affinityColumn][i])
		}
		if k.on[interColumn] {
			v := k.column[interColumn][i]
			x.InterPodMin, x.InterPodMax = min(x.InterPodMin, v), max(x.InterPodMax, v)
		}
		if s.scored(int32(kind)) {
			v := w.rawSpread[kind]
			x.SpreadMin, x.SpreadMax = min(x.SpreadMin, v), max(x.SpreadMax, v)
		}
	}
	if x != w.stretch {
		w.stretch, w.search = x, true
		w.version++
	}
	w.unsure = false
}

// relative is the weighted sum of a kind's relative scores in the window.
func (s *Sampler) relative(kind int32) int64 {
	w := &s.window
	if w.scoreAt[kind] != w.version {
		w.score[kind], w.scoreAt[kind] = s.relativeScores(kind), w.version
	}
	return w.score[kind]
}

func (s *Sampler) relativeScores(kind int32) (sum int64) {
	k, x, weights := &s.kinds, &s.window.stretch, &s.r.Replacement.Profile.Weights
	i := k.first[kind]
	if k.on[taintColumn] {
		sum += weights.TaintToleration * (scheduler.MaxScore - RelativeScore(k.column[taintColumn][i], x.Taints))
	}
	if k.on[affinityColumn] {
		sum += weights.NodeAffinity * RelativeScore(k.column[affinityColumn][i], x.Preferred)
	}
	if k.on[interColumn] {
		sum += weights.InterPodAffinity * score.Scale(k.column[interColumn][i], x.InterPodMin, x.InterPodMax, scheduler.MaxScore)
	}
	switch {
	case !s.scored(kind):
	case x.SpreadMax == 0:
		sum += weights.PodTopologySpread * scheduler.MaxScore
	default:
		sum += weights.PodTopologySpread * (scheduler.MaxScore * (x.SpreadMax + x.SpreadMin - s.window.rawSpread[kind]) / x.SpreadMax)
	}
	return sum
}

// findBest looks for the best totals among all levels.
func (s *Sampler) findBest() {
	w, k := &s.window, &s.kinds
	w.winners, w.search = w.winners[:0], false
	for kind, nodes := range w.kind {
		if nodes == 0 {
			continue
		}
		for w.inside[w.top[kind]] == 0 {
			w.top[kind]--
		}
		level := w.top[kind]
		total := s.relative(int32(kind)) + k.value[level]
		if len(w.winners) == 0 || total > w.best {
			w.best, w.winners = total, w.winners[:0]
		}
		if total == w.best {
			w.winners = append(w.winners, level)
		}
	}
}

// RelativeScore is v in percent of the most, 0 where that is 0.
func RelativeScore(v, most int64) int64 {
	if most == 0 {
		return 0
	}
	return scheduler.MaxScore * v / most
}
