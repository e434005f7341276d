package reconciler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

const (
	// shownTimeout is how long First waits for a watch to show what it wrote. Mostly that
	// takes milliseconds; a pass on an older view is still a safe one.
	shownTimeout      = 5 * time.Second
	shownPollInterval = 50 * time.Millisecond
)

// waitUntilShown waits until Nodes shows the changes.
func (k *Reconciler) waitUntilShown(ctx context.Context, changes []pressure.Change) {
	end := k.Clock.Now().Add(shownTimeout)
	for !nodesShow(k.Nodes(), changes) && k.Clock.Now().Before(end) {
		timer := k.Clock.NewTimer(shownPollInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// nodesShow reports whether nodes are as the changes want them.
func nodesShow(nodes []*corev1.Node, changes []pressure.Change) bool {
	wanted := make(map[string]*pressure.Hint, len(changes))
	for _, c := range changes {
		wanted[c.Node] = c.Hint
	}
	for _, n := range nodes {
		if h, changed := wanted[n.Name]; changed && editFor(n, h, 0)(n) != n {
			return false
		}
	}
	return true
}
