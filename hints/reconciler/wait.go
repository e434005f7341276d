package reconciler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

const (
	// shownTimeout is how long ReconcileFirst waits until a watch shows its writes. That usually
	// takes milliseconds. A pass with an older view of the nodes is also safe.
	shownTimeout      = 5 * time.Second
	shownPollInterval = 50 * time.Millisecond
)

// waitUntilShown waits until Nodes shows the changes, ctx ends, or shownTimeout has passed.
func (k *Reconciler) waitUntilShown(ctx context.Context, changes []pressure.Change) {
	end := k.Clock.Now().Add(shownTimeout)
	for !nodesHaveChanges(k.Nodes(), changes) && k.Clock.Now().Before(end) {
		timer := k.Clock.NewTimer(shownPollInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// nodesHaveChanges reports whether the nodes contain the changes.
func nodesHaveChanges(nodes []*corev1.Node, changes []pressure.Change) bool {
	wanted := make(map[string]*pressure.Hint, len(changes))
	for _, c := range changes {
		wanted[c.Node] = c.Hint
	}
	for _, n := range nodes {
		if h, changed := wanted[n.Name]; changed && hintEdit(n, h, 0)(n) != n {
			return false
		}
	}
	return true
}
