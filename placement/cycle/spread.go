package cycle

import (
	"encoding/binary"
	"fmt"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// systemDefaultConstraints are the system's default constraints (kube-scheduler
// podtopologyspread, systemDefaultConstraints).
var systemDefaultConstraints = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

// SpreadConstraint is one topology spread constraint of an incoming class.
type SpreadConstraint struct {
	MaxSkew       int64
	key           string
	Topology      *model.Topology
	Hostname      bool
	MinDomains    int
	CountedNodes  []bool            // nodes whose pods and domains count
	Pods          *model.PodCounter // pods that match the selector, on each node
	SelfMatch     int64             // 1 when the newcomer matches the selector
	EmptySelector bool              // the selector is empty
	Domains       []int32           // of a hard one: those with a node that counts
}

// SpreadRules are the constraints of an incoming class.
type SpreadRules struct {
	Hard, Soft   []SpreadConstraint
	HardKeyNodes []bool // nodes with every topology key of the hard constraints
	SoftKeyNodes []bool // the same for the soft ones
	// RequireAllKeys: nodes without some key score nothing. With the system's
	// defaults they take part with the keys they have.
	RequireAllKeys bool
}

func NewSpreadRules(w *model.Cluster, c *model.EquivalenceClass, in *Replacement) (SpreadRules, error) {
	own := c.Sample.Object.Spec.TopologySpreadConstraints
	r := SpreadRules{RequireAllKeys: len(own) > 0 || !c.Profile.SystemDefaultSpread}
	for i := range own {
		sel, err := metav1.LabelSelectorAsSelector(own[i].LabelSelector)
		if err != nil {
			return r, fmt.Errorf("reading the labelSelector of the spread constraint on %s: %w", own[i].TopologyKey, err)
		}
		r.add(&own[i], newSpreadConstraint(w, c, in, &own[i], addMatchLabelKeys(sel, own[i].MatchLabelKeys, c.Labels)))
	}
	if len(own) == 0 {
		addDefaultConstraints(w, &r, c, in)
	}
	if c.Profile.Disabled[scheduler.PodTopologySpread] {
		r.Hard = nil
	}
	r.HardKeyNodes, r.SoftKeyNodes = nodesWithAllKeys(w, r.Hard), nodesWithAllKeys(w, r.Soft)
	for i := range r.Hard {
		r.Hard[i].findDomains(r.HardKeyNodes)
	}
	return r, nil
}

// findDomains finds the domains of the nodes that count for a hard constraint.
func (c *SpreadConstraint) findDomains(hasKeys []bool) {
	seen := make([]bool, c.Topology.Size)
	for n, ok := range c.CountedNodes {
		if x := c.Topology.Domain[n]; ok && hasKeys[n] && !seen[x] {
			seen[x] = true
			c.Domains = append(c.Domains, x)
		}
	}
}

func (r *SpreadRules) add(t *corev1.TopologySpreadConstraint, x SpreadConstraint) {
	if t.WhenUnsatisfiable == corev1.DoNotSchedule {
		r.Hard = append(r.Hard, x)
	} else {
		r.Soft = append(r.Soft, x)
	}
}

// nodesWithAllKeys tells by node whether it has every topology key. Classes with the
// same keys share it; it is read-only.
func nodesWithAllKeys(w *model.Cluster, cs []SpreadConstraint) []bool {
	var key []byte
	for i := range cs {
		key = binary.AppendVarint(key, int64(cs[i].Topology.ID))
	}
	if ok := w.NodesWithKeys[string(key)]; ok != nil {
		return ok
	}
	ok := make([]bool, len(w.Snap.Nodes))
	w.NodesWithKeys[string(key)] = ok
	for n := range ok {
		ok[n] = true
		for i := range cs {
			ok[n] = ok[n] && cs[i].Topology.Domain[n] != model.NoDomain
		}
	}
	return ok
}

// addMatchLabelKeys adds the pod's own values of the keys to the selector. The API
// server does so too since 1.34; twice is as good as once.
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

// newSpreadConstraint makes one of a pod's or a profile's, about the pods that match the
// selector.
func newSpreadConstraint(w *model.Cluster, c *model.EquivalenceClass, in *Replacement, t *corev1.TopologySpreadConstraint, sel labels.Selector) SpreadConstraint {
	x := SpreadConstraint{
		MaxSkew: int64(t.MaxSkew), key: t.TopologyKey, Topology: w.TopologyOf(t.TopologyKey), MinDomains: 1,
		Hostname: t.TopologyKey == corev1.LabelHostname, Pods: w.SpreadCounter(c.Namespace, sel),
		EmptySelector: sel.Empty(),
	}
	if sel.Matches(c.Labels) {
		x.SelfMatch = 1
	}
	if t.MinDomains != nil {
		x.MinDomains = int(*t.MinDomains)
	}
	honourAffinity := t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	honourTaints := t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	if honourAffinity && !honourTaints {
		x.CountedNodes = in.AffinityOK
		return x
	}
	x.CountedNodes = make([]bool, len(w.Snap.Nodes))
	for n := range x.CountedNodes {
		x.CountedNodes[n] = (!honourAffinity || in.AffinityOK[n]) && (!honourTaints || in.TaintsOK[n])
	}
	return x
}

// addDefaultConstraints adds the profile's constraints for pods that belong to a Service,
// ReplicationController, ReplicaSet or StatefulSet, with the selectors of these.
func addDefaultConstraints(w *model.Cluster, r *SpreadRules, c *model.EquivalenceClass, in *Replacement) {
	list := c.Profile.DefaultSpread
	if c.Profile.SystemDefaultSpread {
		list = systemDefaultConstraints
	}
	if len(list) == 0 {
		return
	}
	sel := defaultSelector(w, c)
	if sel.Empty() {
		return
	}
	for i := range list {
		r.add(&list[i], newSpreadConstraint(w, c, in, &list[i], sel))
	}
}

// defaultSelector joins the selectors of the pod's Services and of its
// controller. The controller is looked up by name, as the scheduler does.
func defaultSelector(w *model.Cluster, c *model.EquivalenceClass) labels.Selector {
	set := labels.Set{}
	for _, s := range w.Services[c.Namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(c.Labels) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	sel := labels.SelectorFromSet(set)
	if o, ok := w.OwnerOf(c.Sample); ok && o.Selector != nil {
		if reqs, selectable := o.Selector.Requirements(); selectable {
			sel = sel.Add(reqs...)
		}
	}
	return sel
}
