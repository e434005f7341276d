package placement

import (
	"encoding/binary"
	"fmt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// systemSpread are the system's default constraints (kube-scheduler
// podtopologyspread, systemDefaultConstraints).
var systemSpread = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

// SpreadConstraint is one topology spread constraint of an incoming class.
type SpreadConstraint struct {
	maxSkew       int64
	key           string
	Topology      *Topology
	hostname      bool
	minDomains    int
	CountedNodes  []bool      // nodes whose pods and domains count
	pods          *PodCounter // pods that match the selector, on each node
	SelfMatch     int64       // 1 when the newcomer matches the selector
	EmptySelector bool        // the selector is empty
	domains       []int32     // of a hard one: those with a node that counts
}

// spreadRules are the constraints of an incoming class.
type spreadRules struct {
	hard, soft []SpreadConstraint
	hardNode   []bool // nodes with every topology key of the hard constraints
	softNode   []bool // the same for the soft ones
	// requireAll: nodes without some key score nothing. With the system's
	// defaults they take part with the keys they have.
	requireAll bool
}

func spreadRulesOf(w *Cluster, c *EquivalenceClass, in *Replacement) (spreadRules, error) {
	own := c.sample.Object.Spec.TopologySpreadConstraints
	r := spreadRules{requireAll: len(own) > 0 || !c.profile.SystemSpread}
	for i := range own {
		sel, err := metav1.LabelSelectorAsSelector(own[i].LabelSelector)
		if err != nil {
			return r, fmt.Errorf("reading the labelSelector of the spread constraint on %s: %w", own[i].TopologyKey, err)
		}
		r.add(&own[i], newConstraint(w, c, in, &own[i], withLabelKeys(sel, own[i].MatchLabelKeys, c.labels)))
	}
	if len(own) == 0 {
		addDefaultConstraints(w, &r, c, in)
	}
	if c.profile.Off[PodTopologySpread] {
		r.hard = nil
	}
	r.hardNode, r.softNode = withAllKeys(w, r.hard), withAllKeys(w, r.soft)
	for i := range r.hard {
		r.hard[i].findDomains(r.hardNode)
	}
	return r, nil
}

// findDomains finds the domains of the nodes that count for a hard constraint.
func (c *SpreadConstraint) findDomains(hasKeys []bool) {
	seen := make([]bool, c.Topology.size)
	for n, ok := range c.CountedNodes {
		if x := c.Topology.domain[n]; ok && hasKeys[n] && !seen[x] {
			seen[x] = true
			c.domains = append(c.domains, x)
		}
	}
}

func (r *spreadRules) add(t *corev1.TopologySpreadConstraint, x SpreadConstraint) {
	if t.WhenUnsatisfiable == corev1.DoNotSchedule {
		r.hard = append(r.hard, x)
	} else {
		r.soft = append(r.soft, x)
	}
}

// withAllKeys tells by node whether it has every topology key. Classes with the
// same keys share it; it is read-only.
func withAllKeys(w *Cluster, cs []SpreadConstraint) []bool {
	var key []byte
	for i := range cs {
		key = binary.AppendVarint(key, int64(cs[i].Topology.Number))
	}
	if ok := w.NodesWithKeys[string(key)]; ok != nil {
		return ok
	}
	ok := make([]bool, len(w.Snap.Nodes))
	w.NodesWithKeys[string(key)] = ok
	for n := range ok {
		ok[n] = true
		for i := range cs {
			ok[n] = ok[n] && cs[i].Topology.domain[n] != NoDomain
		}
	}
	return ok
}

// withLabelKeys adds the pod's own values of the keys to the selector. The API
// server does so too since 1.34; twice is as good as once.
func withLabelKeys(sel labels.Selector, keys []string, pod labels.Set) labels.Selector {
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

// newConstraint makes one of a pod's or a profile's, about the pods that match the
// selector.
func newConstraint(w *Cluster, c *EquivalenceClass, in *Replacement, t *corev1.TopologySpreadConstraint, sel labels.Selector) SpreadConstraint {
	x := SpreadConstraint{
		maxSkew: int64(t.MaxSkew), key: t.TopologyKey, Topology: w.TopologyOf(t.TopologyKey), minDomains: 1,
		hostname: t.TopologyKey == corev1.LabelHostname, pods: w.SpreadCounter(c.namespace, sel),
		EmptySelector: sel.Empty(),
	}
	if sel.Matches(c.labels) {
		x.SelfMatch = 1
	}
	if t.MinDomains != nil {
		x.minDomains = int(*t.MinDomains)
	}
	honourAffinity := t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	honourTaints := t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	if honourAffinity && !honourTaints {
		x.CountedNodes = in.affinityOK
		return x
	}
	x.CountedNodes = make([]bool, len(w.Snap.Nodes))
	for n := range x.CountedNodes {
		x.CountedNodes[n] = (!honourAffinity || in.affinityOK[n]) && (!honourTaints || in.taintsOK[n])
	}
	return x
}

// addDefaultConstraints adds the profile's constraints for pods that belong to a Service,
// ReplicationController, ReplicaSet or StatefulSet, with the selectors of these.
func addDefaultConstraints(w *Cluster, r *spreadRules, c *EquivalenceClass, in *Replacement) {
	list := c.profile.DefaultSpread
	if c.profile.SystemSpread {
		list = systemSpread
	}
	if len(list) == 0 {
		return
	}
	sel := defaultSelector(w, c)
	if sel.Empty() {
		return
	}
	for i := range list {
		r.add(&list[i], newConstraint(w, c, in, &list[i], sel))
	}
}

// defaultSelector joins the selectors of the pod's Services and of its
// controller. The controller is looked up by name, as the scheduler does.
func defaultSelector(w *Cluster, c *EquivalenceClass) labels.Selector {
	set := labels.Set{}
	for _, s := range w.Services[c.namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(c.labels) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	sel := labels.SelectorFromSet(set)
	if o, ok := w.OwnerOf(c.sample); ok && o.selector != nil {
		if reqs, selectable := o.selector.Requirements(); selectable {
			sel = sel.Add(reqs...)
		}
	}
	return sel
}
