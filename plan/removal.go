package plan

// Removal is how a pod that has ended is removed. Such a pod uses no resources, and no replacement follows it.
type Removal string

const (
	// ByEviction removes the pod through the Eviction API, which ignores budgets for pods that have ended.
	ByEviction Removal = "eviction"
	// ByDeletion deletes the pod.
	ByDeletion Removal = "deletion"
)

// RequestOnly says why a request for an eviction is expected to be refused and to start a move all the same: the
// operator of the pod sees the request and moves the pod itself. It is empty for ordinary evictions.
type RequestOnly string

const (
	// ByOwner means that pods of this kind of owner are moved so.
	ByOwner RequestOnly = "owner"
	// ByAnnotation means that an annotation on the pod says so.
	ByAnnotation RequestOnly = "annotation"
)
