package sampling

// Size returns how many feasible nodes the scheduler looks for among all
// nodes before it stops.
func Size(nodes, percentage int) int {
	if nodes < minSampleNodes {
		return nodes
	}
	if percentage == 0 {
		percentage = max(maxSamplePercent-nodes/nodesPerPercent, minSamplePercent)
	}
	return max(nodes*percentage/100, minSampleNodes)
}
