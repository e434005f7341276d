package cycle

import (
	"encoding/binary"
	"fmt"

	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// systemDefaultConstraints are the default constraints of kube-scheduler (plugin podtopologyspread,
// systemDefaultConstraints).
var systemDefaultConstraints = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

// SpreadConstraint is one topology spread constraint for the replacements of a class.
type SpreadConstraint struct {
	MaxSkew       int64
	Topology      *model.Topology
	Hostname      bool
	MinDomains    int
	CountedNodes  []bool            // nodes whose pods and domains count
	Pods          *model.PodCounter // pods that match the selector, on each node
	SelfMatch     int64             // 1 if the replacement matches the selector, else 0
	EmptySelector bool              // the selector is empty
	Domains       []int32           // domains with a node that counts; set for hard constraints
}

// SpreadRules are the topology spread constraints for the replacements of a class.
type SpreadRules struct {
	Hard, Soft   []SpreadConstraint
	HardKeyNodes []bool // nodes with every topology key of the hard constraints
	SoftKeyNodes []bool // nodes with every topology key of the soft constraints
	// If RequireAllKeys is true, a node without one of the topology keys gets score 0. Otherwise
	// (the system's default constraints), the keys that the node has are scored.
	RequireAllKeys bool
}

// CheckSelectors returns an error if a selector of the pod's spread constraints or inter-pod affinity is invalid.
func CheckSelectors(m *model.Cluster, c *model.EquivalenceClass) error {
	spec := &c.Sample.Object.Spec
	for i := 0; m.ReadsCopiedLabels && i < len(spec.TopologySpreadConstraints); i++ { // otherwise the model has read them
		t := &spec.TopologySpreadConstraints[i]
		if _, err := metav1.LabelSelectorAsSelector(t.LabelSelector); err != nil {
			return fmt.Errorf("reading the labelSelector of the spread constraint on %s: %w", t.TopologyKey, err)
		}
	}
	_, err := model.ReadTerms(c.Namespace, spec.Affinity)
	return err
}

// NewSpreadRules returns the constraints of the pod; if it has none, the profile's default
// constraints. CheckSelectors must have found no error.
func NewSpreadRules(m *model.Cluster, c *model.EquivalenceClass, in *Replacement) SpreadRules {
	own := c.Sample.Object.Spec.TopologySpreadConstraints
	r := SpreadRules{RequireAllKeys: len(own) > 0 || !c.Profile.SystemDefaultSpread}
	for i := range own {
		sel, _ := metav1.LabelSelectorAsSelector(own[i].LabelSelector)
		r.add(&own[i], newSpreadConstraint(m, c, in, &own[i], addMatchLabelKeys(sel, own[i].MatchLabelKeys, c.Labels)))
	}
	if len(own) == 0 {
		addDefaultConstraints(m, &r, c, in)
	}
	if c.Profile.Disabled[scheduler.PodTopologySpread] {
		r.Hard = nil
	}
	r.HardKeyNodes, r.SoftKeyNodes = nodesWithAllKeys(m, r.Hard), nodesWithAllKeys(m, r.Soft)
	for i := range r.Hard {
		r.Hard[i].findDomains(r.HardKeyNodes)
	}
	return r
}

// findDomains sets the domains of a hard constraint. The nodes must count for the constraint and
// have every topology key.
func (c *SpreadConstraint) findDomains(hasKeys []bool) {
	seen := make([]bool, c.Topology.Size)
	c.Domains = make([]int32, 0, c.Topology.Size)
	for n, ok := range c.CountedNodes {
		if x := c.Topology.Domain[n]; ok && hasKeys[n] && !seen[x] {
			seen[x] = true
			c.Domains = append(c.Domains, x)
		}
	}
}

// add appends a constraint to the hard or the soft constraints.
func (r *SpreadRules) add(t *corev1.TopologySpreadConstraint, x SpreadConstraint) {
	if t.WhenUnsatisfiable == corev1.DoNotSchedule {
		r.Hard = append(r.Hard, x)
	} else {
		r.Soft = append(r.Soft, x)
	}
}

// nodesWithAllKeys reports, by node, whether it has every topology key. Classes with the same keys
// share the slice, so it is read-only.
func nodesWithAllKeys(m *model.Cluster, cs []SpreadConstraint) []bool {
	var key []byte
	for i := range cs {
		key = binary.AppendVarint(key, int64(cs[i].Topology.ID))
	}
	if ok := m.NodesWithKeys[string(key)]; ok != nil {
		return ok
	}
	ok := make([]bool, len(m.Snap.Nodes))
	m.NodesWithKeys[string(key)] = ok
	for n := range ok {
		ok[n] = true
		for i := range cs {
			ok[n] = ok[n] && cs[i].Topology.Domain[n] != model.NoDomain
		}
	}
	return ok
}

// addMatchLabelKeys adds the pod's values of the keys to the selector. API servers 1.34 and later
// have already added these values; adding them twice changes nothing.
func addMatchLabelKeys(sel labels.Selector, keys []string, pod labels.Set) labels.Selector {
	own := labels.Set{}
	for _, k := range keys {
		if v, ok := pod[k]; ok {
			own[k] = v
		}
	}
	reqs, selectable := sel.Requirements()
	if len(own) == 0 || !selectable {
		return sel
	}
	return labels.SelectorFromSet(own).Add(reqs...)
}

// newSpreadConstraint returns a constraint of the pod or the profile that counts the pods that
// match the selector.
func newSpreadConstraint(m *model.Cluster, c *model.EquivalenceClass, in *Replacement,
	t *corev1.TopologySpreadConstraint, sel labels.Selector) SpreadConstraint {
	x := SpreadConstraint{
		MaxSkew: int64(t.MaxSkew), Topology: m.TopologyOf(t.TopologyKey), MinDomains: int(ptr.Deref(t.MinDomains, 1)),
		Hostname: t.TopologyKey == corev1.LabelHostname, Pods: m.SpreadCounter(c.Namespace, sel),
		EmptySelector: sel.Empty(),
	}
	if sel.Matches(c.Labels) {
		x.SelfMatch = 1
	}
	honourAffinity := ptr.Deref(t.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor
	honourTaints := ptr.Deref(t.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor
	if honourAffinity && !honourTaints {
		x.CountedNodes = in.AffinityOK
		return x
	}
	x.CountedNodes = make([]bool, len(m.Snap.Nodes))
	for n := range x.CountedNodes {
		x.CountedNodes[n] = (!honourAffinity || in.AffinityOK[n]) && (!honourTaints || in.TaintsOK[n])
	}
	return x
}

// addDefaultConstraints adds the profile's default constraints if the pod belongs to a Service,
// ReplicationController, ReplicaSet or StatefulSet. The constraints select the pods of all these
// owners.
func addDefaultConstraints(m *model.Cluster, r *SpreadRules, c *model.EquivalenceClass, in *Replacement) {
	list := c.Profile.DefaultSpread
	if c.Profile.SystemDefaultSpread {
		list = systemDefaultConstraints
	}
	if len(list) == 0 {
		return
	}
	sel := defaultSelector(m, c)
	if sel.Empty() {
		return
	}
	for i := range list {
		r.add(&list[i], newSpreadConstraint(m, c, in, &list[i], sel))
	}
}

// defaultSelector joins the selectors of the pod's Services and of its controller. As in the
// scheduler, the controller is found by name.
func defaultSelector(m *model.Cluster, c *model.EquivalenceClass) labels.Selector {
	set := labels.Set{}
	for _, s := range m.Services[c.Namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(c.Labels) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	sel := labels.SelectorFromSet(set)
	if o, ok := m.OwnerOf(c.Sample); ok && o.Selector != nil {
		if own, err := metav1.LabelSelectorAsSelector(o.Selector); err == nil {
			if reqs, selectable := own.Requirements(); selectable {
				sel = sel.Add(reqs...)
			}
		}
	}
	return sel
}
