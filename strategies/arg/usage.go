package arg

// UsageNeeds say which measured usage a strategy needs, as its arguments demand it. The zero value means none.
type UsageNeeds struct {
	// Required says whether the strategy needs a source of usage at all.
	Required bool
	// Resources are the resources of nodes whose usage must be known, sorted.
	Resources []string
	// Field is the argument that names the resources, such as target.
	Field string
	// Watches are the levels that must be compared with every sample between passes; none if one sample is enough.
	Watches []Watch
}

// Watch is a level for one resource of all nodes. A node is hot after For consecutive samples above the level.
type Watch struct {
	// Name is the name of the strategy.
	Name, Resource string
	// Target is the level, as a fraction of allocatable. If it is 0, Deviation is the level: how far above the mean of
	// the nodes in scope.
	Target, Deviation float64
	For               int
}
