package plan

// FailureCategory returns the effect of losing `lost` of `total` pods: 1 all are lost, 2
// more than half are lost, 3 fewer are lost but the survivors exceed the utilization limit,
// 4 otherwise. Usage decides between 3 and 4, so without it the result is 3 and not
// certain. See docs/reference/impact.md.
func FailureCategory(total, lost int) (category int, certain bool) {
	switch {
	case lost == total:
		return 1, true
	case 2*lost > total:
		return 2, true
	}
	return 3, false
}

// FailureCategoryAtUtilization is FailureCategory with a known utilization of the pods,
// busy. The survivors take over the work of the lost pods. If 2 of 6 pods are lost, pods at
// 0.8 rise to 1.2, and pods at 0.4 to 0.6.
func FailureCategoryAtUtilization(total, lost int, busy, limit float64) int {
	category, certain := FailureCategory(total, lost)
	if !certain && Round(busy*float64(total)/float64(total-lost)) <= limit {
		return 4
	}
	return category
}
