// Package reconciler keeps the pressure hints on nodes up to date after each sample.
//
// The package decides when to reconcile, what to log, and how long to back off from writing. Package hints/pressure
// decides which nodes get a hint, and hints/writer writes nodes. The package never measures usage and never evicts.
package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/wait"
)

// Writer writes nodes.
type Writer interface {
	Edit(ctx context.Context, list []writer.Edit) []writer.Result
}

const (
	// Interval is the maximum time between two reconciliations. Hints must expire even if no sample arrives.
	Interval = 10 * time.Second
	// writeTimeout bounds the writes of one reconciliation.
	writeTimeout = time.Minute
	// After a reconciliation in which every write failed, the reconciler writes nothing for
	// minBackoff. Each further failure doubles the time, up to maxBackoff.
	minBackoff = 20 * time.Second
	maxBackoff = 5 * time.Minute
)

// Options come from the configuration. Without rules no node gets a hint, and expired hints are removed.
type Options struct {
	pressure.Options
	// DryRun logs what would be written, and writes nothing.
	DryRun bool
}

// Reconciler keeps pressure hints up to date. Call Run only while this process leads.
type Reconciler struct {
	// Nodes returns the nodes of the cluster from a watch. They are read-only.
	Nodes func() []*corev1.Node
	// Usage returns the current usage data. Without usage data, Usage returns nil or usage without nodes.
	Usage   func() *cluster.Usage
	Writer  Writer
	Clock   clock.WithTicker
	Log     *slog.Logger
	OnCount func(Counts)
	// OnInvalidRecord, if not nil, is called when an invalid record was removed from a node.
	OnInvalidRecord func(n *corev1.Node, problem string)

	mu      sync.Mutex
	opts    Options
	next    Options
	running bool

	lastHot      pressure.LastHot
	lastLogged   map[string]string // the last logged text, by subject
	backoff      time.Duration
	backoffUntil time.Time // no writes before this time
}

// Configure sets the options for the next reconciliation. A change between dry run and writing
// takes effect at the next Run, because the two use different Leases.
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

func (k *Reconciler) setLeading(runs bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opts, k.running = k.next, runs
}

// startLeading starts leadership and discards what this process saw while it led earlier, because that may be outdated.
func (k *Reconciler) startLeading() {
	k.lastHot, k.lastLogged, k.backoff, k.backoffUntil = pressure.LastHot{}, map[string]string{}, 0, time.Time{}
	k.setLeading(true)
}

func (k *Reconciler) isRunning() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// ReconcileFirst reconciles once before Run, for a pass that needs up-to-date hints. ReconcileFirst
// waits a short time until Nodes shows the writes. ReconcileFirst returns an error if nodes could
// not be written; Run tries these nodes again.
func (k *Reconciler) ReconcileFirst(ctx context.Context) error {
	k.startLeading()
	c, changes := k.reconcile(ctx)
	if c.Failed > 0 {
		return fmt.Errorf("pressure hints could not be written to %d of %d nodes; see the log for the reasons", c.Failed, c.Failed+c.Written)
	}
	if c.Written > 0 {
		k.waitUntilShown(ctx, changes)
	}
	return nil
}

// Run reconciles after each sample, and at least once per Interval, until ctx ends. After Run has returned, hints stay
// until they expire, and the next leader counts them. Run therefore resets the counts of this process when it ends.
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

// Reconcile brings the hints on the nodes up to date.
func (k *Reconciler) Reconcile(ctx context.Context) { k.reconcile(ctx) }

func (k *Reconciler) reconcile(ctx context.Context) (Counts, []pressure.Change) {
	if k.lastHot == nil {
		k.lastHot, k.lastLogged = pressure.LastHot{}, map[string]string{}
	}
	o, now := k.options(), k.Clock.Now()
	nodes := k.Nodes()
	d := o.Decide(nodes, k.Usage(), k.lastHot, now)
	foreign := sets.Set[string]{}
	for _, f := range d.Foreign {
		foreign.Insert(f.Node)
	}
	c := Counts{Unmeasured: len(d.Unmeasured), Capped: len(d.Capped), Foreign: foreign.Len(), Unknown: d.Unknown,
		InvalidRecords: len(d.Invalid)}
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
		var written []string
		written, undone = k.writeChanges(ctx, o, nodes, d.Changes)
		c.Written, c.Failed = len(written), len(undone)
		c.RemovedRecords = k.reportRemovedRecords(d.Invalid, nodes, written)
	}
	c.ByRule = countByRule(o.Options, d.Hinted, nodes, undone)
	if k.OnCount != nil {
		k.OnCount(c)
	}
	return c, d.Changes
}

// writeChanges writes the changes. writeChanges returns the nodes that it wrote and the nodes that it
// could not write.
func (k *Reconciler) writeChanges(ctx context.Context, o Options, nodes []*corev1.Node, changes []pressure.Change) (written,
	undone []string) {
	seen := nodesByName(nodes)
	owned := o.Owned()
	edits := make([]writer.Edit, 0, len(changes))
	wanted := map[string]*pressure.Hint{}
	for _, c := range changes {
		wanted[c.Node] = c.Hint
		edits = append(edits, writer.Edit{Node: c.Node, Observed: seen[c.Node], Change: hintEdit(owned, seen[c.Node], c.Hint, o.TTL)})
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
			written = append(written, r.Node)
			k.logChange(false, r.Node, wanted[r.Node])
		}
	}
	k.updateBackoff(len(undone) > 0 && len(written) == 0)
	if ctx.Err() == nil {
		k.logFailures(failures)
	}
	return written, undone
}

// hintEdit returns a function that puts the hint on a node, or removes it if h is nil. The function
// may get a newer node than the decision used. If the newer node has an equivalent hint with more
// than half of its TTL left, the function leaves the node unchanged.
func hintEdit(owned pressure.Owned, judged *corev1.Node, h *pressure.Hint, ttl time.Duration) func(*corev1.Node) *corev1.Node {
	return func(n *corev1.Node) *corev1.Node {
		if h == nil {
			out, _ := owned.Remove(n)
			return out
		}
		there, ours := owned.FromNode(n)
		if ours && n.ResourceVersion != judged.ResourceVersion && there.Equivalent(*h) && there.Expires.After(h.Expires.Add(-ttl/2)) {
			return n
		}
		out, _ := owned.WithHint(n, *h)
		return out
	}
}

// updateBackoff sets the back-off after a reconciliation. Without a back-off, failing writes would
// load an API server that already has problems.
func (k *Reconciler) updateBackoff(bad bool) {
	if !bad {
		k.backoff = 0
		return
	}
	k.backoff = min(max(2*k.backoff, minBackoff), maxBackoff)
	k.backoffUntil = k.Clock.Now().Add(k.backoff)
}

// failureMessage returns the error without the name of the node, so that nodes with the same error
// can be logged together.
func failureMessage(err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return "permission to patch nodes is missing; grant it to this account, or set hints.enabled to false"
	}
	return err.Error()
}

func abbreviate(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], " ") + " ..."
	}
	return strings.Join(names, " ")
}

const (
	// shownTimeout is how long ReconcileFirst waits until a watch shows its writes. That usually
	// takes milliseconds. A pass with an older view of the nodes is also safe.
	shownTimeout      = 5 * time.Second
	shownPollInterval = 50 * time.Millisecond
)

// waitUntilShown waits until Nodes shows the changes, ctx ends, or shownTimeout has passed.
func (k *Reconciler) waitUntilShown(ctx context.Context, changes []pressure.Change) {
	end := k.Clock.Now().Add(shownTimeout)
	owned := k.options().Owned()
	for !nodesHaveChanges(owned, k.Nodes(), changes) && k.Clock.Now().Before(end) && wait.Sleep(ctx, k.Clock, shownPollInterval) {
		continue
	}
}

func nodesHaveChanges(owned pressure.Owned, nodes []*corev1.Node, changes []pressure.Change) bool {
	wanted := make(map[string]*pressure.Hint, len(changes))
	for _, c := range changes {
		wanted[c.Node] = c.Hint
	}
	for _, n := range nodes {
		if h, changed := wanted[n.Name]; changed && hintEdit(owned, n, h, 0)(n) != n {
			return false
		}
	}
	return true
}
