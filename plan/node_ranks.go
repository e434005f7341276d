package plan

// NodeRanks are the ranks that a strategy gives to nodes. Pods with the same ranks form a class.
type NodeRanks struct {
	// ClassOf is the class of each pod, or NoClass.
	ClassOf []int32
	// OfClass holds, by class and node, the rank of the node. A higher rank is better. A node that
	// gives the strategy no reason to move the pods has TopRank.
	OfClass [][]int64
}

const (
	// NoClass is the class of pods for which a strategy ranks no nodes.
	NoClass = -1
	// TopRank is higher than every rank that a strategy computes.
	TopRank = int64(1) << 62
)
