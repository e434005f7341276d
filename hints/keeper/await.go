package keeper

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

const (
	// seenTime is how long First waits for a watch to show what it wrote. Mostly that
	// takes milliseconds; a pass on an older view is still a safe one.
	seenTime  = 5 * time.Second
	seenEvery = 50 * time.Millisecond
)

// await waits until Nodes shows the changes.
func (k *Keeper) await(ctx context.Context, changes []pressure.Change) {
	end := k.Clock.Now().Add(seenTime)
	for !shows(k.Nodes(), changes) && k.Clock.Now().Before(end) {
		timer := k.Clock.NewTimer(seenEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// shows reports whether nodes are as the changes want them.
func shows(nodes []*corev1.Node, changes []pressure.Change) bool {
	wanted := make(map[string]*pressure.Hint, len(changes))
	for _, c := range changes {
		wanted[c.Node] = c.Hint
	}
	for _, n := range nodes {
		if h, changed := wanted[n.Name]; changed && edit(n, h, 0)(n) != n {
			return false
		}
	}
	return true
}
