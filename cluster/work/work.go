// Package work counts the work of planning and ends it. It reads no clock: the caller says when the planning must end.
package work

// Budget counts the work of planning on a snapshot, and ends it. The steps in which it counts depend only on the input of
// the plan, so a plan that was ended can be made again with the same result: by New(nil, at), where at is what
// StoppedAt returned. A nil *Budget never ends. A Budget is not safe for concurrent use.
type Budget struct {
	stop           func() bool
	most           int64
	done, nextLook int64
	stopped        bool
}

// betweenLooks is the work after which stop is asked again: some milliseconds.
const betweenLooks = 1 << 12

// New returns a Budget that ends when stop returns true, or after the work most. A nil stop and 0 never end it.
func New(stop func() bool, most int64) *Budget { return &Budget{stop: stop, most: most} }

// Spend counts work, and reports whether the planning must end. One unit is about one look at a pod.
func (w *Budget) Spend(units int) (stopped bool) {
	if w == nil || w.stopped {
		return w != nil
	}
	w.done += int64(units)
	switch {
	case w.most > 0:
		w.stopped = w.done >= w.most
	case w.stop != nil && w.done >= w.nextLook:
		w.nextLook = w.done + betweenLooks
		w.stopped = w.stop()
	}
	return w.stopped
}

// Stopped reports whether the planning must end.
func (w *Budget) Stopped() bool { return w != nil && w.stopped }

// StoppedAt returns the work after which the planning had to end; 0 if it did not have to.
func (w *Budget) StoppedAt() int64 {
	if !w.Stopped() {
		return 0
	}
	return w.done
}
