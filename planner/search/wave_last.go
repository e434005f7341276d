package search

import (
	"fmt"
	"slices"
	"sync"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// CertainMoves returns the moves of a wave that keep a landing that is acceptable also if all other
// pods of the wave are gone, and an explanation for each other move, by index. A node that the
// others have left can then be the best node for the replacement, or its own node no longer is. In
// that case, moves that joined the wave later leave it, the latest first: those that leave the best
// node, and those to the same node. If there are none, the move itself leaves the wave.
//
// Each move that leaves changes the landings of the others, so the caller predicts them again, and calls CertainMoves
// until no move leaves. CertainMoves calls visit, if not nil, with the landing of each move that stays; the landing is
// valid during the call. A wave with a move keeps at least one.
func (w *Wave) CertainMoves(visit func(i int, m Move, l *Landing)) (kept []Step, left map[int]string) {
	wave := w.steps
	l := &endOfWave{w.Start, wave, map[int]string{}, visit, nil}
	for _, m := range wave {
		l.start.Model.Cluster.Move(m.Pod, l.placeOf(m))
	}
	if len(wave) >= fewTogether && visit == nil {
		l.proveTogether(w.Now.Model)
	}
	for i := range wave {
		l.settle(i)
	}
	for _, m := range wave {
		l.start.Model.Cluster.Move(m.Pod, m.From)
	}
	if len(l.left) == 0 {
		return wave, nil
	}
	for i, m := range wave {
		if _, gone := l.left[i]; !gone {
			kept = append(kept, m)
		}
	}
	return kept, l.left
}

// endOfWave is the cluster in which all pods of a wave are gone. Replacements that are created only after their pod is
// gone may not be placed; the others are. The goals are those of the wave's start.
type endOfWave struct {
	start *Simulation // its model is changed until CertainMoves returns
	wave  []Step
	left  map[int]string // by move that has left: why
	visit func(i int, m Move, l *Landing)
	// proven says by move whether bounds prove that its landing is acceptable while no move has left; nil: not known.
	proven []bool
}

// fewTogether is the number of moves from which two goroutines are faster than one.
const fewTogether = 16

// proveTogether fills proven with two goroutines. Each has its own model: that of the start, and that of the cluster
// now, in which the replacements are placed already. Only this goroutine reads the goals, so it takes fewer moves.
// Which moves it takes does not depend on the speed, so the plan does not either.
func (l *endOfWave) proveTogether(now *placement.ClusterModel) {
	for _, m := range l.wave {
		now.Cluster.Move(m.Pod, l.placeOf(m))
	}
	mine, others := l.wave[:len(l.wave)*2/5], l.wave[len(l.wave)*2/5:]
	winners, known := make([]prediction.NodeSet, len(others)), make([]bool, len(others))
	var other sync.WaitGroup
	other.Go(func() {
		for i, m := range others {
			winners[i], known[i] = possibleWinners(l.start.Model, m.Move, m.From)
			winners[i] = winners[i].Clone()
		}
	})
	for _, m := range mine {
		nodes, known := possibleWinners(now, m.Move, m.From)
		l.proven = append(l.proven, known && l.start.acceptsAll(m.Move, m.From, &nodes))
	}
	other.Wait()
	for i, m := range others {
		l.proven = append(l.proven, known[i] && l.start.acceptsAll(m.Move, m.From, &winners[i]))
	}
	for _, m := range l.wave {
		now.Cluster.Move(m.Pod, m.Landing.To)
	}
}

func (l *endOfWave) placeOf(m Step) cluster.NodeID {
	if placement.ReplacedAfterGone(l.start.Model, m.Pod) {
		return cluster.NoNode
	}
	return m.Landing.To
}

// predict predicts the landing of a move as the last of the wave, and returns the best nodes if the landing is not
// acceptable. A single move was predicted when it joined the wave.
func (l *endOfWave) predict(i int) (reason plan.Reason, best []cluster.NodeID, ok bool) {
	if _, gone := l.left[i]; gone || len(l.left) == len(l.wave)-1 {
		return plan.Reason{}, nil, true
	}
	m := l.wave[i]
	if !kinds[m.Kind].replaced || l.visit == nil && l.certain(i) {
		return plan.Reason{}, nil, true
	}
	l.start.Model.Cluster.Move(m.Pod, m.From)
	landing, reason, ok := l.start.Predict(m.Move)
	*l.start.predictions-- // a wave needs few of these predictions, so they do not count towards the limit
	if p := landing.predicted; !ok {
		best = slices.Concat(p.Terminating.Winners, p.Gone.Winners)
	} else if l.visit != nil {
		l.visit(i, m.Move, &landing)
	}
	l.start.Model.Cluster.Move(m.Pod, l.placeOf(m))
	return reason, best, ok
}

// certain reports whether bounds prove that the landing of a move is acceptable.
func (l *endOfWave) certain(i int) bool {
	if len(l.left) == 0 && l.proven != nil {
		return l.proven[i]
	}
	m := l.wave[i]
	return l.placeOf(m) != cluster.NoNode && l.start.certain(m.Move, m.From)
}

// settle lets moves leave the wave until the landing of move i is acceptable.
func (l *endOfWave) settle(i int) {
	for reason, best, ok := l.predict(i); !ok; reason, best, ok = l.predict(i) {
		why := fmt.Sprintf("%s: %s", reason.Code, reason.Message)
		if j := l.laterMove(i, best); j >= 0 {
			l.leave(j, "once it is gone, the landing of "+l.podName(i)+" is not acceptable: "+why)
			continue
		}
		l.leave(i, "once the other pods of the wave are gone: "+why)
	}
}

// laterMove returns the last move after i that leaves one of the nodes, or to the node of move i; -1 if there is none.
func (l *endOfWave) laterMove(i int, best []cluster.NodeID) int {
	for j := len(l.wave) - 1; j > i; j-- {
		if _, gone := l.left[j]; gone {
			continue
		}
		if m := l.wave[j]; slices.Contains(best, m.From) ||
			m.Landing.To != cluster.NoNode && m.Landing.To == l.wave[i].Landing.To {
			return j
		}
	}
	return -1
}

func (l *endOfWave) leave(i int, why string) {
	l.left[i] = why
	l.start.Model.Cluster.Move(l.wave[i].Pod, l.wave[i].From)
}

func (l *endOfWave) podName(i int) string {
	return plan.PodRefOf(&l.start.Snapshot.Pods[l.wave[i].Pod]).String()
}

// dropUncertain removes the moves that CertainMoves does not keep from the wave. They may join a later wave. Another
// landing may need the room that they would have left. If the goals no longer accept it, that move leaves, too. What
// Wave promises of the other landings holds for every part of the wave, so they need no new prediction. The loop
// ends because each round removes a move. A wave with hints keeps its moves, because they were predicted with these
// hints; Recheck drops them.
func (c *waves) dropUncertain() (dropped []Step) {
	before := c.current.steps
	for len(c.current.hinted) == 0 {
		kept, left := c.current.CertainMoves(nil)
		if len(left) == 0 {
			break
		}
		c.emptyWave()
		for _, m := range kept {
			if m.Landing.To == cluster.NoNode || c.sim.accepts(m.Move)(m.Landing.To) {
				c.rejoin(m)
			}
		}
		if len(c.current.steps) == 0 {
			c.repeatFirst(kept[0])
		}
	}
	return slices.DeleteFunc(slices.Clone(before), func(m Step) bool { return c.moved[m.Pod] })
}

// rejoin adds a move to the wave with its landing unchanged, if a strategy may still make it.
func (c *waves) rejoin(m Step) {
	if m.Kind != MakeRoom {
		if m.Landing.ImprovedGoals = c.sim.Goals.ImprovedGoals(m.Pod, m.From, m.Landing.To); m.Kind == WithoutPlace {
			m.Landing.ImprovedGoals = metByLeaving(c.sim, m.Pod)
		}
		if a, _ := c.attribute(&m); a != Admitted {
			return
		}
		c.recordImproved(&m)
	}
	c.add(m)
}

// repeatFirst predicts a move again, as the only move of its wave. Its landing was acceptable at the beginning of the
// wave, so it joins. This prediction does not count towards the limit.
func (c *waves) repeatFirst(m Step) {
	mayHint, scope, spent := c.current.mayHint, c.scope, *c.sim.predictions
	c.current.mayHint, c.scope = false, anyGoal
	c.repeat(m)
	c.current.mayHint, c.scope, *c.sim.predictions = mayHint, scope, spent
}

// emptyWave undoes the moves of the current wave.
func (c *waves) emptyWave() {
	w := c.current
	for _, m := range w.steps {
		c.account.Refund(m.Move)
		c.moved[m.Pod] = false
	}
	c.moves = slices.Clip(c.moves[:len(c.moves)-len(w.steps)])
	w.undo()
}
