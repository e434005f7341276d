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

// waitReason says why nothing is moved off a node yet that is above its limit; empty
// when it may be. Three things keep it: its newest measurement and its window do not
// agree that it is above, where pods may have left in between that were never listed;
// only what pods that nobody has measured probably use brings it above; and it has not
// been above for long enough.
func (l *Strategy) waitReason(m *cluster.Mark, agreed, surely bool) string {
	switch {
	case !agreed:
		return "above its target only with what may have left it: its window, or a rate that was measured, reaches back to when pods stood there that do no more"
	case !surely:
		return "above its target only with what pods probably use that came after the last sample"
	case l.args.For == 1 || m != nil && m.Hot:
		return ""
	case m == nil:
		return fmt.Sprintf("above its target in 0 of %d samples in a row", l.args.For)
	}
	again := ""
	if m.CountRestarted {
		again = ", counted since this process began"
	}
	return fmt.Sprintf("above its target in %d of %d samples in a row%s", m.Samples, l.args.For, again)
}
