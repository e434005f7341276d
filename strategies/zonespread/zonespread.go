// Package zonespread states one goal for each workload or Service: its pods
// stand evenly over the values of a topology key, such as zones.
//
// It decides which pods form a group and over which domains they can spread.
// It never picks the pods to move, and leaves declared topology spread
// constraints to the scheduler and package placement.
package zonespread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// Args are the arguments of the strategy.
type Args struct {
	// TopologyKey is a node label; its values are the domains.
	TopologyKey string `json:"topologyKey"`
	// MaxSkew is how many pods the fullest domain may hold more than the emptiest.
	MaxSkew int `json:"maxSkew"`
	// By says what forms a group: owner or service.
	By string `json:"by"`
}

// Spread is the strategy with its arguments.
type Spread struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New reads the arguments; every mistake is reported.
func New(name string, raw []byte, scope cluster.Scope) (*Spread, []arg.Error) {
	a := Args{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 1, By: "owner"}
	errs := arg.Decode(raw, &a)
	errs = append(errs, arg.LabelKey("topologyKey", a.TopologyKey)...)
	if a.MaxSkew < 1 {
		errs = append(errs, arg.Error{Path: "maxSkew", Message: strconv.Itoa(a.MaxSkew) + " is too small (want 1 or more)"})
	}
	if a.By != "owner" && a.By != "service" {
		errs = append(errs, arg.Error{Path: "by", Message: fmt.Sprintf("%q is unknown (want owner or service)", a.By)})
	}
	return &Spread{name, a, scope}, errs
}

// Goals returns one SkewAtMost per group with at least two pods and two
// domains, met or not.
func (z *Spread) Goals(s *cluster.Snapshot) []plan.Goal {
	var goals []plan.Goal
	add := func(subject plan.ObjectRef, pods []cluster.PodID) {
		if g, ok := z.goal(s, subject, pods); ok {
			goals = append(goals, g)
		}
	}
	if z.args.By == "service" {
		for i := range s.Services {
			o := s.Services[i].Object
			add(plan.ObjectRef{APIVersion: "v1", Kind: "Service", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}, s.Services[i].Pods)
		}
		return goals
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.Kind == "DaemonSet" || w.Kind == "Node" {
			continue // one pod per node by design
		}
		add(plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}, w.Pods)
	}
	return goals
}

// Needs is what goal looks for.
func (z *Spread) Needs() string {
	group := "a workload"
	if z.args.By == "service" {
		group = "a Service"
	}
	return group + " with two pods or more that can stand on two values of " + z.args.TopologyKey + ", in scope"
}

func (z *Spread) goal(s *cluster.Snapshot, subject plan.ObjectRef, all []cluster.PodID) (plan.Goal, bool) {
	if !z.scope.HasNamespace(s, subject.Namespace) {
		return plan.Goal{}, false
	}
	pods := standing(s, all)
	if len(pods) < 2 {
		return plan.Goal{}, false
	}
	key, skew, slo := z.asked(s, pods)
	domains := z.domains(s, key, pods)
	if len(domains) < 2 {
		return plan.Goal{}, false
	}
	weight, missed := urgency(s, pods, slo)
	return plan.Goal{
		Strategy: z.name, Kind: plan.SkewAtMost, Subject: subject, TopologyKey: key,
		Limit: float64(skew), Weight: weight, Pods: pods, Domains: domains,
		Reason: plan.Reason{Code: plan.ZoneSkewed, Message: message(s, key, subject, pods, domains) + missed},
	}, true
}

// standing leaves out pods that are not bound or on their way out: the
// scheduler is about to place their replacements anew.
func standing(s *cluster.Snapshot, all []cluster.PodID) []cluster.PodID {
	var pods []cluster.PodID
	for _, id := range all {
		if p := &s.Pods[id]; p.Node != cluster.NoNode && !p.Terminating && !p.Terminal {
			pods = append(pods, id)
		}
	}
	return pods
}

// domains are the values of the key on nodes in scope where a pod of the group
// can run. Pods of one controller share a template, so one pod per controller
// is asked.
func (z *Spread) domains(s *cluster.Snapshot, key string, pods []cluster.PodID) []string {
	found := map[string]bool{}
	for _, p := range onePerController(s, pods) {
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if v, ok := n.Label(key); ok && !found[v] && z.scope.HasNode(n) && placement.CanRun(p.Object, n) {
				found[v] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func onePerController(s *cluster.Snapshot, pods []cluster.PodID) []*cluster.Pod {
	var out []*cluster.Pod
	seen := map[string]bool{}
	for _, id := range pods {
		p := &s.Pods[id]
		key := string(p.Object.UID)
		if p.Controller != nil {
			key = p.Controller.Kind + "/" + p.Controller.Name
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

func message(s *cluster.Snapshot, key string, subject plan.ObjectRef, pods []cluster.PodID, domains []string) string {
	count := make(map[string]int, len(domains))
	for _, id := range pods {
		if v, ok := s.Nodes[s.Pods[id].Node].Label(key); ok {
			count[v]++
		}
	}
	now, even, total := make([]string, len(domains)), make([]string, len(domains)), 0
	for _, d := range domains {
		total += count[d]
	}
	for i, share := range nearestEven(domains, count, total) {
		now[i], even[i] = strconv.Itoa(count[domains[i]]), strconv.Itoa(share)
	}
	return fmt.Sprintf("%s has %s pods over %d values of %s; %s would be even",
		subject.Name, joinFew(now), len(domains), key, joinFew(even))
}

// nearestEven is the even split that the fewest moves reach: where the pods
// cannot be shared alike, the fullest domains keep one more.
func nearestEven(domains []string, count map[string]int, total int) []int {
	order := make([]int, len(domains))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(count[domains[b]], count[domains[a]]) })
	even := make([]int, len(domains))
	for rank, i := range order {
		even[i] = total / len(domains)
		if rank < total%len(domains) {
			even[i]++
		}
	}
	return even
}

// joinFew writes counts as 1/1/4 and cuts long lists, so that one message stays
// one line on a cluster with hundreds of domains.
func joinFew(s []string) string {
	if len(s) > 8 {
		return strings.Join(s[:8], "/") + "/..."
	}
	return strings.Join(s, "/")
}
