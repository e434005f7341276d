package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// KeepCertain returns the moves of a wave whose landings are acceptable also if all other pods of the wave are gone. A
// node that they have left can then be the best node for the replacement. In that case, the moves that leave this node
// and joined the wave later leave the wave; if there are none, the move itself does. KeepCertain undoes such a move in
// the current state c and calls drop with its index and the reason.
func (w *WaveStates) KeepCertain(c *State, wave []Step, drop func(i int, why string)) []Step {
	l := newLastInWave(w, c, wave)
	for i := range wave {
		reason, nodes, ok := l.predict(i)
		if ok {
			continue
		}
		why := fmt.Sprintf("%s: %s", reason.Code, reason.Message)
		for j := len(wave) - 1; j > i; j-- {
			if !l.left[j] && slices.Contains(nodes, wave[j].From) {
				l.leave(j)
				drop(j, "once it is gone, the replacement of "+l.podName(i)+" may land on its node: "+why)
			}
		}
		if _, _, ok = l.predict(i); !ok {
			l.leave(i)
			drop(i, "once the other pods of the wave are gone: "+why)
		}
	}
	return l.close()
}

// lastInWave is the cluster in which all pods of a wave are gone. Replacements that are created only after their pod is
// gone may not be placed; the others are. The goals include all moves of the wave.
type lastInWave struct {
	state   *State // has the model of the wave's start, until close
	current *State
	wave    []Step
	left    []bool // by move
	remain  int
}

func newLastInWave(w *WaveStates, c *State, wave []Step) *lastInWave {
	state := *c
	state.Model = w.Start.Model
	l := &lastInWave{&state, c, wave, make([]bool, len(wave)), len(wave)}
	for _, m := range wave {
		l.state.Model.Move(m.Pod, l.placeOf(m))
	}
	return l
}

func (l *lastInWave) placeOf(m Step) cluster.NodeID {
	if l.state.Model.ReplacedAfterGone(m.Pod) {
		return cluster.NoNode
	}
	return m.Landing.To
}

// predict predicts the landing of a move as the last of the wave, and returns the likeliest nodes if the landing is not
// acceptable. A single move was predicted when it joined the wave.
func (l *lastInWave) predict(i int) (reason plan.Reason, nodes []cluster.NodeID, ok bool) {
	if l.left[i] || l.remain == 1 {
		return plan.Reason{}, nil, true
	}
	m := l.wave[i]
	l.state.Model.Move(m.Pod, m.From)
	l.state.Goals.Move(m.Pod, m.Landing.To, m.From)
	landing, reason, ok := l.state.Predict(m.Pod, m.Displaced != nil)
	if p := &landing.predicted; !ok {
		nodes = slices.Concat(p.Terminating.Winners, p.Gone.Winners)
	}
	l.state.Goals.Move(m.Pod, m.From, m.Landing.To)
	l.state.Model.Move(m.Pod, l.placeOf(m))
	return reason, nodes, ok
}

func (l *lastInWave) leave(i int) {
	l.left[i] = true
	l.remain--
	l.state.Model.Move(l.wave[i].Pod, l.wave[i].From)
	l.current.Undo(l.wave[i])
}

// close restores the model of the wave's start and returns the moves that have not left the wave.
func (l *lastInWave) close() (kept []Step) {
	for i, m := range l.wave {
		l.state.Model.Move(m.Pod, m.From)
		if !l.left[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

func (l *lastInWave) podName(i int) string {
	return plan.PodRefOf(&l.state.Snapshot.Pods[l.wave[i].Pod]).String()
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
		c.Limits.Remove(m.Pod)
		c.Moved[m.Pod] = false
		dropped = append(dropped, m)
	})
	if len(dropped) == 0 {
		return nil
	}
	from := len(c.Moves) - len(w.steps)
	c.Moves, w.steps = slices.Clip(c.Moves[:from]), kept
	for _, m := range kept {
		c.Moves = append(c.Moves, WaveStep{m, w.number})
	}
	return dropped
}
