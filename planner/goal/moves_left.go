package goal

import "github.com/evenkeel-project/evenkeel/cluster"

// HasMoves reports whether moves have lowered the excess of goal g.
func HasMoves(t *Tracker, g int) bool { return t.Excess(g) < t.InitialExcess[g] }

// MovesLeft estimates how many moves goal g needs until it is met. The parameter pods lists the pods that may move.
func MovesLeft(t *Tracker, g int, pods []cluster.PodID) int {
	b, ok := t.Measures[g].(*NodeMeasure)
	if !ok {
		return int(t.Excess(g))
	}
	largest := int64(1)
	for _, id := range pods {
		largest = max(largest, b.Amounts.Contribution(id, b.Node))
	}
	return int((b.Excess() + largest - 1) / largest)
}
