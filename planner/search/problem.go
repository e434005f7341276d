package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// Problem is what a plan is made for: the cluster and its goals, and the account of what may leave.
type Problem struct {
	Start        *Simulation
	Account      *Account
	PlannerState plan.PlannerState
	Now          time.Time
	// Schedulers lists the untrusted schedulers and those with counted bindings.
	Schedulers []plan.SchedulerState
	// Earlier lists the moves of an earlier search whose predicted result is the start; see StartAfter.
	Earlier []WaveStep
	applied []WaveStep // those of Earlier that change the start
	// podsLeft lists the pods at the start on the nodes that Earlier changes, without replacements.
	podsLeft map[cluster.NodeID][]cluster.PodID
	// Stated lists the goals that count as stated by the strategies; nil means all goals of the problem.
	Stated []plan.Goal
}

// NewProblem returns the problem of a pass at the time now.
func NewProblem(opts *Options, s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Problem {
	changed := *opts
	changed.Options = *opts.WithDiscarded(st.Discarded, now)
	opts = &changed
	schedulers := opts.Trust.SchedulerStates(s, opts.Placement.Profiles, st.Schedulers)
	start := newSimulation(opts, s, goals, schedulers, now)
	return &Problem{Start: start, Account: newAccount(start, st, goals, now), PlannerState: st, Now: now, Schedulers: schedulers}
}

// PodsOf lists the pods of goal g at the start. For a node goal, the list omits replacements that landed on the node
// during planning or by an earlier move.
func (p *Problem) PodsOf(g int) []cluster.PodID {
	of := &p.Start.Goals.Goals[g]
	if of.Kind == plan.NodeBelow {
		if pods, changed := p.podsLeft[of.Node]; changed {
			return pods
		}
		return p.Start.Snapshot.Nodes[of.Node].Pods
	}
	return of.Pods
}

// StartAfter makes the moves of an earlier search part of the start: the search then begins in the predicted result of
// these moves. They count against the limits, their effects on budgets stay, and their pods may not leave again. The
// pods of moves without a predicted place keep their room. Both searches must be about the same snapshot and the same
// strategies. StartAfter must come before Run.
func (p *Problem) StartAfter(earlier []WaveStep) {
	p.Earlier, p.podsLeft = earlier, map[cluster.NodeID][]cluster.PodID{}
	for i, m := range earlier {
		if m.Kind != WithoutPlace { // its replacement may come back, so no other move gets its room
			p.Start.Apply(m.Step)
			p.applied = append(p.applied, m)
		}
		p.Account.Charge(m.Move)
		what := fmt.Sprintf("moves the pod from %s to %s", p.Start.NodeName(m.From), p.Start.NodeName(m.Landing.To))
		switch {
		case m.Kind == WithoutPlace:
			what = fmt.Sprintf("moves the pod from %s without a predicted place", p.Start.NodeName(m.From))
		case m.Landing.To == cluster.NoNode:
			what = "removes the pod"
		}
		p.Account.Eligibility.Forbid(m.Pod, plan.Reason{Code: plan.AlreadyPlanned, Message: fmt.Sprintf(
			"step %d of the automatic strategies %s", i+1, what)})
		p.podsLeft[m.From] = nil
	}
	for n := range p.podsLeft {
		p.podsLeft[n] = slices.DeleteFunc(slices.Clone(p.Start.Snapshot.Nodes[n].Pods), func(pod cluster.PodID) bool {
			at := p.Start.Model.Cluster.NodeOf(pod)
			return at != n && at != cluster.NoNode
		})
	}
	was := slices.Clone(p.Start.Goals.Goals)
	p.Start.Goals.Restart()
	for i := range was {
		if g := &p.Start.Goals.Goals[i]; g.Excess != was[i].Excess && g.Kind != plan.PodAway {
			g.Reason.Message = "after the moves of automatic strategies, " + excessMessage(g)
		}
	}
}

// excessMessage describes the excess of the goal at the start of the search. The strategy has described the snapshot.
func excessMessage(g *plan.Goal) string {
	if g.Kind == plan.NodeBelow {
		share, limit := percent.Pair(g.Limit+g.Excess, g.Limit)
		verb := "requested"
		if g.Basis == plan.BasisLoad {
			verb = "used"
		}
		return fmt.Sprintf("%s of the %s of %s is %s, above %s", share, g.Resource, g.Subject.Name, verb, limit)
	}
	if g.Kind == plan.CountAtMost {
		return fmt.Sprintf("%s has %v pods above %v on the values of %s", g.Subject.Name, g.Excess, g.Limit, g.TopologyKey)
	}
	return fmt.Sprintf("%s has a skew of %v over %s, above %v", g.Subject.Name, g.Limit+g.Excess, g.TopologyKey, g.Limit)
}

// newConsumed returns the permanent effects of the earlier moves.
func (p *Problem) newConsumed() *eligibility.Consumed {
	out := eligibility.NewConsumed()
	for _, m := range p.Earlier {
		out.Add(p.Account.Eligibility, m.Pod)
	}
	return out
}

// NewWave returns an empty wave that begins at the start.
func (p *Problem) NewWave() *Wave { return p.newWave(p.Start, 1) }

// newWave returns an empty wave that begins in the cluster now.
func (p *Problem) newWave(now *Simulation, number int) *Wave {
	crowded := *now
	crowded.Model = now.Model.Clone()
	w := &Wave{Start: now.Clone(), Now: now, Crowded: &crowded, eligible: p.Account.Eligibility, terminating: make([]int32, len(now.Snapshot.Nodes)),
		placesAtStart: map[placesKey]*places{}}
	w.begin(p.newConsumed(), number)
	return w
}

// SetTurn makes the strategies of the turn ask for moves, in the cluster at the start. Without soft strategies, it does
// nothing.
func (p *Problem) SetTurn(start *Simulation, turn goal.Turn) { p.setTurn(start, turn, nil) }

// setTurn is SetTurn for the cluster after moves.
func (p *Problem) setTurn(at *Simulation, turn goal.Turn, moves []WaveStep) {
	if !at.Goals.HasSoft() {
		return
	}
	at.Goals = at.Goals.ForTurn(turn, p.Account.goals, p.EarlierMoves(), podMoves(moves))
	at.version++ // a landing that was not acceptable may be acceptable in this turn
}

// EarlierMoves returns the moves before the start that change it; see StartAfter.
func (p *Problem) EarlierMoves() []goal.PodMove { return podMoves(p.applied) }

func podMoves(steps []WaveStep) (out []goal.PodMove) {
	for _, m := range steps {
		out = append(out, goal.PodMove{Pod: m.Pod, From: m.From, To: m.Landing.To})
	}
	return out
}
