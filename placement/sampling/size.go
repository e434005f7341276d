package sampling

// Size returns how many feasible nodes the scheduler looks for among all
// nodes before it stops.
func Size(nodes, percentage int) int {
	if nodes < minSampled {
		return nodes
	}
	if percentage == 0 {
		percentage = max(fullSamplePart-nodes/nodesPerPart, minSamplePart)
	}
	return max(nodes*percentage/100, minSampled)
}
