package nodeload

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// waits holds what can keep the strategy from acting on a node above its limit.
type waits struct {
	samples int // the required number of consecutive samples above the limit
	// mark has the number of consecutive samples above the limit. If there are none, it is nil.
	mark *cluster.Mark
	// tooFew is the reason why the strategy acts on no node, or "".
	tooFew string
	// signal is the reason why the strategy does not act on the node, because it is not above a level of When, or "".
	signal string
}

type markKey struct{ watch, node, resource string }

func usageMarks(s *cluster.Snapshot) map[markKey]*cluster.Mark {
	out := map[markKey]*cluster.Mark{}
	if s.Usage == nil {
		return out
	}
	for i := range s.Usage.Raw.Marks {
		m := &s.Usage.Raw.Marks[i]
		out[markKey{m.Watch, m.Node, m.Resource}] = m
	}
	return out
}

// lasting returns the reason why no pod may leave the node however full it is, or the zero value. It holds for a node
// below its limit, too, because moves for other strategies may lift the node above the limit.
func (w waits) lasting() plan.Reason {
	switch {
	case w.signal != "":
		return plan.Reason{Code: plan.SignalTooLow, Message: w.signal}
	case w.tooFew != "":
		return plan.Reason{Code: plan.TooFewUnderUtilized, Message: w.tooFew}
	}
	return plan.Reason{}
}

// reason returns the reason why no pod may leave a node above its limit yet, or the zero value. If settled is false,
// the node exceeds the limit only with pods that may leave by themselves or arrive (Departure). If agreed is false, the
// window and the newest sample do not both exceed the limit, perhaps because pods have left. If sure is false, the node
// exceeds the limit only with the estimated usage of pods that have no sample. Otherwise the node may need more
// consecutive samples above the limit.
func (w waits) reason(settled, agreed, sure bool) plan.Reason {
	samples := func(why string) plan.Reason { return plan.Reason{Code: plan.WaitsForSamples, Message: why} }
	m := w.mark
	switch {
	case !settled:
		return samples("above its target only by pods that may leave by themselves, or that are nominated for it: " +
			"nobody knows when they end, or how much they use")
	case !agreed:
		return samples("above its target only by usage of pods that may have left: " +
			"the window, or the range of a rate, includes time before they left")
	case !sure:
		return samples("above its target only by the estimated usage of pods that started after the last sample")
	case w.lasting().Code != "":
		return w.lasting()
	case w.samples == 1 || m != nil && m.Hot:
		return plan.Reason{}
	case m == nil:
		return samples(fmt.Sprintf("above its target in 0 of %d samples in a row", w.samples))
	}
	again := ""
	if m.CountRestarted {
		again = ", counted since this process started"
	}
	return samples(fmt.Sprintf("above its target in %d of %d samples in a row%s", m.Samples, w.samples, again))
}
