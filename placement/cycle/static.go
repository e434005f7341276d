package cycle

// LocalResults is what a class finds on each node that depends on the pods there and on
// nothing else in the cluster. It stays true until pods come or go, so that a
// prediction looks anew at a few nodes only.
type LocalResults struct {
	SeenChanges  int    // how many changes of the world it has taken in
	Passes       []bool // every filter but those that count domains
	ResourcesFit []int8 // NodeResourcesFit by the profile's strategy; nil: it does not score
	Balanced     []int8 // BalancedAllocation; nil: it does not score
}

// StaticScores are the parts of the scores that no other pod changes, by node.
// All but those of volumes are shared, and read-only.
type StaticScores struct {
	PreferNoSchedule []int64 // untolerated PreferNoSchedule taints
	Preferred        []int64 // sum of matching preferred node affinity weights; nil: none
	Images           []int8  // nil: no image of the pod is on any node
	HintTaint        int64   // what the steering taint adds to taints: 0 where it is tolerated
}

// NodeChecks is what a pod spec makes of the nodes themselves: their readiness, taints
// and labels. Pods of one selector, node affinity, tolerations and profile (as
// far as that matters) share it, so
// that thousands of classes on thousands of nodes stay small. It is read-only.
type NodeChecks struct {
	ID           int    // tells it apart from others
	AffinityOK   []bool // node selector and required node affinity
	TaintsOK     []bool // NoSchedule and NoExecute taints
	CanRun       []bool // what CanRun says, by the profile's filters and added affinity
	StaticScores StaticScores
	Err          error // why it cannot be read
}
