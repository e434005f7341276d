// Package limits counts the planned evictions of a pass against the limits per pass and per hour. Package limits
// ignores goals, guards, budgets and placement.
package limits

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Counter counts the evictions of a pass against the configured limits.
type Counter struct {
	snapshot *cluster.Snapshot
	options  Options
	windows  []WindowLimits       // of the open windows, if all of them have limits
	lastHour history.HourlyCounts // evictions of the last hour, including reserved ones
	Zones    []string             // zone of each node
	bound    podCounts
	planned  podCounts
	// earlierPlan counts the evictions of an earlier plan in this pass for the limits per pass. For the limits per
	// hour, lastHour includes these evictions.
	earlierPlan podCounts
	// strategies counts the evictions for each strategy, by its index in search.Options.Strategies. The entry of a
	// strategy without limits of its own is nil. The slice is nil if no strategy has limits.
	strategies []*Counter
	name       string // of the strategy; "" for the counter of the whole pass
	// perPassKey and perHourKey are the names of the two limits that do not depend on the pod.
	perPassKey, perHourKey string
	exhausted              exhaustion // the latest result of Exhausted
}

// exhaustion is the result of Exhausted after a number of planned evictions.
type exhaustion struct {
	planned, earlier int // planned is one more than the evictions; 0: no result
	reason           plan.Reason
	is               bool
}

// keyOf returns the key of a limit, with the name of its strategy unless the name is empty.
func keyOf(strategy, key string) string {
	if strategy == "" {
		return key
	}
	return strategyPrefix + strategy + ": " + key
}

// NewCounter returns a Counter without planned evictions. The parameter hour holds the evictions of the last hour, and
// windows the limits of the open windows; see OpenWindowLimits.
func NewCounter(s *cluster.Snapshot, opts Options, hour history.HourlyCounts, windows ...WindowLimits) *Counter {
	l := &Counter{snapshot: s, options: opts, windows: windows, lastHour: hour, Zones: ZonesOf(s), bound: newPodCounts(s),
		planned: newPodCounts(s), earlierPlan: newPodCounts(s),
		perPassKey: "limits.perPass", perHourKey: "limits.perHour.cluster"}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != cluster.NoNode && !p.Terminal {
			l.bound.all++
			l.bound.node[p.Node]++
			if p.Workload != cluster.NoWorkload {
				l.bound.workload[p.Workload]++
				continue
			}
			l.bound.withoutWorkload++
			l.bound.namespace[p.Object.Namespace]++
		}
	}
	for n, pods := range l.bound.node {
		l.bound.zone[l.Zones[n]] += pods
	}
	for w, pods := range l.bound.workload {
		l.bound.namespace[s.Workloads[w].Namespace] += pods
	}
	return l
}

// Clone returns a copy that counts its own planned evictions.
func (l *Counter) Clone() *Counter {
	c := *l
	c.planned, c.strategies = l.planned.clone(), slices.Clone(l.strategies)
	for i, own := range c.strategies {
		if own != nil {
			c.strategies[i] = own.Clone()
		}
	}
	return &c
}

// AddStrategy makes the counter also count against the limits of a strategy, one of several. The parameter hour holds
// the evictions of the last hour for the strategy.
func (l *Counter) AddStrategy(strategy, of int, name string, opts Options, hour history.HourlyCounts) {
	if l.strategies == nil {
		l.strategies = make([]*Counter, of)
	}
	l.strategies[strategy] = &Counter{snapshot: l.snapshot, options: opts, lastHour: hour, Zones: l.Zones,
		bound: l.bound, planned: newPodCounts(l.snapshot), earlierPlan: newPodCounts(l.snapshot), name: name,
		perPassKey: keyOf(name, "limits.perPass"), perHourKey: keyOf(name, "limits.perHour.cluster")}
}

// OfStrategy returns the counter of a strategy, or nil if the strategy has no limits of its own.
func (l *Counter) OfStrategy(strategy int) *Counter {
	if strategy < 0 || strategy >= len(l.strategies) {
		return nil
	}
	return l.strategies[strategy]
}

// Add counts a planned eviction of the pod for a strategy; NoStrategy counts only for the whole pass.
func (l *Counter) Add(pod cluster.PodID, strategy int) { l.add(pod, strategy, 1) }

// Remove reverses Add.
func (l *Counter) Remove(pod cluster.PodID, strategy int) { l.add(pod, strategy, -1) }

func (l *Counter) add(pod cluster.PodID, strategy, d int) {
	l.planned.add(l.snapshot, l.Zones, &l.snapshot.Pods[pod], d)
	if own := l.OfStrategy(strategy); own != nil {
		own.add(pod, NoStrategy, d)
	}
}

// PlannedFor returns the number of evictions of the workload's pods in this pass. All pods without a workload share
// one count.
func (l *Counter) PlannedFor(w cluster.WorkloadID) int {
	return l.planned.ofWorkload(w) + l.earlierPlan.ofWorkload(w)
}

// InNamespace returns the evictions in a namespace that are planned in this pass, and those of the last hour.
func (l *Counter) InNamespace(ns string) int {
	return l.planned.namespace[ns] + l.earlierPlan.namespace[ns] + l.lastHour.Namespace[ns]
}

// Shared reports whether a limit counts the evictions of several namespaces together.
func (l *Counter) Shared() bool {
	o := &l.options
	return len(l.windows) > 0 || slices.ContainsFunc(l.strategies, func(own *Counter) bool { return own != nil && own.Shared() }) || slices.ContainsFunc([]plan.CountLimit{o.PerPass, o.PerNode, o.PerZone, o.PerHour.Cluster},
		func(limit plan.CountLimit) bool { return limit.For(math.MaxInt32) < math.MaxInt32 })
}

// Exhausted returns the limit that allows no more evictions of any pod.
func (l *Counter) Exhausted() (plan.Reason, bool) {
	if x := &l.exhausted; x.planned != l.planned.all+1 || x.earlier != l.earlierPlan.all {
		x.planned, x.earlier = l.planned.all+1, l.earlierPlan.all
		x.reason, x.is = strictestExceeded([]Allowance{l.PerPass(), l.HourlyOfCluster()})
	}
	return l.exhausted.reason, l.exhausted.is
}

// PerPass returns the limit of evictions per pass in the whole cluster.
func (l *Counter) PerPass() Allowance {
	limit, key := l.effective(l.perPassKey, l.bound.all, func(o *Options) plan.CountLimit { return o.PerPass })
	return Allowance{plan.LimitPerPass, limit, l.bound.all, l.planned.all + l.earlierPlan.all, key, "", 0, ""}
}

// HourlyOfCluster returns the limit of evictions per hour in the whole cluster.
func (l *Counter) HourlyOfCluster() Allowance {
	limit, key := l.effective(l.perHourKey, 0, func(o *Options) plan.CountLimit { return o.PerHour.Cluster })
	return Allowance{plan.LimitPerHour, limit, 0, l.planned.all, key, "", l.lastHour.Cluster, ""}
}

// Allowances returns the limits that apply to an eviction of this pod. Limits per pass come before limits per hour.
func (l *Counter) Allowances(pod cluster.PodID) [8]Allowance {
	p := &l.snapshot.Pods[pod]
	all := [...]Allowance{l.PerPass(), l.perNode(p), l.perNamespace(p), l.perOwner(p), l.perZone(p), l.hourlyOfOwner(p),
		l.hourlyOfNamespace(p), l.HourlyOfCluster()}
	if l.name != "" {
		for i := 1; i < len(all)-1; i++ { // the first and the last have the name already
			all[i].configKey = keyOf(l.name, all[i].configKey)
		}
	}
	return all
}

func (l *Counter) perNode(p *cluster.Pod) Allowance {
	pods := l.bound.node[p.Node]
	limit, key := l.effective("limits.perNode", pods, func(o *Options) plan.CountLimit { return o.PerNode })
	return Allowance{plan.LimitPerNode, limit, pods, l.planned.node[p.Node] + l.earlierPlan.node[p.Node], key,
		l.snapshot.Nodes[p.Node].Name, 0, ""}
}

func (l *Counter) perNamespace(p *cluster.Pod) Allowance {
	ns := p.Object.Namespace
	pods := l.bound.namespace[ns]
	limit, key := l.effective("limits.perNamespace", pods, func(o *Options) plan.CountLimit { return o.PerNamespace })
	return Allowance{plan.LimitPerNamespace, limit, pods, l.planned.namespace[ns] + l.earlierPlan.namespace[ns], key, ns, 0, ""}
}

func (l *Counter) perOwner(p *cluster.Pod) Allowance {
	pods := l.bound.ofWorkload(p.Workload)
	limit, key := l.effective("limits.perOwner", pods, func(o *Options) plan.CountLimit { return o.PerOwner })
	return Allowance{plan.LimitPerOwner, limit, pods, l.PlannedFor(p.Workload), key, "", 0, ""}
}

func (l *Counter) perZone(p *cluster.Pod) Allowance {
	zone := l.Zones[p.Node]
	pods := l.bound.zone[zone]
	limit, key := l.effective("limits.perZone", pods, func(o *Options) plan.CountLimit { return o.PerZone })
	return Allowance{plan.LimitPerZone, limit, pods, l.planned.zone[zone] + l.earlierPlan.zone[zone], key, zone, 0, ""}
}

// hourlyOfOwner returns the hourly limit of the pod's workload. A pod without a workload has a limit of its own.
func (l *Counter) hourlyOfOwner(p *cluster.Pod) Allowance {
	w := history.WorkloadOfPod(l.snapshot, p)
	planned := l.planned.ofWorkload(p.Workload)
	if p.Workload == cluster.NoWorkload {
		planned = 0
	}
	limit, key := l.effective("limits.perHour.owner", 0, func(o *Options) plan.CountLimit { return o.PerHour.Owner })
	return Allowance{plan.LimitPerHour, limit, 0, planned, key, w.Name, l.lastHour.Workload[w], w.Kind}
}

func (l *Counter) hourlyOfNamespace(p *cluster.Pod) Allowance {
	ns := p.Object.Namespace
	limit, key := l.effective("limits.perHour.namespace", 0, func(o *Options) plan.CountLimit { return o.PerHour.Namespace })
	return Allowance{plan.LimitPerHour, limit, 0, l.planned.namespace[ns], key, ns, l.lastHour.Namespace[ns], ""}
}

// Refuse returns the strictest limit that one more eviction of this pod would exceed: the one that allows the fewest
// evictions in this pass.
func (l *Counter) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	all := l.Allowances(pod)
	return strictestExceeded(all[:])
}

// RefuseFor returns the same as Refuse, for the limits of a strategy.
func (l *Counter) RefuseFor(strategy int, pod cluster.PodID) (plan.Reason, bool) {
	if own := l.OfStrategy(strategy); own != nil {
		return own.Refuse(pod)
	}
	return plan.Reason{}, false
}

// ExhaustedFor returns the limit of the strategy that allows no more evictions of any pod.
func (l *Counter) ExhaustedFor(strategy int) (plan.Reason, bool) {
	if own := l.OfStrategy(strategy); own != nil {
		return own.Exhausted()
	}
	return plan.Reason{}, false
}

// ZoneKey is the node label that defines zones for perZone limits and reports.
const ZoneKey = "topology.kubernetes.io/zone"

// AddEarlierMoves counts the moves of an earlier plan in this pass. AddEarlierMoves finds nodes and workloads by
// name, because the snapshot may no longer contain the pods.
func (l *Counter) AddEarlierMoves(moves []plan.Move) {
	workloads := map[plan.ObjectRef]cluster.WorkloadID{}
	for i := range l.snapshot.Workloads {
		w := &l.snapshot.Workloads[i]
		workloads[plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}] = cluster.WorkloadID(i)
	}
	for _, m := range moves {
		b := &l.earlierPlan
		b.all++
		b.namespace[m.Pod.Namespace]++
		if n := l.snapshot.NodeByName(m.From); n != nil {
			b.node[n.ID]++
			b.zone[l.Zones[n.ID]]++
		}
		if w, known := workloads[history.WorkloadOfMove(m)]; known {
			b.workload[w]++
		} else {
			b.withoutWorkload++
		}
	}
	for _, own := range l.strategies {
		if own != nil {
			own.AddEarlierMoves(slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return m.Strategy != own.name }))
		}
	}
}

// ZonesOf returns the zone of each node, or "" if it has none.
func ZonesOf(s *cluster.Snapshot) []string {
	zones := make([]string, len(s.Nodes))
	for i := range s.Nodes {
		zones[i], _ = s.Nodes[i].Label(ZoneKey)
	}
	return zones
}
