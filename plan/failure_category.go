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

// FailureCategoryAtUtilization is the same where it is known how busy the pods are: busy is what
// they use of their capacity, and the survivors take over what the others did. With 2
// of 6 pods lost, pods at 0.8 are at 1.2 then, and pods at 0.4 at 0.6.
func FailureCategoryAtUtilization(total, lost int, busy, limit float64) int {
	category, certain := FailureCategory(total, lost)
	if !certain && Round(busy*float64(total)/float64(total-lost)) <= limit {
		return 4
	}
	return category
}
