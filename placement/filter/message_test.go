package filter

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// TestUnknownFilterHasAMessage: a filter without a sentence of its own is named.
func TestUnknownFilterHasAMessage(t *testing.T) {
	r := &cycle.Attempt{Model: &model.Cluster{Snap: &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1"}}}}}
	if got, want := RefusalMessage(r, 0, "GangScheduling"), "the filter GangScheduling refuses n1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
