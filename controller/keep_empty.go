package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// lifetime returns how long the hints of the strategy stay, or 0 if it leaves none. A hint expires a
// minute before its longest lifetime, because the clock of its reader may differ.
func lifetime(st strategy.Strategy) time.Duration {
	return min(st.KeepEmptyFor, hints.MaxTTL-time.Minute)
}

// lifetimeFor returns the lifetime of the hints of the strategy with this name.
func lifetimeFor(all []schedule.Strategy, name string) time.Duration {
	for _, st := range all {
		if st.Name == name {
			return lifetime(st.Strategy)
		}
	}
	return 0
}

// keepsNodesEmpty reports whether the pass may leave hints on nodes.
func (h *passHints) keepsNodesEmpty() bool {
	return h.Mode == plan.Live && h.writer != nil && (h.Steer == hints.Taint || h.Steer == hints.Label)
}

// keepEmptied leaves a hint on each node that the pass has emptied, if the evictor uses hints: the scheduler may prefer
// the empty node for new pods, too. A failure only costs the hints.
func (h *passHints) keepEmptied(ctx context.Context, r *plan.RunReport) {
	if !h.keepsNodesEmpty() {
		return
	}
	var list []hints.Hint
	for i := range r.Plan.Goals {
		g := &r.Plan.Goals[i]
		if g.Kind != plan.NodeEmpty || !wasEmptied(r, g) {
			continue
		}
		if d := lifetimeFor(h.Strategies, g.Strategy); d > 0 {
			list = append(list, hints.KeepEmpty(g.Subject.Name, h.Steer, h.run, h.clock.Now().Add(d)))
		}
	}
	if len(list) == 0 {
		return
	}
	h.log.Info("keeping new pods away from emptied nodes", "nodes", len(list))
	if _, err := h.writeEach(ctx, list); err != nil {
		h.log.Warn("some emptied nodes got no hint, so new pods may land there", "error", err)
	}
}

// wasEmptied reports whether the pass had moves for the goal and executed all of them, and no replacement of the pass
// has landed on its node.
func wasEmptied(r *plan.RunReport, g *plan.Goal) bool {
	if r.Plan.After.Excess[g.ID] > 0 {
		return false
	}
	moves := 0
	for _, m := range r.Plan.Moves {
		if !slices.Contains(m.Goals, g.ID) {
			continue
		}
		if moves++; !slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool {
			return o.Step == m.Step && (o.Outcome == plan.Evicted || o.Outcome == plan.AlreadyGone)
		}) {
			return false
		}
	}
	return moves > 0 && !slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool { return o.Landed == g.Subject.Name })
}

// renewOnEmptyNodes renews each hint that keeps an empty node empty, once half of its lifetime is over, as long as a
// strategy wants the node to stay empty. Any live pass does so, whether the strategy is due or not. It returns the
// nodes whose hints it has renewed.
func (h *passHints) renewOnEmptyNodes(ctx context.Context, s *cluster.Snapshot) []string {
	if !h.keepsNodesEmpty() {
		return nil
	}
	now := h.clock.Now()
	kept := hintsOnEmptyNodes(s, h.Steer, now)
	if len(kept) == 0 {
		return nil
	}
	longest := map[string]time.Duration{} // by node
	for _, st := range h.Strategies {
		if st.Mode == plan.ShowOnly || lifetime(st.Strategy) == 0 {
			continue
		}
		for _, n := range st.Strategy.EmptyNodes(s) {
			longest[s.Nodes[n].Name] = max(longest[s.Nodes[n].Name], lifetime(st.Strategy))
		}
	}
	var list []hints.Hint
	for _, x := range kept {
		if d := longest[x.Node]; d > 0 && x.Expires.Before(now.Add(d/2)) {
			x.Expires = now.Add(d)
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	nodes, err := h.writeEach(ctx, list)
	h.log.Info("renewed the hints on empty nodes", "nodes", nodes)
	if err != nil {
		h.log.Warn("some hints on empty nodes were not renewed; the next pass tries again", "error", err)
	}
	return nodes
}

// hintsOnEmptyNodes returns the hints of this kind that keep emptied nodes empty. An expiry that Evenkeel does not
// write, such as one that cannot be parsed, makes a hint invalid.
func hintsOnEmptyNodes(s *cluster.Snapshot, kind hints.Kind, now time.Time) (list []hints.Hint) {
	for i := range s.Nodes {
		h, ours := hints.FromNode(s.Nodes[i].Object)
		if ours && h.KeepsEmpty() && h.Kind == kind && !h.Expires.IsZero() && !h.Expires.After(now.Add(hints.MaxTTL)) {
			list = append(list, h)
		}
	}
	return list
}

// writeEach writes hints within hintWriteTimeout, and returns the nodes that have them. A node that cannot be written
// does not stop the others. A node that does not exist needs no hint.
func (h *passHints) writeEach(ctx context.Context, list []hints.Hint) (nodes []string, err error) {
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	all := h.writer.Put(call, list) // writes concurrently, and stops at the first error
	for _, x := range list {
		one := all
		if all != nil {
			one = h.writer.Put(call, []hints.Hint{x})
		}
		switch {
		case one == nil:
			nodes = append(nodes, x.Node)
		case !apierrors.IsNotFound(one):
			err = errors.Join(err, one)
		}
	}
	return nodes, err
}
