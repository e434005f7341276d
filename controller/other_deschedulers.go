package controller

import (
	"context"
	"log/slog"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// DeschedulerFollower tells people which other programs evict pods to move them: when this process begins to evict, and
// after each change. It decides nothing: people must choose which program evicts.
type DeschedulerFollower struct {
	Events interface {
		OtherDeschedulersChanged(before, after []plan.OtherDescheduler)
	}
	Recorder interface{ RecordOtherDeschedulers(n int) }
	// Announce shows the programs to people who approve or trigger evictions.
	Announce func([]plan.OtherDescheduler)
	Log      *slog.Logger

	last []plan.OtherDescheduler
}

// Begin checks a new snapshot, and tells about all programs in it. After an error, the first pass does so.
func (f *DeschedulerFollower) Begin(ctx context.Context, o Observer) {
	if f == nil {
		return
	}
	f.last = nil
	if s, err := o.Snapshot(ctx); err == nil {
		f.Check(s)
	}
}

// Check tells about the changes since the last snapshot.
func (f *DeschedulerFollower) Check(s *cluster.Snapshot) {
	if f == nil {
		return
	}
	is := summary.OtherDeschedulersIn(s)
	f.Recorder.RecordOtherDeschedulers(len(is))
	f.Announce(is)
	if slices.Equal(f.last, is) {
		return
	}
	if text := plan.OtherDeschedulersText(is, false); text != "" {
		f.Log.Warn(text)
	} else {
		f.Log.Info("no other descheduler runs any more")
	}
	f.Events.OtherDeschedulersChanged(f.last, is)
	f.last = is
}
