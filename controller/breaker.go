package controller

import (
	"context"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

// checkBreaker checks whether the breaker blocks this pass, and records the baseline for later
// checks. It also updates the scheduler counts in the state.
func (p *pass) checkBreaker() {
	if p.Trust != nil { // its counts begin with the stored ones
		p.Trust.Restore(p.journal.state.Schedulers)
		p.journal.state.Schedulers = p.Trust.Counts()
	}
	p.breakerBaseline = breaker.NewBaseline(p.snapshot)
	p.recordUnreadyNodes(p.snapshot)
	if p.breakerReason = p.Breaker.StaysOpen(p.journal.state.Breaker, p.snapshot, p.journal.state.UnreadyNodes, p.Clock.Now()); p.breakerReason == nil {
		p.journal.state.Breaker = nil
	}
	if p.journal.state.Breaker == nil {
		p.breakerReason = p.tripBreaker(p.Breaker.CheckCluster(p.snapshot, p.breakerBaseline, p.journal.state.UnreadyNodes))
	}
}

// checkClusterAgain lets the breaker check a later snapshot of this pass. It returns the reason to stop the pass, or
// nil.
func (p *pass) checkClusterAgain(s *cluster.Snapshot) *plan.Reason {
	p.recordUnreadyNodes(s)
	return p.tripBreaker(p.Breaker.CheckCluster(s, p.breakerBaseline, p.journal.state.UnreadyNodes))
}

// recordUnreadyNodes adds the nodes that are not Ready, or were not when they were deleted, to the
// state. The pass saves the state later.
func (p *pass) recordUnreadyNodes(s *cluster.Snapshot) {
	var deleted []cluster.DeletedNode
	if p.DeletedNodes != nil {
		deleted = p.DeletedNodes()
	}
	p.journal.state.UnreadyNodes = breaker.RecordUnready(p.journal.state.UnreadyNodes, deleted, s)
}

// blockedReason returns the release, pause, breaker trip or alert that forbids evictions in this pass, or nil. A
// dry run is never blocked.
func (p *pass) blockedReason() *plan.Reason {
	switch {
	case p.Mode != plan.Live:
		return nil
	case p.otherRelease != nil:
		return p.otherRelease
	case p.journal.state.Pause != nil:
		r := p.journal.state.Pause.Block().Reason
		return &r
	case p.breakerReason != nil:
		return p.breakerReason
	}
	return p.alertReason
}

// tripBreaker stores a trip of the breaker, which blocks this pass and the next ones. If the breaker is already open,
// the earlier trip stays. tripBreaker returns the reason to stop the pass, or nil if t is nil.
func (p *pass) tripBreaker(t *plan.BreakerTrip) *plan.Reason {
	switch {
	case t == nil:
		return nil
	case p.journal.state.Breaker != nil:
		return &p.journal.state.Breaker.Reason
	}
	p.journal.state.Breaker = t
	recordState(p.Recorder, p.Mode, p.journal.state)
	p.log.Error("the breaker tripped; no pod is evicted until it closes", "reason", t.Reason.Message, "until", t.Until)
	return &t.Reason
}

// recheckBreaker lets the breaker check a new snapshot after the waves. If the pass evicted no pod,
// or the breaker is already open, recheckBreaker does nothing.
func (p *pass) recheckBreaker(ctx context.Context) {
	evicted := slices.ContainsFunc(p.report.Outcomes, func(o plan.Outcome) bool { return o.Outcome == plan.Evicted })
	if p.Mode != plan.Live || !evicted || p.journal.state.Breaker != nil {
		return
	}
	s, err := p.Observer.Snapshot(context.WithoutCancel(ctx))
	if err != nil {
		p.log.Warn("the breaker cannot check the cluster after the pass: taking a snapshot failed", "error", err)
		return
	}
	if stop := p.checkClusterAgain(s); stop != nil && p.report.Stopped == nil {
		p.report.Stopped = stop
	}
}
