package scheduler

// PackingName is the name of the score plugin TargetLoadPacking.
const PackingName = "TargetLoadPacking"

// TargetLoadPacking holds the arguments of trimaran's plugin TargetLoadPacking. Nodes
// get the highest score when their CPU utilization is at the target.
type TargetLoadPacking struct {
	Weight int64
	// Target is the preferred CPU utilization, in percent of the node's capacity.
	Target int64
	// DefaultMilliCPU is the expected usage of a container without request and limit.
	// A container with only a request is expected to use Factor times its request.
	DefaultMilliCPU int64
	Factor          float64
}

// DefaultPacking returns the plugin's default arguments.
func DefaultPacking() TargetLoadPacking {
	return TargetLoadPacking{Weight: 1, Target: 40, DefaultMilliCPU: 1000, Factor: 1.5}
}
