package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

// HintWriter puts hints on nodes and takes them away.
type HintWriter interface {
	Put(ctx context.Context, list []hints.Hint) error
	Remove(ctx context.Context, nodes []string, which func(hints.Hint) bool) ([]string, error)
}

const (
	// hintWriteTimeout bounds the writing of a wave's hints.
	hintWriteTimeout = 30 * time.Second
	// minHintRemovalTimeout, with releaseEach for every node, bounds taking them away,
	// also after SIGTERM and after the Lease was lost: hints of another run are
	// not touched, and a write that comes late is refused by its precondition.
	// Twice releaseMost, since it is tried again, and the few seconds that all else
	// takes where the server answers, fit into the 60 s that the chart's pods have to
	// end. Hints that stay expire. EndTime is without hints.
	minHintRemovalTimeout = 10 * time.Second
	hintRemovalPerNode    = 150 * time.Millisecond
	maxHintRemovalTimeout = 25 * time.Second
)

func hintRemovalTimeout(nodes int) time.Duration {
	return min(minHintRemovalTimeout+time.Duration(nodes)*hintRemovalPerNode, maxHintRemovalTimeout)
}

// writeWaveHints puts the hints of a wave on their nodes and returns what takes them away
// again. That works once, also after ctx has ended; what it leaves is for
// releaseLeft. A reason says why there are no hints; none is then left behind.
func (c *Controller) writeWaveHints(ctx context.Context, log *slog.Logger, report *plan.RunReport, wave int) (release func(), refused *plan.Reason) {
	h := report.Plan.HintsForWave(wave)
	var list []hints.Hint
	for _, n := range h.Nodes {
		list = append(list, hints.Hint{Node: n, Kind: hints.Kind(h.Kind), Run: report.RunID, Expires: c.Clock.Now().Add(c.HintTTL)})
	}
	release = sync.OnceFunc(func() { c.removeWaveHints(ctx, log, report.RunID, h.Nodes) })
	write, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	log.Info("hinting", "wave", wave, "kind", h.Kind, "nodes", h.Nodes)
	if err := c.HintWriter.Put(write, list); err != nil {
		release()
		return release, hintFailureReason(ctx, err)
	}
	return release, nil
}

// removeWaveHints takes the hints of a wave away, and remembers where that failed.
func (c *Controller) removeWaveHints(ctx context.Context, log *slog.Logger, run string, nodes []string) {
	if err := c.removeHints(ctx, run, nodes); err != nil {
		log.Warn("hints are left on nodes; taking them away is tried again at the end of the wave", "error", err)
		c.leftoverHints = append(c.leftoverHints, nodes...)
	}
}

// removeLeftoverHints tries once more, between waves and at the end of the pass, to take
// away what release left.
func (c *Controller) removeLeftoverHints(ctx context.Context, log *slog.Logger, run string) {
	if len(c.leftoverHints) == 0 {
		return
	}
	slices.Sort(c.leftoverHints)
	c.leftoverHints = slices.Compact(c.leftoverHints)
	if err := c.removeHints(ctx, run, c.leftoverHints); err != nil {
		log.Error("hints stay on nodes until they expire; `evenkeel hints clear` takes them away at once", "ttl", c.HintTTL, "error", err)
		return
	}
	c.leftoverHints = nil
}

func (c *Controller) removeHints(ctx context.Context, run string, nodes []string) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), hintRemovalTimeout(len(nodes)))
	defer cancel()
	_, err := c.HintWriter.Remove(call, nodes, func(h hints.Hint) bool { return h.Run == run })
	return err
}

func hintFailureReason(ctx context.Context, err error) *plan.Reason {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return &plan.Reason{Code: plan.PermissionMissing, Message: "permission to patch nodes is missing; grant it to this account, or set evictor.steer to none: " + err.Error()}
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "told to stop while nodes were hinted"}
	}
	return &plan.Reason{Code: plan.HintNotWritten, Message: err.Error()}
}

// stopsPass: without the permission no wave can be steered, and people should know.
func stopsPass(r *plan.Reason) *plan.Reason {
	if r.Code == plan.HintNotWritten {
		return nil
	}
	return r
}

// hintFailureOutcomes accounts for a wave whose hints could not be written. Moves that
// need none were planned beside them, so that they wait for another pass too.
func hintFailureOutcomes(moves []plan.Move, why plan.Reason) []plan.Outcome {
	var out []plan.Outcome
	for _, m := range moves {
		o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Blocked, Reason: why}
		if !m.Steered() {
			o.Outcome, o.Reason = plan.Dropped, plan.Reason{Code: plan.PremiseChanged, Message: "the hints of its wave could not be written"}
		}
		out = append(out, o)
	}
	return out
}

// removeExpiredHints takes away hints whose time is over: those of a process that was
// killed. A pass that does not steer does so too, if it may; one that must not
// write, or may not, says which are left. It returns the cluster as it is then. A
// failure is not in the way of the pass: the hints are on the nodes, and
// placement counts them in.
func (c *Controller) removeExpiredHints(ctx context.Context, log *slog.Logger, s *cluster.Snapshot) (*cluster.Snapshot, error) {
	now := c.Clock.Now()
	var nodes, stuck []string
	for i := range s.Nodes {
		switch h, ours := hints.Of(s.Nodes[i].Object); {
		case ours && h.Expired(now):
			nodes = append(nodes, h.Node)
		case ours && h.Expires.IsZero():
			stuck = append(stuck, h.Node)
		case ours && c.Mode == plan.Live:
			log.Info("a hint of a former run has not expired yet", "node", h.Node, "hint", h.Run, "expires", h.Expires)
		}
	}
	const clearThem = "hints of a former run stand on nodes; run `evenkeel hints clear`"
	if len(stuck) > 0 {
		log.Warn(clearThem, "nodes", stuck, "error", "when they expire cannot be read")
	}
	switch {
	case len(nodes) == 0:
		return s, nil
	case c.Mode != plan.Live || c.HintWriter == nil:
		log.Warn(clearThem, "nodes", nodes)
		return s, nil
	}
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	taken, err := c.HintWriter.Remove(call, nodes, func(h hints.Hint) bool { return h.Expired(now) })
	if err != nil {
		left := slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(taken, n) })
		log.Warn(clearThem, "nodes", left, "error", err)
	}
	if len(taken) == 0 {
		return s, nil
	}
	log.Info("took away hints of a former run", "nodes", taken)
	return c.Observer.Snapshot(ctx)
}
