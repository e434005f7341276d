package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// emptyNodeHints writes the hints that keep new pods away from empty nodes.
type emptyNodeHints struct{ *pass }

// lifetime returns how long the hints of the strategy stay, or 0 if it leaves none. A hint expires a
// minute before its longest lifetime, because the clock of its reader may differ.
func lifetime(st strategy.Strategy) time.Duration {
	return min(st.KeepEmptyFor, hints.MaxTTL-time.Minute)
}

// lifetimeFor returns the lifetime of the hints of the strategy with this name.
func (p emptyNodeHints) lifetimeFor(name string) time.Duration {
	for _, st := range p.Strategies {
		if st.Name == name {
			return lifetime(st.Strategy)
		}
	}
	return 0
}

// allowed reports whether the pass may leave hints on nodes.
func (p emptyNodeHints) allowed() bool {
	return p.Mode == plan.Live && p.HintWriter != nil && (p.Steer == hints.Taint || p.Steer == hints.Label)
}

// put leaves a hint on each node that the pass has emptied, if the evictor uses hints: the scheduler may prefer the
// empty node for new pods, too. A failure only costs the hints.
func (p emptyNodeHints) put(ctx context.Context) {
	if !p.allowed() {
		return
	}
	var list []hints.Hint
	for i := range p.report.Plan.Goals {
		g := &p.report.Plan.Goals[i]
		if g.Kind != plan.NodeEmpty || !wasEmptied(&p.report, g) {
			continue
		}
		if d := p.lifetimeFor(g.Strategy); d > 0 {
			list = append(list, hints.KeepEmpty(g.Subject.Name, p.Steer, p.report.RunID, p.Clock.Now().Add(d)))
		}
	}
	if len(list) == 0 {
		return
	}
	p.log.Info("keeping new pods away from emptied nodes", "nodes", len(list))
	if _, err := p.write(ctx, list); err != nil {
		p.log.Warn("some emptied nodes got no hint, so new pods may land there", "error", err)
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

// renew renews each hint that keeps an empty node empty, once half of its lifetime is over, as long as a strategy
// wants the node to stay empty. Any live pass does so, whether the strategy is due or not. It returns the nodes
// whose hints it has renewed.
func (p emptyNodeHints) renew(ctx context.Context, s *cluster.Snapshot) []string {
	if !p.allowed() {
		return nil
	}
	kept := p.existing(s)
	if len(kept) == 0 {
		return nil
	}
	longest := map[string]time.Duration{} // by node
	for _, st := range p.Strategies {
		if st.Mode == plan.ShowOnly || lifetime(st.Strategy) == 0 {
			continue
		}
		for _, n := range st.Strategy.EmptyNodes(s) {
			longest[s.Nodes[n].Name] = max(longest[s.Nodes[n].Name], lifetime(st.Strategy))
		}
	}
	var list []hints.Hint
	now := p.Clock.Now()
	for _, h := range kept {
		if d := longest[h.Node]; d > 0 && h.Expires.Before(now.Add(d/2)) {
			h.Expires = now.Add(d)
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	nodes, err := p.write(ctx, list)
	p.log.Info("renewed the hints on empty nodes", "nodes", nodes)
	if err != nil {
		p.log.Warn("some hints on empty nodes were not renewed; the next pass tries again", "error", err)
	}
	return nodes
}

// existing returns the hints of the configured kind that keep emptied nodes empty. An expiry that Evenkeel does not
// write, such as one that cannot be parsed, makes a hint invalid.
func (p emptyNodeHints) existing(s *cluster.Snapshot) (list []hints.Hint) {
	latest := p.Clock.Now().Add(hints.MaxTTL)
	for i := range s.Nodes {
		h, ours := hints.FromNode(s.Nodes[i].Object)
		if ours && h.KeepsEmpty() && h.Kind == p.Steer && !h.Expires.IsZero() && !h.Expires.After(latest) {
			list = append(list, h)
		}
	}
	return list
}

// write writes hints within hintWriteTimeout, and returns the nodes that have them. A node that
// cannot be written does not stop the others. A node that does not exist needs no hint.
func (p emptyNodeHints) write(ctx context.Context, list []hints.Hint) (nodes []string, err error) {
	call, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	all := p.HintWriter.Put(call, list) // writes concurrently, and stops at the first error
	for _, h := range list {
		one := all
		if all != nil {
			one = p.HintWriter.Put(call, []hints.Hint{h})
		}
		switch {
		case one == nil:
			nodes = append(nodes, h.Node)
		case !apierrors.IsNotFound(one):
			err = errors.Join(err, one)
		}
	}
	return nodes, err
}
