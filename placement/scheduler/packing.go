package scheduler

const PackingName = "TargetLoadPacking"

// TargetLoadPacking are the arguments of trimaran's plugin of that name. It packs
// towards a target, it does not level: nodes score highest at the target.
type TargetLoadPacking struct {
	Weight int64
	// Target is the cpu utilization to pack towards, in percent of the capacity.
	Target int64
	// DefaultMilliCPU is what a container without request and limit will use;
	// one with a request alone will use Factor times that.
	DefaultMilliCPU int64
	Factor          float64
}

// DefaultPacking are the plugin's own defaults.
func DefaultPacking() TargetLoadPacking {
	return TargetLoadPacking{Weight: 1, Target: 40, DefaultMilliCPU: 1000, Factor: 1.5}
}
