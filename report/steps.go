package report

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// harmlessPlaces says where the replacement of a pod goes that only makes room, and how
// surely that does no harm.
func harmlessPlaces(m *plan.Move) string {
	nodes := "the one such node"
	if m.Acceptable.Nodes != 1 {
		nodes = fmt.Sprintf("%d such nodes", m.Acceptable.Nodes)
	}
	return fmt.Sprintf("%s; with %s it lands where it makes no goal worse (%s).", safe(m.To), percent(m.Confidence), nodes)
}
