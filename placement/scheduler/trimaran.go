package scheduler

// PackingName is the name of the score plugin TargetLoadPacking.
const PackingName = "TargetLoadPacking"

// TargetLoadPacking holds the arguments of trimaran's plugin TargetLoadPacking. Nodes get the
// highest score when their CPU utilization is at the target.
type TargetLoadPacking struct {
	Weight int64
	// Target is the preferred CPU utilization, in percent of the node's capacity.
	Target int64
	// DefaultMilliCPU is the expected usage of a container without request and limit. A container
	// with only a request is expected to use Factor times its request.
	DefaultMilliCPU int64
	Factor          float64
}

// DefaultPacking returns the plugin's default arguments.
func DefaultPacking() TargetLoadPacking {
	return TargetLoadPacking{Weight: 1, Target: 40, DefaultMilliCPU: 1000, Factor: 1.5}
}

// RiskBalancingName is the name of the score plugin LoadVariationRiskBalancing.
const RiskBalancingName = "LoadVariationRiskBalancing"

// LoadVariationRiskBalancing holds the arguments of trimaran's plugin of this name. It prefers nodes whose usage is low
// and varies little: the risk is the mean plus Margin x deviation^(1/Sensitivity).
type LoadVariationRiskBalancing struct {
	Weight              int64
	Margin, Sensitivity float64
}

// DefaultRiskBalancing returns the plugin's default arguments.
func DefaultRiskBalancing() LoadVariationRiskBalancing {
	return LoadVariationRiskBalancing{Weight: 1, Margin: 1, Sensitivity: 1}
}

// LowRiskName is the name of the score plugin LowRiskOverCommitment.
const LowRiskName = "LowRiskOverCommitment"

// LowRiskOverCommitment holds the arguments of trimaran's plugin of this name. It prefers nodes whose limits and whose
// usage exceed the allocated resources with a low risk.
type LowRiskOverCommitment struct {
	Weight int64
	// SmoothingWindows is the number of windows over which the usage is smoothed, which widens the deviation.
	SmoothingWindows int64
	// CPULimitWeight and MemoryLimitWeight are the shares of the risk by limits, from 0 to 1. The
	// rest is the risk by usage.
	CPULimitWeight, MemoryLimitWeight float64
}

// DefaultLowRisk returns the plugin's default arguments.
func DefaultLowRisk() LowRiskOverCommitment {
	return LowRiskOverCommitment{Weight: 1, SmoothingWindows: 5, CPULimitWeight: 0.5, MemoryLimitWeight: 0.5}
}
