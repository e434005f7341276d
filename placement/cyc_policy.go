package placement

// policyCounts are what the spread functions of a legacy Policy read.
type policyCounts struct {
	selected *counter // pods that match every selector of the pod's owners
	service  *counter // pods of the first Service that selects the pod; nil for none
	zones    *topology
}
