package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// KeepCertain returns the moves of a wave whose landings are acceptable also if all other pods of the wave are gone. A
// node that they have left can then be the best node for the replacement, or its own node no longer is. In that case,
// moves that joined the wave later leave it, the latest first: those that leave the best node, and those to the same
// node. If there are none, the move itself leaves the wave. KeepCertain undoes such a move in the current state c and
// calls drop with its index and the reason. It repeats the check until no move leaves, because each of them changes the
// landings of the others.
func (w *WaveStates) KeepCertain(c *State, wave []Step, drop func(i int, why string)) []CertainMove {
	l := newLastInWave(w, c, wave)
	for again := true; again; {
		again = false
		for i := range wave {
			again = l.settle(i, drop) || again
		}
	}
	return l.close()
}

// CertainMove is a move that KeepCertain keeps.
type CertainMove struct {
	Index int // in the wave
	// Acceptable lists the nodes that are acceptable once the other pods of the wave are gone; none if there are no
	// others.
	Acceptable []cluster.NodeID
}

// lastInWave is the cluster in which all pods of a wave are gone. Replacements that are created only after their pod is
// gone may not be placed; the others are. The goals are those of the wave's start.
type lastInWave struct {
	start   *State // its model is changed until close
	current *State
	wave    []Step
	left    []bool             // by move
	nodes   [][]cluster.NodeID // by move: acceptable nodes
	remain  int
}

func newLastInWave(w *WaveStates, c *State, wave []Step) *lastInWave {
	l := &lastInWave{w.Start, c, wave, make([]bool, len(wave)), make([][]cluster.NodeID, len(wave)), len(wave)}
	for _, m := range wave {
		l.start.Model.Move(m.Pod, l.placeOf(m))
	}
	return l
}

func (l *lastInWave) placeOf(m Step) cluster.NodeID {
	if placement.ReplacedAfterGone(l.start.Model, m.Pod) {
		return cluster.NoNode
	}
	return m.Landing.To
}

// predict predicts the landing of a move as the last of the wave, and returns the best nodes if the landing is not
// acceptable. A single move was predicted when it joined the wave.
func (l *lastInWave) predict(i int) (reason plan.Reason, best []cluster.NodeID, ok bool) {
	if l.left[i] || l.remain == 1 {
		return plan.Reason{}, nil, true
	}
	m := l.wave[i]
	l.start.Model.Move(m.Pod, m.From)
	landing, reason, ok := l.start.Predict(m.Pod, m.Displaced != nil)
	*l.start.predictions-- // a wave needs few of these predictions, so they do not count towards the limit
	if p := &landing.predicted; ok {
		l.nodes[i] = l.start.AcceptableNodes(m.Pod, &landing, m.Displaced != nil).Append(l.nodes[i][:0])
	} else {
		best = slices.Concat(p.Terminating.Winners, p.Gone.Winners)
	}
	l.start.Model.Move(m.Pod, l.placeOf(m))
	return reason, best, ok
}

// settle lets moves leave the wave until the landing of move i is acceptable, and reports whether one left.
func (l *lastInWave) settle(i int, drop func(i int, why string)) (changed bool) {
	for reason, best, ok := l.predict(i); !ok; reason, best, ok = l.predict(i) {
		changed = true
		why := fmt.Sprintf("%s: %s", reason.Code, reason.Message)
		if j := l.laterMove(i, best); j >= 0 {
			l.leave(j)
			drop(j, "once it is gone, the landing of "+l.podName(i)+" is not acceptable: "+why)
			continue
		}
		l.leave(i)
		drop(i, "once the other pods of the wave are gone: "+why)
	}
	return changed
}

// laterMove returns the last move after i that leaves one of the nodes, or to the node of move i; -1 if there is none.
func (l *lastInWave) laterMove(i int, best []cluster.NodeID) int {
	for j := len(l.wave) - 1; j > i; j-- {
		if m := l.wave[j]; !l.left[j] && (slices.Contains(best, m.From) || m.Landing.To == l.wave[i].Landing.To) {
			return j
		}
	}
	return -1
}

func (l *lastInWave) leave(i int) {
	l.left[i] = true
	l.remain--
	l.start.Model.Move(l.wave[i].Pod, l.wave[i].From)
	l.current.Undo(l.wave[i])
}

// close restores the model of the wave's start and returns the moves that have not left the wave.
func (l *lastInWave) close() (kept []CertainMove) {
	for i, m := range l.wave {
		l.start.Model.Move(m.Pod, m.From)
		if !l.left[i] {
			kept = append(kept, CertainMove{i, l.nodes[i]})
		}
	}
	return kept
}

func (l *lastInWave) podName(i int) string {
	return plan.PodRefOf(&l.start.Snapshot.Pods[l.wave[i].Pod]).String()
}

// dropUncertain removes the moves that KeepCertain does not keep from the wave. They may join a later wave. A wave with
// hints keeps its moves, because they were predicted with these hints; Recheck drops them.
func (c *waveBuilder) dropUncertain() (dropped []Step) {
	w := c.wave
	if len(w.hinted) > 0 {
		return nil
	}
	kept := w.KeepCertain(c.State, w.steps, func(i int, _ string) {
		m := w.steps[i]
		w.leave(m)
		c.Limits.Remove(m.Pod, m.Strategy)
		c.Moved[m.Pod] = false
		dropped = append(dropped, m)
	})
	if len(dropped) == 0 {
		return nil
	}
	from := len(c.Moves) - len(w.steps)
	c.Moves = slices.Clip(c.Moves[:from])
	var steps []Step
	for _, k := range kept {
		steps = append(steps, w.steps[k.Index])
		c.Moves = append(c.Moves, WaveStep{w.steps[k.Index], w.number})
	}
	w.steps = steps
	return dropped
}
