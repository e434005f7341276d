package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// hintWriteTimeout bounds the time to write the hints of a wave.
	hintWriteTimeout = 30 * time.Second

	// Removing hints may take minHintRemovalTimeout plus hintRemovalPerNode for each node, and at
	// most maxHintRemovalTimeout. The bound also applies after SIGTERM and after the Lease is lost.
	// Removing hints without the Lease is safe: the pass removes only hints of its own run, and the
	// API server refuses a late write because its resourceVersion is old.
	//
	// The pods of the chart have 60 s to terminate. The pass tries twice to remove hints, which
	// takes at most 50 s and is not part of ShutdownTimeout. If the API server answers, the rest of
	// the shutdown takes a few seconds. Remaining hints expire.
	minHintRemovalTimeout = 10 * time.Second
	hintRemovalPerNode    = 150 * time.Millisecond
	maxHintRemovalTimeout = 25 * time.Second
)

// writeWaveHints writes the hints of a wave to their nodes. The returned function removes the hints
// on its first call, even after ctx has ended. removeLeftoverHints tries again to remove hints that
// remain. If writing fails, writeWaveHints removes the hints and returns the reason.
func (p *pass) writeWaveHints(ctx context.Context, todo plan.Plan, wave int) (remove func(), failure *plan.Reason) {
	h := todo.HintsForWave(wave)
	var list []hints.Hint
	for _, n := range h.Nodes {
		list = append(list, hints.Hint{Node: n, Kind: hints.Kind(h.Kind), Run: p.report.RunID, Expires: p.Clock.Now().Add(p.HintTTL)})
	}
	remove = sync.OnceFunc(func() { p.removeWaveHints(ctx, h.Nodes) })
	write, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	p.log.Info("writing hints", "wave", wave, "kind", h.Kind, "nodes", h.Nodes)
	if err := p.HintWriter.Put(write, list); err != nil {
		remove()
		return remove, hintFailureReason(ctx, err)
	}
	return remove, nil
}

// removeWaveHints removes the hints of a wave. If that fails, it adds the nodes to leftoverHints.
func (p *pass) removeWaveHints(ctx context.Context, nodes []string) {
	if err := p.removeHints(ctx, nodes); err != nil {
		p.log.Warn("hints could not be removed from nodes; the controller tries again at the end of the wave", "error", err)
		p.leftoverHints = append(p.leftoverHints, nodes...)
	}
}

// removeLeftoverHints tries again to remove the hints that removeWaveHints could not remove.
func (p *pass) removeLeftoverHints(ctx context.Context) {
	if len(p.leftoverHints) == 0 {
		return
	}
	slices.Sort(p.leftoverHints)
	p.leftoverHints = slices.Compact(p.leftoverHints)
	if err := p.removeHints(ctx, p.leftoverHints); err != nil {
		p.log.Error("hints stay on nodes until they expire; `evenkeel hints clear` removes them at once", "ttl", p.HintTTL, "error", err)
		return
	}
	p.leftoverHints = nil
}

// removeHints removes the hints of this run from the nodes, even if ctx has ended.
func (p *pass) removeHints(ctx context.Context, nodes []string) error {
	timeout := min(minHintRemovalTimeout+time.Duration(len(nodes))*hintRemovalPerNode, maxHintRemovalTimeout)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_, err := p.HintWriter.Remove(call, nodes, func(h hints.Hint) bool { return h.Run == p.report.RunID })
	return err
}

func hintFailureReason(ctx context.Context, err error) *plan.Reason {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return &plan.Reason{Code: plan.PermissionMissing,
			Message: "permission to patch nodes is missing; grant it to this account, or set evictor.steer to none: " + err.Error()}
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop while it wrote hints"}
	}
	return &plan.Reason{Code: plan.HintNotWritten, Message: err.Error()}
}

// hintFailureOutcomes returns the outcomes of moves whose wave got no hints. Moves that need no
// hint are dropped too, because the planner planned them together with moves that need one.
func hintFailureOutcomes(moves []plan.Move, why plan.Reason) []plan.Outcome {
	var out []plan.Outcome
	for _, m := range moves {
		o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Blocked, Reason: why}
		if !m.Steered() {
			o.Outcome = plan.Dropped
			o.Reason = plan.Reason{Code: plan.PremiseChanged, Message: "the hints of its wave could not be written"}
		}
		out = append(out, o)
	}
	return out
}

const expiredHintsRemedy = "hints of an earlier run are still on nodes; run `evenkeel hints gc`"

// removeExpiredHints renews the hints on empty nodes, and removes the hints that a killed process
// left, even if steering is off. A dry run, or a controller without a HintWriter, only logs these
// hints. removeExpiredHints returns a new snapshot if it has changed a hint. A failure does not
// stop the pass: the model takes the remaining hints into account.
func (p *pass) removeExpiredHints(ctx context.Context, s *cluster.Snapshot) (*cluster.Snapshot, error) {
	now := p.Clock.Now()
	renewed := emptyNodeHints{p}.renew(ctx, s)
	nodes := slices.DeleteFunc(p.expiredHints(s, now), func(n string) bool { return slices.Contains(renewed, n) })
	switch {
	case len(nodes) == 0 && len(renewed) > 0:
		return p.Observer.Snapshot(ctx)
	case len(nodes) == 0:
		return s, nil
	case p.Mode != plan.Live || p.HintWriter == nil:
		p.log.Warn(expiredHintsRemedy, "nodes", nodes)
		return s, nil
	}
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	removed, err := p.HintWriter.Remove(call, nodes, func(h hints.Hint) bool { return h.Expired(now) })
	if err != nil {
		remaining := slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(removed, n) })
		p.log.Warn(expiredHintsRemedy, "nodes", remaining, "error", err)
	}
	if len(removed) > 0 {
		p.log.Info("removed hints of an earlier run", "nodes", removed)
	}
	if len(removed)+len(renewed) == 0 {
		return s, nil
	}
	return p.Observer.Snapshot(ctx)
}

// expiredHints returns the nodes with an expired hint. expiredHints logs other hints of earlier runs.
func (p *pass) expiredHints(s *cluster.Snapshot, now time.Time) (nodes []string) {
	for i := range s.Nodes {
		switch h, ours := hints.FromNode(s.Nodes[i].Object); {
		case ours && h.Expired(now):
			nodes = append(nodes, h.Node)
		case ours && p.Mode == plan.Live && !h.KeepsEmpty():
			p.log.Info("a hint of an earlier run has not expired yet", "node", h.Node, "hint", h.Run, "expires", h.Expires)
		}
	}
	return nodes
}
