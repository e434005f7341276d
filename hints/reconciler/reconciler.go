// Package reconciler keeps the pressure hints on nodes as they should be, sample after
// sample.
//
// It decides when to look, what is said, and when to rest from writing. Which nodes
// are hinted is decided by hints/pressure, and how a node is written by hints/writer.
// It never measures, and never evicts.
package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/writer"
)

// Writer writes nodes.
type Writer interface {
	Edit(ctx context.Context, list []writer.Edit) []writer.Result
}

const (
	// Interval is how often the nodes are looked at where no sample comes: hints expire.
	Interval = 10 * time.Second
	// writeTimeout bounds the writes of one look.
	writeTimeout = time.Minute
	// minBackoff, doubled up to mostRest, is how long nothing is written after a look
	// of which no write went well.
	minBackoff = 20 * time.Second
	maxBackoff = 5 * time.Minute
)

// Options are what a configuration says. Without rules nothing is hinted, and hints
// that have expired are taken away.
type Options struct {
	pressure.Options
	// DryRun says what would be written, and writes nothing.
	DryRun bool
}

// Reconciler keeps hints. Run it where this process leads.
type Reconciler struct {
	// Nodes are those of the cluster as a watch shows them; read-only.
	Nodes func() []*corev1.Node
	// Usage is what is known now; nil, or without nodes, while nothing is.
	Usage   func() *cluster.Usage
	Writer  Writer
	Clock   clock.WithTicker
	Log     *slog.Logger
	OnCount func(Counts)

	mu      sync.Mutex
	opts    Options
	next    Options
	running bool

	lastHot      pressure.LastHot
	lastLogged   map[string]string // what was said last, by subject
	backoff      time.Duration
	backoffUntil time.Time // nothing is written before
}

// Configure sets what holds from the next look on. That a dry run is over, or begins,
// holds from the next Run on: those who write have a Lease of their own.
func (k *Reconciler) Configure(o Options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next = o
	if o.DryRun == k.opts.DryRun || !k.running {
		k.opts = o
	}
}

func (k *Reconciler) options() Options {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.opts
}

// setLeading begins a term of office, or ends it.
func (k *Reconciler) setLeading(runs bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opts, k.running = k.next, runs
}

// startLeading begins a term of office. What a former one saw may be long ago; what is on
// the nodes counts.
func (k *Reconciler) startLeading() {
	k.lastHot, k.lastLogged, k.backoff, k.backoffUntil = pressure.LastHot{}, map[string]string{}, 0, time.Time{}
	k.setLeading(true)
}

func (k *Reconciler) isRunning() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// ReconcileFirst looks once before Run does, for a pass that is to begin with what it makes of
// the hints: it waits a moment until Nodes shows what was written. The error says that
// some of it could not be; Run tries again.
func (k *Reconciler) ReconcileFirst(ctx context.Context) error {
	k.startLeading()
	c, changes := k.reconcile(ctx)
	if c.Failed > 0 {
		return fmt.Errorf("pressure hints could not be written to %d of %d nodes; the log says why", c.Failed, c.Failed+c.Written)
	}
	if c.Written > 0 {
		k.waitUntilShown(ctx, changes)
	}
	return nil
}

// Run looks at each sample, and at least as often as Every, until ctx ends. What
// stands then, stays until it expires: whoever leads next goes on with it, and counts
// it, so that nothing is counted here any more.
func (k *Reconciler) Run(ctx context.Context, sampled <-chan struct{}) {
	if !k.isRunning() {
		k.startLeading()
		k.Reconcile(ctx)
	}
	defer func() {
		k.setLeading(false)
		if k.OnCount != nil {
			k.OnCount(Counts{})
		}
	}()
	tick := k.Clock.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sampled:
		case <-tick.C():
		}
		if ctx.Err() == nil {
			k.Reconcile(ctx)
		}
	}
}

// Reconcile makes the nodes' hints what they should be now.
func (k *Reconciler) Reconcile(ctx context.Context) { k.reconcile(ctx) }

func (k *Reconciler) reconcile(ctx context.Context) (Counts, []pressure.Change) {
	if k.lastHot == nil {
		k.lastHot, k.lastLogged = pressure.LastHot{}, map[string]string{}
	}
	o, now := k.options(), k.Clock.Now()
	nodes := k.Nodes()
	d := o.Decide(nodes, k.Usage(), k.lastHot, now)
	c := Counts{Unmeasured: len(d.Unmeasured), Capped: len(d.Capped), Foreign: len(foreignNodes(d)), Unknown: d.Unknown}
	k.logObstacles(o, d)
	var undone []string
	switch {
	case o.DryRun:
		k.logDryRun(d.Changes)
	case now.Before(k.backoffUntil):
		for _, change := range d.Changes {
			undone = append(undone, change.Node)
		}
	case len(d.Changes) > 0:
		c.Written, undone = k.write(ctx, nodes, d.Changes, o.TTL)
		c.Failed = len(undone)
	}
	c.ByRule = countByRule(o.Rules, d.Hinted, nodes, undone)
	if k.OnCount != nil {
		k.OnCount(c)
	}
	return c, d.Changes
}

// write makes the changes and returns how many were written, and the nodes that could
// not be.
func (k *Reconciler) write(ctx context.Context, nodes []*corev1.Node, changes []pressure.Change, ttl time.Duration) (written int, undone []string) {
	seen := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		seen[n.Name] = n
	}
	edits := make([]writer.Edit, 0, len(changes))
	wanted := map[string]*pressure.Hint{}
	for _, c := range changes {
		wanted[c.Node] = c.Hint
		edits = append(edits, writer.Edit{Node: c.Node, Observed: seen[c.Node], Change: editFor(seen[c.Node], c.Hint, ttl)})
	}
	call, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	failures := map[string][]string{}
	for _, r := range k.Writer.Edit(call, edits) {
		switch {
		case r.Err != nil:
			undone = append(undone, r.Node)
			failures[failureMessage(r.Err)] = append(failures[failureMessage(r.Err)], r.Node)
		case r.Written:
			written++
			k.logChange(false, r.Node, wanted[r.Node])
		}
	}
	k.updateBackoff(len(undone) > 0 && written == 0)
	if ctx.Err() == nil {
		k.logFailures(failures)
	}
	return written, undone
}

// editFor makes a node carry the hint, or none: the node may be newer than the one that
// was judged. Where our watch was behind what we wrote a moment ago, the hint stands.
func editFor(judged *corev1.Node, h *pressure.Hint, ttl time.Duration) func(*corev1.Node) *corev1.Node {
	return func(n *corev1.Node) *corev1.Node {
		if h == nil {
			out, _ := pressure.Remove(n)
			return out
		}
		there, ours := pressure.Of(n)
		if ours && n.ResourceVersion != judged.ResourceVersion && there.Equivalent(*h) && there.Expires.After(h.Expires.Add(-ttl/2)) {
			return n
		}
		out, _ := pressure.Put(n, *h)
		return out
	}
}

// updateBackoff: where nothing can be written, trying again at every look would load a
// server that has trouble enough.
func (k *Reconciler) updateBackoff(bad bool) {
	if !bad {
		k.backoff = 0
		return
	}
	k.backoff = min(max(2*k.backoff, minBackoff), maxBackoff)
	k.backoffUntil = k.Clock.Now().Add(k.backoff)
}

// failureMessage is an error without the node's name, so that nodes can be told together.
func failureMessage(err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return "permission to patch nodes is missing; grant it to this account, or set hints.enabled to false"
	}
	return err.Error()
}

func foreignNodes(d pressure.Decision) []string {
	var out []string
	for _, f := range d.Foreign {
		out = append(out, f.Node)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// abbreviate names at most ten.
func abbreviate(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], " ") + " ..."
	}
	return strings.Join(names, " ")
}
