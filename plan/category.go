package plan

// FailureCategory is what a workload of total pods suffers when the zone that
// holds most of them, `lost`, fails: 1 all replicas lost, 2 more than half lost,
// 3 fewer lost but the survivors pushed over the utilization limit, 4 otherwise.
// Without measured usage 3 and 4 cannot be told apart: 3, not certain.
// docs/reference/impact.md has the table.
func FailureCategory(total, lost int) (category int, certain bool) {
	switch {
	case lost == total:
		return 1, true
	case 2*lost > total:
		return 2, true
	}
	return 3, false
}
