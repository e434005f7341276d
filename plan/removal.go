package plan

// Removal is how a pod that has ended is removed. Such a pod uses no resources, and no replacement follows it.
type Removal string

const (
	// ByEviction removes the pod through the Eviction API, which ignores budgets for pods that have ended.
	ByEviction Removal = "eviction"
	// ByDeletion deletes the pod.
	ByDeletion Removal = "deletion"
)
