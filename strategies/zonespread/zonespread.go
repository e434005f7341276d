// Package zonespread states one goal for each workload or Service: its pods are spread evenly over the values of a
// topology key, such as zones.
//
// The package decides which pods form a group, and over which domains the pods can spread. It never selects the pods to
// move. It ignores the topology spread constraints of pods; the scheduler and package placement apply these
// constraints.
package zonespread

import (
	"cmp"
	"fmt"
	"strconv"
	"sync"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// Args are the arguments of the strategy.
type Args struct {
	// TopologyKey is a node label. Its values are the domains.
	TopologyKey string `json:"topologyKey"`
	// MaxSkew is the largest allowed difference between the numbers of pods in two domains.
	MaxSkew int `json:"maxSkew"`
	// By is "owner" if the pods of an owner form a group, or "service" if the pods of a Service form a group.
	By string `json:"by"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 1, By: "owner"}
	errs := arg.Decode(raw, &a)
	errs = append(errs, arg.LabelKey("topologyKey", a.TopologyKey)...)
	if a.MaxSkew < 1 {
		errs = append(errs, arg.Error{Path: "maxSkew", Message: strconv.Itoa(a.MaxSkew) + " is too small (want 1 or more)"})
	}
	if a.By != "owner" && a.By != "service" {
		errs = append(errs, arg.Error{Path: "by", Message: fmt.Sprintf("%q is unknown (want owner or service)", a.By)})
	}
	z := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: z.goals, Requirements: z.requirements()}, errs
}

// goals returns one SkewAtMost goal, met or not, for each group that has at least two pods and can run in at least two
// domains.
func (z *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	var goals []plan.Goal
	d := &input{s, topology.NewCache(s, z.scope),
		sync.OnceValue(func() plan.WorkloadUtilization { return plan.NewWorkloadUtilization(s, z.scope) })}
	add := func(subject plan.ObjectRef, pods []cluster.PodID) {
		if g, ok := z.goal(d, subject, pods); ok {
			goals = append(goals, g)
		}
	}
	if z.args.By == "service" {
		goals = make([]plan.Goal, 0, len(s.Services))
		for i := range s.Services {
			o := s.Services[i].Object
			add(plan.ObjectRef{APIVersion: "v1", Kind: "Service", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}, s.Services[i].Pods)
		}
		return goals
	}
	goals = make([]plan.Goal, 0, len(s.Workloads))
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.BelongsToNodes(s) {
			continue // such as a DaemonSet, of which each node runs its own pod
		}
		add(plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}, w.Pods)
	}
	return goals
}

// requirements describes the groups for which goals states goals.
func (z *configuredStrategy) requirements() string {
	group := "a workload"
	if z.args.By == "service" {
		group = "a Service"
	}
	return group + " in scope with at least two pods that can run on at least two values of " + z.args.TopologyKey
}

// input is what all goals of a snapshot share.
type input struct {
	snapshot    *cluster.Snapshot
	topologies  *topology.Cache
	utilization func() plan.WorkloadUtilization // computed on the first call
}

func (z *configuredStrategy) goal(d *input, subject plan.ObjectRef, all []cluster.PodID) (plan.Goal, bool) {
	if !z.scope.HasNamespace(d.snapshot, subject.Namespace) {
		return plan.Goal{}, false
	}
	pods := topology.RunningPods(d.snapshot, all)
	if len(pods) < 2 {
		return plan.Goal{}, false
	}
	representatives := d.topologies.Representatives(pods)
	key, skew, slo := z.spreadSettings(d.snapshot, representatives)
	domains := d.topologies.Domains(key)
	r := domains.WithoutEmpty(domains.ReachableBy(representatives))
	if len(r.Values) < 2 {
		return plan.Goal{}, false
	}
	weight, missed := goalWeight(d.snapshot, d.utilization, pods, slo)
	if !z.scope.Trusts(subject.Namespace) {
		weight = 1
	}
	return plan.Goal{
		Strategy: z.name, Kind: plan.SkewAtMost, Subject: subject, TopologyKey: key,
		Limit: float64(skew), Weight: weight, Pods: pods, Domains: r.Values,
		Reason: plan.Reason{Code: plan.ZoneSkewed, Message: skewMessage(d.snapshot, domains, key, subject, pods, r) + missed},
	}, true
}

// zoneKey is the node label that defines the zones of failure categories.
const zoneKey = "topology.kubernetes.io/zone"

// spreadSettings returns the settings of a group from annotations, with the arguments as defaults. If the controllers
// of a group have different annotations, the first topology key, the smallest skew and the strictest zone SLO apply.
// pods has one pod of each controller.
func (z *configuredStrategy) spreadSettings(s *cluster.Snapshot, pods []*cluster.Pod) (key string, skew, slo int) {
	for _, p := range pods {
		r := annotation.OfWorkload(s, p)
		key = cmp.Or(key, r.SpreadBy)
		if r.MaxSkew > 0 && (skew == 0 || r.MaxSkew < skew) {
			skew = r.MaxSkew
		}
		slo = max(slo, r.ZoneSLO)
	}
	return cmp.Or(key, z.args.TopologyKey), cmp.Or(skew, z.args.MaxSkew), slo
}

// missedSLOWeight is the weight of a group that misses its zone SLO. The planner improves such a group before groups
// with weight 1.
const missedSLOWeight = 2

// goalWeight returns the weight of a group's goal in a trusted namespace, and a message if the group misses its zone
// SLO. Without usage data, category 4 cannot be distinguished from 3, so an SLO of 4 counts as missed.
func goalWeight(s *cluster.Snapshot, utilization func() plan.WorkloadUtilization, pods []cluster.PodID, slo int) (
	weight float64, missed string) {
	if slo == 0 {
		return 1, ""
	}
	count, most := map[string]int{}, 0
	for _, id := range pods {
		zone, _ := s.Nodes[s.Pods[id].Node].Label(zoneKey)
		count[zone]++
		most = max(most, count[zone])
	}
	category, _ := utilization().Category(pods, most)
	if category >= slo {
		return 1, ""
	}
	return missedSLOWeight, fmt.Sprintf("; failure category %d misses its zone-slo of %d", category, slo)
}

// skewMessage describes the current distribution of the pods and the closest even distribution.
func skewMessage(s *cluster.Snapshot, domains *topology.Domains, key string, subject plan.ObjectRef, pods []cluster.PodID,
	r *topology.Set) (message string) {
	domains.Count(s, pods, r, nil, func(c *topology.Counter) {
		even := evenSplit(c, r)
		message = fmt.Sprintf("%s has %s pods over %d values of %s; %s would be even", subject.Name, c.CountsText(r), len(r.Indexes), key,
			topology.JoinCounts(len(even), len(r.Indexes), func(i int) int { return even[i] }))
	})
	return message
}

// evenSplit returns the even distribution that needs the fewest moves, for the first topology.MaxShownDomains domains.
// If the pods cannot be divided evenly, the fullest domains keep one more pod. Among equally full domains, the first
// domains keep one more pod.
func evenSplit(c *topology.Counter, r *topology.Set) []int {
	in := r.Indexes
	even := make([]int, min(len(in), topology.MaxShownDomains))
	for i := range even {
		rank := 0
		for _, v := range c.Used {
			if c.Pods[v] > c.Pods[in[i]] {
				rank++
			}
		}
		for _, v := range in[:i] {
			if c.Pods[v] == c.Pods[in[i]] {
				rank++
			}
		}
		even[i] = c.Total / len(in)
		if rank < c.Total%len(in) {
			even[i]++
		}
	}
	return even
}
