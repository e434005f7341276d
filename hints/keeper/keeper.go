// Package keeper keeps the pressure hints on nodes as they should be, sample after
// sample.
//
// It decides when to look, what is said, and when to rest from writing. Which nodes
// are hinted is decided by hints/pressure, and how a node is written by hints/writer.
// It never measures, and never evicts.
package keeper

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
	// Every is how often the nodes are looked at where no sample comes: hints expire.
	Every = 10 * time.Second
	// writeTime bounds the writes of one look.
	writeTime = time.Minute
	// firstRest, doubled up to mostRest, is how long nothing is written after a look
	// of which no write went well.
	firstRest = 20 * time.Second
	mostRest  = 5 * time.Minute
)

// Options are what a configuration says. Without rules nothing is hinted, and hints
// that have expired are taken away.
type Options struct {
	pressure.Options
	// DryRun says what would be written, and writes nothing.
	DryRun bool
}

// Keeper keeps hints. Run it where this process leads.
type Keeper struct {
	// Nodes are those of the cluster as a watch shows them; read-only.
	Nodes func() []*corev1.Node
	// Usage is what is known now; nil, or without nodes, while nothing is.
	Usage   func() *cluster.Usage
	Writer  Writer
	Clock   clock.WithTicker
	Log     *slog.Logger
	Counted func(Counts)

	mu      sync.Mutex
	opts    Options
	next    Options
	running bool

	seen pressure.Seen
	said map[string]string // what was said last, by subject
	rest time.Duration
	till time.Time // nothing is written before
}

// Configure sets what holds from the next look on. That a dry run is over, or begins,
// holds from the next Run on: those who write have a Lease of their own.
func (k *Keeper) Configure(o Options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next = o
	if o.DryRun == k.opts.DryRun || !k.running {
		k.opts = o
	}
}

func (k *Keeper) options() Options {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.opts
}

// term begins a term of office, or ends it.
func (k *Keeper) term(runs bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opts, k.running = k.next, runs
}

// begin begins a term of office. What a former one saw may be long ago; what is on
// the nodes counts.
func (k *Keeper) begin() {
	k.seen, k.said, k.rest, k.till = pressure.Seen{}, map[string]string{}, 0, time.Time{}
	k.term(true)
}

func (k *Keeper) runs() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// First looks once before Run does, for a pass that is to begin with what it makes of
// the hints: it waits a moment until Nodes shows what was written. The error says that
// some of it could not be; Run tries again.
func (k *Keeper) First(ctx context.Context) error {
	k.begin()
	c, changes := k.look(ctx)
	if c.Failed > 0 {
		return fmt.Errorf("pressure hints could not be written to %d of %d nodes; the log says why", c.Failed, c.Failed+c.Written)
	}
	if c.Written > 0 {
		k.await(ctx, changes)
	}
	return nil
}

// Run looks at each sample, and at least as often as Every, until ctx ends. What
// stands then, stays until it expires: whoever leads next goes on with it, and counts
// it, so that nothing is counted here any more.
func (k *Keeper) Run(ctx context.Context, sampled <-chan struct{}) {
	if !k.runs() {
		k.begin()
		k.Look(ctx)
	}
	defer func() {
		k.term(false)
		if k.Counted != nil {
			k.Counted(Counts{})
		}
	}()
	tick := k.Clock.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sampled:
		case <-tick.C():
		}
		if ctx.Err() == nil {
			k.Look(ctx)
		}
	}
}

// Look makes the nodes' hints what they should be now.
func (k *Keeper) Look(ctx context.Context) { k.look(ctx) }

func (k *Keeper) look(ctx context.Context) (Counts, []pressure.Change) {
	if k.seen == nil {
		k.seen, k.said = pressure.Seen{}, map[string]string{}
	}
	o, now := k.options(), k.Clock.Now()
	nodes := k.Nodes()
	d := o.Decide(nodes, k.Usage(), k.seen, now)
	c := Counts{Held: len(d.Held), Capped: len(d.Capped), Foreign: len(foreignNodes(d)), Unknown: d.Unknown}
	k.say(o, d)
	var undone []string
	switch {
	case o.DryRun:
		k.wouldWrite(d.Changes)
	case now.Before(k.till):
		for _, change := range d.Changes {
			undone = append(undone, change.Node)
		}
	case len(d.Changes) > 0:
		c.Written, undone = k.write(ctx, nodes, d.Changes, o.TTL)
		c.Failed = len(undone)
	}
	c.ByRule = byRule(o.Rules, d.Hinted, nodes, undone)
	if k.Counted != nil {
		k.Counted(c)
	}
	return c, d.Changes
}

// write makes the changes and returns how many were written, and the nodes that could
// not be.
func (k *Keeper) write(ctx context.Context, nodes []*corev1.Node, changes []pressure.Change, ttl time.Duration) (written int, undone []string) {
	seen := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		seen[n.Name] = n
	}
	edits := make([]writer.Edit, 0, len(changes))
	wanted := map[string]*pressure.Hint{}
	for _, c := range changes {
		wanted[c.Node] = c.Hint
		edits = append(edits, writer.Edit{Node: c.Node, Seen: seen[c.Node], Change: edit(seen[c.Node], c.Hint, ttl)})
	}
	call, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	failures := map[string][]string{}
	for _, r := range k.Writer.Edit(call, edits) {
		switch {
		case r.Err != nil:
			undone = append(undone, r.Node)
			failures[plainly(r.Err)] = append(failures[plainly(r.Err)], r.Node)
		case r.Wrote:
			written++
			k.tell(false, r.Node, wanted[r.Node])
		}
	}
	k.restAfter(len(undone) > 0 && written == 0)
	if ctx.Err() == nil {
		k.complain(failures)
	}
	return written, undone
}

// edit makes a node carry the hint, or none: the node may be newer than the one that
// was judged. Where our watch was behind what we wrote a moment ago, the hint stands.
func edit(judged *corev1.Node, h *pressure.Hint, ttl time.Duration) func(*corev1.Node) *corev1.Node {
	return func(n *corev1.Node) *corev1.Node {
		if h == nil {
			out, _ := pressure.Take(n)
			return out
		}
		there, ours := pressure.Of(n)
		if ours && n.ResourceVersion != judged.ResourceVersion && there.Says(*h) && there.Expires.After(h.Expires.Add(-ttl/2)) {
			return n
		}
		out, _ := pressure.Put(n, *h)
		return out
	}
}

// restAfter: where nothing can be written, trying again at every look would load a
// server that has trouble enough.
func (k *Keeper) restAfter(bad bool) {
	if !bad {
		k.rest = 0
		return
	}
	k.rest = min(max(2*k.rest, firstRest), mostRest)
	k.till = k.Clock.Now().Add(k.rest)
}

// plainly is an error without the node's name, so that nodes can be told together.
func plainly(err error) string {
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

// few names at most ten.
func few(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], " ") + " ..."
	}
	return strings.Join(names, " ")
}
