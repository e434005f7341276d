package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// hintTTL is how long steering hints stay valid if this process cannot remove them.
	hintTTL = 10 * time.Minute

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

// passHints writes the hints of a pass to nodes, and removes them.
type passHints struct {
	Settings
	writer HintWriter // nil writes and removes none
	run    string
	clock  clock.PassiveClock
	log    *slog.Logger
	// leftover contains the nodes whose hints could not be removed.
	leftover []string
}

// writeForWave writes the hints of a wave to their nodes. The returned function removes the hints on its first call,
// even after ctx has ended. removeLeftover tries again to remove hints that remain. If writing fails, writeForWave
// removes the hints and returns the reason.
func (h *passHints) writeForWave(ctx context.Context, of plan.WaveHints, wave int) (remove func(), failure *plan.Reason) {
	var list []hints.Hint
	for _, n := range of.Nodes {
		list = append(list, hints.Hint{Node: n, Kind: hints.Kind(of.Kind), Run: h.run, Expires: h.clock.Now().Add(hintTTL)})
	}
	remove = sync.OnceFunc(func() {
		if err := h.remove(ctx, of.Nodes); err != nil {
			h.log.Warn("hints could not be removed from nodes; the controller tries again at the end of the wave", "error", err)
			h.leftover = append(h.leftover, of.Nodes...)
		}
	})
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	h.log.Info("writing hints", "wave", wave, "kind", of.Kind, "nodes", of.Nodes)
	if err := h.writer.Put(call, list); err != nil {
		remove()
		return remove, hintFailureReason(ctx, err)
	}
	return remove, nil
}

// removeLeftover tries again to remove the hints that remain.
func (h *passHints) removeLeftover(ctx context.Context) {
	if len(h.leftover) == 0 {
		return
	}
	slices.Sort(h.leftover)
	h.leftover = slices.Compact(h.leftover)
	if err := h.remove(ctx, h.leftover); err != nil {
		h.log.Error("hints stay on nodes until they expire; `evenkeel hints clear` removes them at once", "ttl", hintTTL, "error", err)
		return
	}
	h.leftover = nil
}

// remove removes the hints of this run from the nodes, even if ctx has ended.
func (h *passHints) remove(ctx context.Context, nodes []string) error {
	timeout := min(minHintRemovalTimeout+time.Duration(len(nodes))*hintRemovalPerNode, maxHintRemovalTimeout)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_, err := h.writer.Remove(call, nodes, func(x hints.Hint) bool { return x.Run == h.run })
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

// tidy renews the hints on empty nodes, and removes the hints that a killed process left, even if steering is off. A
// dry run, or a controller without a HintWriter, only logs these hints. tidy reports whether it has changed a hint. A
// failure does not stop the pass: the model takes the remaining hints into account.
func (h *passHints) tidy(ctx context.Context, s *cluster.Snapshot) (changed bool) {
	now := h.clock.Now()
	renewed := h.renewOnEmptyNodes(ctx, s)
	nodes := slices.DeleteFunc(h.expired(s, now), func(n string) bool { return slices.Contains(renewed, n) })
	switch {
	case len(nodes) == 0:
		return len(renewed) > 0
	case h.Mode != plan.Live || h.writer == nil:
		h.log.Warn(expiredHintsRemedy, "nodes", nodes)
		return false
	}
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	removed, err := h.writer.Remove(call, nodes, func(x hints.Hint) bool { return x.Expired(now) })
	if err != nil {
		remaining := slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(removed, n) })
		h.log.Warn(expiredHintsRemedy, "nodes", remaining, "error", err)
	}
	if len(removed) > 0 {
		h.log.Info("removed hints of an earlier run", "nodes", removed)
	}
	return len(removed)+len(renewed) > 0
}

// expired returns the nodes with an expired hint. It logs other hints of earlier runs.
func (h *passHints) expired(s *cluster.Snapshot, now time.Time) (nodes []string) {
	for i := range s.Nodes {
		switch x, ours := hints.FromNode(s.Nodes[i].Object); {
		case ours && x.Expired(now):
			nodes = append(nodes, x.Node)
		case ours && h.Mode == plan.Live && !x.KeepsEmpty():
			h.log.Info("a hint of an earlier run has not expired yet", "node", x.Node, "hint", x.Run, "expires", x.Expires)
		}
	}
	return nodes
}
