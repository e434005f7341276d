package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Counter counts the evictions of a pass against the configured limits.
type Counter struct {
	snapshot       *cluster.Snapshot
	options    Limits
	lastHour    history.Hour // evictions that took place or are reserved
	Zones    []string     // of each node
	bound   podCounts
	planned podCounts
	// earlierPlan are evictions of this pass by a plan before this one: limits of a pass
	// count them, and those of an hour have them in hour.
	earlierPlan podCounts
}

// podCounts counts pods by what limits are about.
type podCounts struct {
	all       int
	node      []int // by NodeID
	namespace map[string]int
	workload  []int // by WorkloadID
	withoutWorkload      int   // of no workload
	zone      map[string]int
}

func newPodCounts(s *cluster.Snapshot) podCounts {
	return podCounts{0, make([]int, len(s.Nodes)), map[string]int{}, make([]int, len(s.Workloads)), 0, map[string]int{}}
}

// ofWorkload counts the pods of a workload; those of none together.
func (p *podCounts) ofWorkload(w cluster.WorkloadID) int {
	if w == cluster.NoWorkload {
		return p.withoutWorkload
	}
	return p.workload[w]
}

func (p *podCounts) add(s *cluster.Snapshot, zone []string, pod *cluster.Pod, d int) {
	p.all += d
	p.node[pod.Node] += d
	p.namespace[pod.Object.Namespace] += d
	if pod.Workload == cluster.NoWorkload {
		p.withoutWorkload += d
	} else {
		p.workload[pod.Workload] += d
	}
	p.zone[zone[pod.Node]] += d
}

func NewCounter(s *cluster.Snapshot, opts Limits, hour history.Hour) *Counter {
	l := &Counter{snapshot: s, options: opts, lastHour: hour, Zones: ZonesOf(s), bound: newPodCounts(s), planned: newPodCounts(s), earlierPlan: newPodCounts(s)}
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

func (l *Counter) Add(pod cluster.PodID)   { l.planned.add(l.snapshot, l.Zones, &l.snapshot.Pods[pod], 1) }
func (l *Counter) Remove(pod cluster.PodID) { l.planned.add(l.snapshot, l.Zones, &l.snapshot.Pods[pod], -1) }

// Exhausted says which limit lets no pod go any more, whatever it is.
func (l *Counter) Exhausted() (plan.Reason, bool) {
	return strictest([]Allowance{l.PerPass(), l.HourlyOfCluster()})
}

func (l *Counter) PerPass() Allowance {
	return Allowance{plan.LimitPerPass, l.options.PerPass, l.bound.all, l.planned.all + l.earlierPlan.all, "limits.perPass", "", 0, ""}
}

func (l *Counter) HourlyOfCluster() Allowance {
	return Allowance{plan.LimitPerHour, l.options.PerHour.Cluster, 0, l.planned.all, "limits.perHour.cluster", "", l.lastHour.Cluster, ""}
}

// Allowance is one limit as it stands for a pod. What is past counts against
// those that outlast a pass.
type Allowance struct {
	Code        plan.Code
	limit       plan.CountLimit
	podCount, Planned int
	configKey, subject     string
	lastHour        int
	workloadKind        string // of what is named in at
}

// Name names the limit, and what it is counted over.
func (a Allowance) Name() string {
	switch a.Code {
	case plan.LimitPerNode:
		return a.configKey + " on " + a.subject
	case plan.LimitPerNamespace:
		return a.configKey + " in " + a.subject
	case plan.LimitPerHour:
		switch {
		case a.workloadKind != "":
			return a.configKey + " for " + a.workloadKind + " " + a.subject
		case a.subject != "":
			return a.configKey + " in " + a.subject
		}
	case plan.LimitPerZone:
		return a.configKey + " " + inZone(a.subject)
	}
	return a.configKey
}

// most is how many evictions the limit allows in this pass, and left how many
// more.
func (a Allowance) most() int { return a.limit.For(a.podCount) - a.lastHour }
func (a Allowance) Left() int { return a.most() - a.Planned }

// Allows says how many evictions that is, and of what a share is taken.
func (a Allowance) Allows() string {
	n := a.limit.For(a.podCount)
	switch {
	case n == math.MaxInt:
		return "unlimited"
	case a.limit.String() == strconv.Itoa(n):
		return countEvictions(n)
	}
	return fmt.Sprintf("%s of %s, which is %s", a.limit, CountPods(a.podCount), countEvictions(n))
}

// LastHour says what is past of a limit that outlasts a pass.
func (a Allowance) LastHour() string {
	if a.Code != plan.LimitPerHour {
		return ""
	}
	return fmt.Sprintf("; %d within the last hour", a.lastHour)
}

func (a Allowance) reason() plan.Reason {
	return plan.Reason{Code: a.Code, Message: fmt.Sprintf("%s allows %s%s; %d planned already", a.Name(), a.Allows(), a.LastHour(), a.Planned)}
}

func countEvictions(n int) string {
	if n == 1 {
		return "1 eviction"
	}
	return strconv.Itoa(n) + " evictions"
}

func CountPods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return strconv.Itoa(n) + " pods"
}

func inZone(zone string) string {
	if zone == "" {
		return "outside of zones"
	}
	return "in " + zone
}

// Allowances are the limits that an eviction of this pod counts against: first
// those of a pass, then those of an hour.
func (l *Counter) Allowances(pod cluster.PodID) [8]Allowance {
	p := &l.snapshot.Pods[pod]
	ns, zone := p.Object.Namespace, l.Zones[p.Node]
	return [...]Allowance{
		l.PerPass(),
		{plan.LimitPerNode, l.options.PerNode, l.bound.node[p.Node], l.planned.node[p.Node] + l.earlierPlan.node[p.Node], "limits.perNode", l.snapshot.Nodes[p.Node].Name, 0, ""},
		{plan.LimitPerNamespace, l.options.PerNamespace, l.bound.namespace[ns], l.planned.namespace[ns] + l.earlierPlan.namespace[ns], "limits.perNamespace", ns, 0, ""},
		{plan.LimitPerOwner, l.options.PerOwner, l.bound.ofWorkload(p.Workload), l.planned.ofWorkload(p.Workload) + l.earlierPlan.ofWorkload(p.Workload), "limits.perOwner", "", 0, ""},
		{plan.LimitPerZone, l.options.PerZone, l.bound.zone[zone], l.planned.zone[zone] + l.earlierPlan.zone[zone], "limits.perZone", zone, 0, ""},
		l.hourlyOfOwner(p),
		{plan.LimitPerHour, l.options.PerHour.Namespace, 0, l.planned.namespace[ns], "limits.perHour.namespace", ns, l.lastHour.Namespace[ns], ""},
		l.HourlyOfCluster(),
	}
}

// hourlyOfOwner is the hourly limit of a pod's workload. A pod of no workload
// stands for itself.
func (l *Counter) hourlyOfOwner(p *cluster.Pod) Allowance {
	w := workloadRef(l.snapshot, p)
	planned := l.planned.ofWorkload(p.Workload)
	if p.Workload == cluster.NoWorkload {
		planned = 0
	}
	return Allowance{plan.LimitPerHour, l.options.PerHour.Owner, 0, planned, "limits.perHour.owner", w.Name, l.lastHour.Workload[w], w.Kind}
}

// workloadRef names a pod's workload as it is remembered.
func workloadRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	return history.WorkloadOf(plan.Move{Pod: PodRef(p), Owner: OwnerRef(s, p)})
}

// Refuse names the strictest limit that one more eviction of this pod would
// break: the one that allows the fewest in this pass.
func (l *Counter) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	all := l.Allowances(pod)
	return strictest(all[:])
}

// RefuseHourly is refuse with the limits of an hour alone.
func (l *Counter) RefuseHourly(pod cluster.PodID) (plan.Reason, bool) {
	all := l.Allowances(pod)
	return strictest(slices.DeleteFunc(all[:], func(a Allowance) bool { return a.Code != plan.LimitPerHour }))
}

func strictest(list []Allowance) (plan.Reason, bool) {
	var least *Allowance
	for i := range list {
		if a := &list[i]; a.Left() < 1 && (least == nil || a.most() < least.most()) {
			least = a
		}
	}
	if least == nil {
		return plan.Reason{}, false
	}
	return least.reason(), true
}
