package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// maxAddedNodes bounds the nodes that a change adds.
const maxAddedNodes = 10_000

// Apply returns the cluster after a change of the nodes. The pods of nodes that are gone get new nodes as the scheduler
// would most likely place them, those with the highest priority first; those for which there is no room are Pending.
// Neither s nor its objects change. marks recognizes the marks that a new node does not have.
func Apply(s *cluster.Snapshot, opts placement.Options, marks nodemarks.Table, change plan.Change) (*cluster.Snapshot, plan.WhatIf, error) {
	c := &changed{from: s, marks: marks, out: *s.Objects, gone: map[string]bool{}, left: map[string]*corev1.Pod{}, usage: map[string]*cluster.PodUsage{},
		result: plan.WhatIf{Change: change, Gone: []plan.PodRef{}, Pods: []plan.PodFit{}}}
	c.out.StoppedAt, c.out.CSINodes = 0, slices.Clone(c.out.CSINodes)
	if s.Usage != nil {
		c.out.Usage = ptr.To(*s.Usage.Raw)
		c.out.Usage.Nodes, c.out.Usage.Pods = slices.Clone(c.out.Usage.Nodes), slices.Clone(c.out.Usage.Pods)
		for i := range s.Usage.Raw.Pods {
			m := &s.Usage.Raw.Pods[i]
			c.usage[cmp.Or(m.UID, m.Namespace+"/"+m.Name)] = m
		}
	}
	if err := c.removeNodes(); err != nil {
		return nil, plan.WhatIf{}, err
	}
	for _, a := range change.Added {
		if err := c.addNodes(a); err != nil {
			return nil, plan.WhatIf{}, err
		}
	}
	for _, a := range change.Replicas {
		if err := c.addReplicas(a); err != nil {
			return nil, plan.WhatIf{}, err
		}
	}
	after, err := cluster.New(&c.out)
	if err != nil {
		return nil, plan.WhatIf{}, fmt.Errorf("the changed cluster: %w", err)
	}
	c.place(after, opts)
	if after, err = cluster.New(&c.out); err != nil {
		return nil, plan.WhatIf{}, fmt.Errorf("the changed cluster: %w", err)
	}
	return after, c.result, nil
}

// changed is a change in progress.
type changed struct {
	from   *cluster.Snapshot
	marks  nodemarks.Table
	out    cluster.Objects
	gone   map[string]bool              // names of nodes
	left   map[string]*corev1.Pod       // copies of the pods of these nodes, without a node, by namespace/name
	usage  map[string]*cluster.PodUsage // by UID; by namespace/name if it has none
	result plan.WhatIf
}

func (c *changed) removeNodes() error {
	zones := limits.ZonesOf(c.from)
	for _, name := range c.result.Change.Without {
		if c.from.NodeByName(name) == nil {
			return c.noNode(name)
		}
		c.gone[name] = true
	}
	for _, z := range c.result.Change.ZonesDown {
		if !slices.Contains(zones, z) || z == "" {
			known := slices.Compact(slices.Sorted(slices.Values(zones)))
			return fmt.Errorf("no node is in zone %q (label %s); the zones are %s", z, limits.ZoneKey, strings.Join(known, ", "))
		}
		for i, of := range zones {
			if of == z {
				c.gone[c.from.Nodes[i].Name] = true
			}
		}
	}
	if len(c.gone) == len(c.from.Nodes) {
		return fmt.Errorf("all %d nodes would be gone", len(c.gone))
	}
	c.out.Nodes = slices.DeleteFunc(slices.Clone(c.out.Nodes), func(n *corev1.Node) bool { return c.gone[n.Name] })
	c.out.Pods = nil
	for i := range c.from.Pods {
		if p := &c.from.Pods[i]; !c.gone[p.Object.Spec.NodeName] {
			c.out.Pods = append(c.out.Pods, p.Object)
		} else {
			c.leave(p)
		}
	}
	return nil
}

// noNode returns the error about a name that no node has.
func (c *changed) noNode(name string) error {
	var names []string
	for i := range c.from.Nodes {
		names = append(names, c.from.Nodes[i].Name)
	}
	return fmt.Errorf("there is no node %s%s", name, suggest.DidYouMean(name, names))
}

// leave takes a pod from a node that is gone. If a controller replaces the pod, it is Pending.
func (c *changed) leave(p *cluster.Pod) {
	switch {
	case p.Terminal || p.Terminating || p.BelongsToNode():
	case p.Controller == nil:
		c.result.Gone = append(c.result.Gone, plan.PodRefOf(p))
	default:
		pod := p.Object.DeepCopy()
		pod.Spec.NodeName, pod.Status.NominatedNodeName = "", ""
		c.out.Pods = append(c.out.Pods, pod)
		c.left[pod.Namespace+"/"+pod.Name] = pod
	}
}

// addNodes adds nodes like another, without its marks, images and attached volumes, and the pods that belong to it.
func (c *changed) addNodes(a plan.AddedNodes) error {
	like := c.from.NodeByName(a.Like)
	switch {
	case like == nil:
		return c.noNode(a.Like)
	case a.Count < 1 || a.Count > maxAddedNodes:
		return fmt.Errorf("%d nodes like %s cannot be added (want 1 to %d)", a.Count, a.Like, maxAddedNodes)
	case like.Object.DeletionTimestamp != nil:
		return fmt.Errorf("node %s is being deleted, so no nodes like it can be added", a.Like)
	}
	taken := map[string]bool{}
	for _, n := range c.out.Nodes {
		taken[n.Name] = true
	}
	csi := slices.IndexFunc(c.out.CSINodes, func(n *storagev1.CSINode) bool { return n.Name == a.Like })
	number := 0
	for range a.Count {
		name := ""
		for name == "" || taken[name] || c.from.NodeByName(name) != nil {
			number++
			name = fmt.Sprintf("%s-new-%d", a.Like, number)
		}
		c.out.Nodes = append(c.out.Nodes, c.newNode(like, name, a.Zone))
		c.addPodsOfNode(like, name)
		if csi >= 0 {
			added := c.out.CSINodes[csi].DeepCopy()
			added.ObjectMeta = metav1.ObjectMeta{Name: name, UID: types.UID("what-if/csinode/" + name)}
			c.out.CSINodes = append(c.out.CSINodes, added)
		}
	}
	return nil
}

func (c *changed) newNode(like *cluster.Node, name, zone string) *corev1.Node {
	n := like.Object.DeepCopy()
	n.Name, n.UID, n.ResourceVersion = name, types.UID("what-if/node/"+name), ""
	n.Labels, n.Annotations = maps.Clone(n.Labels), maps.Clone(n.Annotations)
	for _, mark := range c.marks.On(like.Object) {
		switch mark.Place {
		case nodemarks.Label:
			delete(n.Labels, mark.Key)
		case nodemarks.Annotation:
			delete(n.Annotations, mark.Key)
		}
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelHostname] = name
	if zone != "" {
		n.Labels[limits.ZoneKey] = zone
	}
	n.Spec = corev1.NodeSpec{Taints: slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return c.marks.OfTaint(&t) != nil || strings.HasPrefix(t.Key, "evenkeel.io/")
	})}
	n.Status.Images, n.Status.VolumesInUse, n.Status.VolumesAttached = nil, nil, nil
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

// addPodsOfNode adds copies of the pods that belong to a node, such as those of DaemonSets, and their usage.
func (c *changed) addPodsOfNode(like *cluster.Node, name string) {
	used := map[string]int64{}
	for _, id := range like.Pods {
		p := &c.from.Pods[id]
		if !p.BelongsToNode() || p.Terminating {
			continue
		}
		pod := p.Object.DeepCopy()
		pod.Name, pod.UID, pod.Spec.NodeName = pod.Name+"-"+name, types.UID("what-if/pod/"+pod.Name+"-"+name), name
		if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil // it may name the other node
		}
		c.out.Pods = append(c.out.Pods, pod)
		if m := c.usageOf(p.Object); m != nil {
			of := *m
			of.Name, of.UID, of.Node = pod.Name, string(pod.UID), name
			c.out.Usage.Pods = append(c.out.Usage.Pods, of)
			addAmounts(used, m.Used)
		}
	}
	if u := c.out.Usage; u != nil {
		if i := slices.IndexFunc(u.Nodes, func(n cluster.NodeUsage) bool { return n.Name == like.Name }); i >= 0 {
			of := cluster.NodeUsage{Name: name, At: u.Nodes[i].At, Used: map[string]int64{}}
			for resource := range u.Nodes[i].Used {
				of.Used[resource] = used[resource]
			}
			u.Nodes = append(u.Nodes, of)
		}
	}
}

// usageOf returns the measured usage of a pod, or nil.
func (c *changed) usageOf(p *corev1.Pod) *cluster.PodUsage {
	if m := c.usage[string(p.UID)]; m != nil {
		return m
	}
	return c.usage[p.Namespace+"/"+p.Name]
}

func addAmounts(to, amounts map[string]int64) {
	for resource, amount := range amounts {
		to[resource] += amount
	}
}

// waitsForNode reports whether the scheduler must find a node for the pod.
func waitsForNode(p *cluster.Pod) bool {
	return p.Node == cluster.NoNode && p.Object.Spec.NodeName == "" && len(p.Object.Spec.SchedulingGates) == 0
}

// place says which pods without a node find one, and binds them as the scheduler would most likely do.
func (c *changed) place(s *cluster.Snapshot, opts placement.Options) {
	m := placement.NewClusterModel(s, opts)
	var unbound []cluster.PodID
	for i := range s.Pods {
		if p := &s.Pods[i]; !p.Terminal && !p.Terminating && waitsForNode(p) {
			unbound = append(unbound, p.ID)
		}
	}
	j, least, most := judge(m, opts, unbound)
	c.result.LeastPending, c.result.MostPending = least, most
	if c.result.MayPreempt = j.findPreempted(unbound); c.result.MayPreempt {
		c.result.MostPending = len(unbound)
	}
	slices.SortStableFunc(unbound, func(a, b cluster.PodID) int {
		return cmp.Compare(ptr.Deref(s.Pods[b].Object.Spec.Priority, 0), ptr.Deref(s.Pods[a].Object.Spec.Priority, 0))
	})
	landed := map[string]string{}
	for _, id := range unbound {
		p := &s.Pods[id]
		fit := plan.PodFit{Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(s, p)}
		if was := c.from.PodByKey(fit.Pod.String()); was != nil {
			fit.From = was.Object.Spec.NodeName
		}
		switch why := j.reasons[id]; why.Code {
		case "":
			c.result.Fits++
		case plan.DoesNotFit:
			fit.Reason = &why
			c.result.DoesNotFit++
		default:
			fit.Reason = &why
			c.result.MayNotFit++
		}
		pr := m.PredictOdds(id)
		if n := pr.LikeliestOf(func(cluster.NodeID) bool { return true }); n != cluster.NoNode {
			m.Cluster.Move(id, n)
			fit.To = s.Nodes[n].Name
			landed[fit.Pod.String()] = fit.To
		}
		c.result.Pods = append(c.result.Pods, fit)
	}
	c.lowerBudgets(s, landed)
	c.bind(landed)
}

// lowerBudgets lowers the disruptions that the budgets of Pending pods allow.
func (c *changed) lowerBudgets(s *cluster.Snapshot, landed map[string]string) {
	for i := range s.Budgets {
		lost := int32(0)
		for _, id := range s.Budgets[i].Pods {
			p := s.Pods[id].Object
			if key := p.Namespace + "/" + p.Name; c.left[key] != nil && landed[key] == "" {
				lost++
			}
		}
		if lost == 0 {
			continue
		}
		budget := s.Budgets[i].Object.DeepCopy()
		budget.Status.DisruptionsAllowed = max(0, budget.Status.DisruptionsAllowed-lost)
		budget.Status.CurrentHealthy = max(0, budget.Status.CurrentHealthy-lost)
		c.out.PodDisruptionBudgets = replaced(c.out.PodDisruptionBudgets, s.Budgets[i].Object, budget)
	}
}

// bind sets the nodes of the pods that find one, and moves their usage. The others are Pending.
func (c *changed) bind(landed map[string]string) {
	moved := map[string]map[string]int64{} // usage by node
	for i, pod := range c.out.Pods {
		key := pod.Namespace + "/" + pod.Name
		to, lands := landed[key]
		left := c.left[key]
		switch {
		case lands && left == nil: // it was Pending
			pod = pod.DeepCopy()
			pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
			fallthrough
		case lands:
			pod.Spec.NodeName = to
			c.out.Pods[i] = pod
			if m := c.usageOf(pod); m != nil {
				if moved[to] == nil {
					moved[to] = map[string]int64{}
				}
				addAmounts(moved[to], m.Used)
			}
		case left != nil:
			left.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
		}
	}
	c.moveUsage(landed, moved)
}

// moveUsage adds the usage of the pods that landed to their nodes.
func (c *changed) moveUsage(landed map[string]string, moved map[string]map[string]int64) {
	u := c.out.Usage
	if u == nil {
		return
	}
	for i := range u.Nodes {
		n := &u.Nodes[i]
		if by := moved[n.Name]; by != nil {
			n.Used = maps.Clone(n.Used)
			for resource, amount := range by {
				if _, measured := n.Used[resource]; measured {
					n.Used[resource] += amount
				}
			}
			n.Newest = nil
		}
	}
	for i := range u.Pods {
		if to, lands := landed[u.Pods[i].Namespace+"/"+u.Pods[i].Name]; lands {
			u.Pods[i].Node = to
		}
	}
}

// WithoutUsage returns why the usage of the changed cluster is unknown: the snapshot has no measured usage, or a pod
// that needs another node was not measured. It returns nil if the usage is known.
func WithoutUsage(s *cluster.Snapshot, rules cluster.UsageRequirements, resources []string, x plan.WhatIf) *plan.Reason {
	if s.Usage == nil {
		return &plan.Reason{Code: plan.NoUsageData, Message: "the snapshot has no measured usage"}
	}
	for _, resource := range resources {
		amounts := s.Amounts(cluster.Measure{ByUsage: true, Resource: resource}, rules)
		for _, of := range x.Pods {
			if p := s.PodByKey(of.Pod.String()); of.From != "" && amounts.PodQuality(p.ID) < cluster.Estimated {
				return &plan.Reason{Code: plan.UsageUnknown, Message: "the " + resource + " usage of pod " + of.Pod.String() + " is unknown"}
			}
		}
	}
	return nil
}
