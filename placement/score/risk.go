package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// packing scores a node by its expected cpu utilization. As in the plugin, a node without a
// measurement gets 0.
func packing(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	x := &w.Packing.Nodes[n]
	if !x.Measured {
		return 0
	}
	milliCPU := x.UsedMilliCPU + x.UnmeasuredMilliCPU + in.Class.ExpectedMilliCPU
	return packingScore(100*float64(milliCPU)/float64(x.CapacityMilliCPU), float64(in.Profile.Packing.Target))
}

// packingScore returns the score at p percent utilization with a target of t. The score rises from
// t at 0 % to 100 at t %, then falls from t to 0 at 100 %. Above 100 %, the score is 0.
func packingScore(p, t float64) int64 {
	switch {
	case p > 100:
		return 0
	case p > t:
		return int64(math.Round(t * (100 - p) / (100 - t)))
	}
	return int64(math.Round((100-t)*p/t + t))
}

// The formulas are those of kubernetes-sigs/scheduler-plugins: pkg/trimaran/loadvariationriskbalancing and
// pkg/trimaran/lowriskovercommitment.

// riskBalancing scores a node by the mean and the deviation of its usage. As in the plugin, a node without a
// measurement gets 0, and a node with a measurement of only one resource gets the score of that resource.
func riskBalancing(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	args, pod := in.Profile.RiskBalancing, in.Class.RiskAmounts.Requests
	x, q := &w.Risk.Nodes[n], &w.Requests[n]
	cpu := riskBalance(args, x.CPU, share(pod.MilliCPU, q.AllocatableMilliCPU), q.AllocatableMilliCPU > 0)
	memory := riskBalance(args, x.Memory, share(pod.Bytes, q.AllocatableBytes), q.AllocatableBytes > 0)
	switch {
	case x.CPU.Known && x.Memory.Known:
		return int64(math.Round(min(cpu, memory)))
	case x.Measured:
		return int64(math.Round(max(cpu, memory)))
	}
	return 0
}

// riskBalance returns the score of one resource from 0 to 100. request is the share of the allocatable amount that the
// pod requests.
func riskBalance(args *scheduler.LoadVariationRiskBalancing, u model.UsageStatistics, request float64, hasCapacity bool) float64 {
	if !u.Known || !hasCapacity {
		return 0
	}
	mean := clamp(clamp(u.Mean) + max(request, 0))
	deviation := clamp(u.Deviation)
	if args.Sensitivity >= 0 {
		deviation = math.Pow(deviation, 1/args.Sensitivity)
	}
	deviation = clamp(args.Margin * deviation)
	return (1 - (mean+deviation)/2) * scheduler.MaxScore
}

// lowRisk scores a node by the risk that limits and usage exceed what is allocated. As in the plugin, a pod without
// requests and limits, and a node without a measurement, get 0.
func lowRisk(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	args, pod := in.Profile.LowRisk, in.Class.RiskAmounts
	x, q := &w.Risk.Nodes[n], &w.Requests[n]
	if !x.Measured || *pod == (model.RiskAmounts{}) {
		return 0
	}
	cpu := overCommitment{request: x.Pods.Requests.MilliCPU, limit: x.Pods.Limits.MilliCPU, podRequest: pod.Requests.MilliCPU,
		podLimit: pod.Limits.MilliCPU, capacity: q.AllocatableMilliCPU, usage: x.CPU}
	memory := overCommitment{request: x.Pods.Requests.Bytes, limit: x.Pods.Limits.Bytes, podRequest: pod.Requests.Bytes,
		podLimit: pod.Limits.Bytes, capacity: q.AllocatableBytes, usage: x.Memory}
	risk := max(cpu.risk(args.CPULimitWeight, args.SmoothingWindows), memory.risk(args.MemoryLimitWeight, args.SmoothingWindows))
	return int64(math.Round((1 - risk) * scheduler.MaxScore))
}

// overCommitment describes one resource of a node: the sums over its pods without the new pod, the new pod, and what is
// allocatable.
type overCommitment struct {
	request, limit, podRequest, podLimit, capacity int64
	usage                                          model.UsageStatistics
}

// varianceShare is the largest variance of the fitted distribution, as a share of the greatest possible variance of a
// beta distribution with the same mean.
const varianceShare = 0.99

// risk returns the weighted risk from 0 to 1.
func (o *overCommitment) risk(limitWeight float64, windows int64) float64 {
	byLimit, byUsage := 0.0, 0.0
	request, limit := min(o.request+o.podRequest, o.capacity), o.limit+o.podLimit
	if limit > o.capacity {
		byLimit = float64(limit-o.capacity) / float64(limit-request)
	}
	if o.usage.Known && o.capacity > 0 {
		byUsage = 1 - o.probabilityBelowRequests(windows)
	}
	return clamp(limitWeight*byLimit + (1-limitWeight)*byUsage)
}

// probabilityBelowRequests returns the probability that the usage stays within the requests of the pods on the node. If
// their limits are below the capacity, it is the probability given that the usage stays within the limits.
func (o *overCommitment) probabilityBelowRequests(windows int64) float64 {
	mean := clamp(o.usage.Mean)
	deviation := clamp(o.usage.Deviation) * math.Sqrt(float64(windows))
	deviation = min(deviation, math.Sqrt(mean*(1-mean)*varianceShare))
	request := min(o.request, o.capacity)
	threshold := clamp(share(request, o.capacity))
	fitted, ok := fitBeta(mean, deviation)
	p := 0.0
	switch {
	case mean == 0 || deviation == 0 && mean <= threshold:
		p = 1
	case ok:
		p = fitted.below(threshold)
	}
	if o.limit < o.capacity && request <= o.limit {
		limits := share(o.limit, o.capacity)
		switch {
		case limits == 0:
			return 1
		case ok && mean > 0:
			if within := fitted.below(limits); within > 0 {
				return clamp(p / within)
			}
		}
	}
	return p
}

// betaDistribution is a beta distribution on 0..1 with its two shape parameters.
type betaDistribution struct{ alpha, beta float64 }

// fitBeta returns the distribution with this mean and standard deviation, and false if there is none.
func fitBeta(mean, deviation float64) (betaDistribution, bool) {
	variance := deviation * deviation
	if variance <= 0 || variance >= mean*(1-mean) {
		return betaDistribution{}, false
	}
	t := mean*(1-mean)/variance - 1
	return betaDistribution{mean * t, (1 - mean) * t}, true
}

// below returns the probability of a value of at most x.
func (b betaDistribution) below(x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	}
	// The fraction converges fast below the mean. Above it, the distribution is mirrored (DLMF 8.17.4).
	if x > (b.alpha+1)/(b.alpha+b.beta+2) {
		return 1 - betaDistribution{b.beta, b.alpha}.below(1-x)
	}
	logGamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	factor := math.Exp(b.alpha*math.Log(x) + b.beta*math.Log1p(-x) +
		logGamma(b.alpha+b.beta) - logGamma(b.alpha) - logGamma(b.beta))
	p := factor / b.alpha / b.continuedFraction(x)
	if math.IsNaN(p) {
		return 0
	}
	return clamp(p)
}

// continuedFraction returns the continued fraction of the regularized incomplete beta function (DLMF 8.17.22), by the
// modified method of Lentz. It needs some dozens of terms for the shapes of measured usage, and ends after 1,000.
func (b betaDistribution) continuedFraction(x float64) float64 {
	const least, precision = 1e-300, 1e-14
	f, c, d := 1.0, 1.0, 0.0
	for i := 1; i <= 1000; i++ {
		m := float64(i / 2)
		var term float64
		if i%2 == 0 {
			term = m * (b.beta - m) * x / ((b.alpha + 2*m - 1) * (b.alpha + 2*m))
		} else {
			term = -(b.alpha + m) * (b.alpha + b.beta + m) * x / ((b.alpha + 2*m) * (b.alpha + 2*m + 1))
		}
		d = 1 / notZero(1+term*d, least)
		c = notZero(1+term/c, least)
		f *= c * d
		if math.Abs(c*d-1) < precision {
			break
		}
	}
	return f
}

// notZero returns x, or least if x is nearly zero.
func notZero(x, least float64) float64 {
	if math.Abs(x) < least {
		return least
	}
	return x
}

// share returns a / b; 0 if b is not positive.
func share(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// clamp returns the nearest value from 0 to 1.
func clamp(x float64) float64 { return max(0, min(x, 1)) }
