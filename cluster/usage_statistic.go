package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// subtractLeftPod subtracts the usage of a pod that has left from its former node. For some time, a
// rate still includes an unknown part of this usage, which therefore counts as uncertain.
func (r *usageResolver) subtractLeftPod(c *resourceUse, resource string, m *PodUsage, amount int64) {
	n := r.snapshot.NodeByName(m.Node)
	if n == nil || c.used[n.ID] == unknownAmount {
		return
	}
	to := m.At
	if to.IsZero() {
		to = r.resolved.measuredAt[n.ID]
	}
	take := func(from []int64, lag []int64, statistic string) {
		part := r.shareInStatistic(statistic, amount, n.ID, time.Time{}, to)
		from[n.ID] = max(0, from[n.ID]-part)
		if resource == "cpu" && r.usage.RateSeconds > 0 {
			lag[n.ID] += max(0, r.maxShareInStatistic(statistic, amount, n.ID, to)-part)
		}
	}
	take(c.used, c.lag, r.usage.Statistic)
	if c.newest[n.ID] != unknownAmount {
		take(c.newest, c.newestLag, "latest")
	}
}

// maxShareInStatistic returns the maximum usage of a pod that its node's statistic may still include
// if the source measures rates. The time to is the time of the pod's last sample. Each later
// measurement includes less of the pod's usage, and none after the rate period. The pod may have
// left up to one sampling interval after its last sample.
func (r *usageResolver) maxShareInStatistic(statistic string, amount int64, n NodeID, to time.Time) int64 {
	rate := secondsToDuration(r.usage.RateSeconds)
	switch statistic {
	case "p90", "p95", "max", "std":
		return r.shareInStatistic(statistic, amount, n, time.Time{}, to.Add(rate))
	case "mean":
		return r.shareInStatistic(statistic, amount, n, time.Time{}, to.Add(rate/2))
	}
	left := to.Add(rate + r.resolved.windowFilled[n]/time.Duration(max(1, r.usage.Samples))).Sub(r.resolved.measuredAt[n])
	return int64(min(1, max(0, float64(left)/float64(rate))) * float64(amount))
}

// addArrivedPod adds the part of a measured pod's usage that the node's statistic does not include
// yet.
func (r *usageResolver) addArrivedPod(c *resourceUse, p *Pod, amount int64) {
	if c.used[p.Node] == unknownAmount {
		return
	}
	from, at := BindTime(p.Object), r.resolved.measuredAt[p.Node]
	c.used[p.Node] += amount - r.shareInStatistic(r.usage.Statistic, amount, p.Node, from, at)
	if c.newest[p.Node] != unknownAmount {
		c.newest[p.Node] += amount - r.shareInStatistic("latest", amount, p.Node, from, at)
	}
}

// resolveUncertainty combines the statistic and the newest measurement of each node. The higher value
// counts. The difference between the higher and the lowest possible value is uncertain.
func (r *usageResolver) resolveUncertainty() {
	for _, c := range r.resolved.byResource {
		for n, used := range c.used {
			if used == unknownAmount {
				continue
			}
			higher, lowest := used, used-c.lag[n]
			if newest := c.newest[n]; newest != unknownAmount {
				higher, lowest = max(higher, newest), min(lowest, newest-c.newestLag[n])
			}
			c.used[n], c.uncertain[n] = higher, higher-max(0, lowest)
		}
	}
}

// shareInStatistic returns how much of a pod's usage the node's statistic includes, if the pod ran there
// between two times:
//
//   - A percentile or maximum includes all of it once enough samples do.
//   - A mean includes the pod's share of the samples.
//   - The latest sample includes all or nothing.
//
// The window is only as long as the samples cover. In a new process, all samples may include a
// pod that left a minute ago. For a node without measurements, the result is 0.
func (r *usageResolver) shareInStatistic(statistic string, amount int64, n NodeID, from, to time.Time) int64 {
	at, window := r.resolved.measuredAt[n], r.resolved.windowFilled[n]
	enough, all := 0.0, true
	switch statistic {
	case "p90":
		enough = 0.1
	case "p95":
		enough = 0.05
	case "max", "std":
	case "mean":
		all = false
	default:
		window /= time.Duration(max(1, r.usage.Samples)) // the period that the latest sample stands for
	}
	if at.IsZero() || from.After(at) {
		return 0
	}
	if !to.Before(at) && !from.After(at.Add(-window)) {
		return amount
	}
	if window <= 0 {
		return 0
	}
	if start := at.Add(-window); from.Before(start) {
		from = start
	}
	share := float64(to.Sub(from)) / float64(window)
	switch {
	case share <= enough:
		return 0
	case all:
		return amount
	}
	return int64(share * float64(amount))
}

func secondsToDuration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// firstSampleDelay is the time after binding in which a pod may have no sample. The pod must start
// first, and a rate needs two scrapes.
const firstSampleDelay = time.Minute

// boundTooLate reports whether a pod was bound after the last sample of its node, or less than
// firstSampleDelay before. Such a pod may have no sample.
func (r *usageResolver) boundTooLate(p *Pod) bool { return r.boundAfterSample(p, firstSampleDelay) }

// boundAfterSample reports whether a pod was bound after the last sample of its node, or less than
// margin before. It returns false if the node has no sample.
func (r *usageResolver) boundAfterSample(p *Pod, margin time.Duration) bool {
	at := r.resolved.measuredAt[p.Node]
	return !at.IsZero() && BindTime(p.Object).After(at.Add(-margin))
}

// BindTime returns the time at which the pod was bound, or the best estimate from its status.
func BindTime(p *corev1.Pod) time.Time {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return p.CreationTimestamp.Time
}
