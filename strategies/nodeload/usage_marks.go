package nodeload

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// markIndex say where nodes stand about the levels of this strategy.
type markIndex map[markKey]*cluster.Mark

type markKey struct{ node, resource string }

func (l *Strategy) usageMarks(s *cluster.Snapshot) markIndex {
	out := markIndex{}
	if s.Usage == nil {
		return out
	}
	for i := range s.Usage.Raw.Marks {
		if m := &s.Usage.Raw.Marks[i]; m.Watch == l.name {
			out[markKey{m.Node, m.Resource}] = m
		}
	}
	return out
}

// waitReason says why nothing is moved off a node yet that is above its limit; "" if it
// may. There are three reasons: the window and the newest measurement do not both exceed the limit, perhaps because
// pods have left since; only the estimated usage of pods without a measurement exceeds it; or the node has not been above
// the limit for enough consecutive samples.
func (l *Strategy) waitReason(m *cluster.Mark, agreed, surely bool) string {
	switch {
	case !agreed:
		return "above its target only by usage of pods that may have left: the window, or the range of a rate, includes time before they left"
	case !surely:
		return "above its target only by the estimated usage of pods that started after the last sample"
	case l.args.For == 1 || m != nil && m.Hot:
		return ""
	case m == nil:
		return fmt.Sprintf("above its target in 0 of %d samples in a row", l.args.For)
	}
	again := ""
	if m.CountRestarted {
		again = ", counted since this process started"
	}
	return fmt.Sprintf("above its target in %d of %d samples in a row%s", m.Samples, l.args.For, again)
}
