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

// constraint is one topology spread constraint of an incoming class.
type constraint struct {
	maxSkew    int64
	key        string
	topo       *topology
	hostname   bool
	minDomains int
	eligible   []bool   // nodes whose pods and domains count
	pods       *counter // pods that match the selector, on each node
	self       int64    // 1 when the newcomer matches the selector
	everything bool     // the selector is empty
	domains    []int32  // of a hard one: those with a node that counts
}

// spreadRules are the constraints of an incoming class.
type spreadRules struct {
	hard, soft []constraint
	hardNode   []bool // nodes with every topology key of the hard constraints
	softNode   []bool // the same for the soft ones
	// requireAll: nodes without some key score nothing. With the system's
	// defaults they take part with the keys they have.
	requireAll bool
}

func spreadRulesOf(w *clusterState, c *class, in *incoming) (spreadRules, error) {
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
	if c.profile.off[PodTopologySpread] {
		r.hard = nil
	}
	r.hardNode, r.softNode = withAllKeys(w, r.hard), withAllKeys(w, r.soft)
	for i := range r.hard {
		r.hard[i].findDomains(r.hardNode)
	}
	return r, nil
}

// findDomains finds the domains of the nodes that count for a hard constraint.
func (c *constraint) findDomains(hasKeys []bool) {
	seen := make([]bool, c.topo.size)
	for n, ok := range c.eligible {
		if x := c.topo.domain[n]; ok && hasKeys[n] && !seen[x] {
			seen[x] = true
			c.domains = append(c.domains, x)
		}
	}
}

func (r *spreadRules) add(t *corev1.TopologySpreadConstraint, x constraint) {
	if t.WhenUnsatisfiable == corev1.DoNotSchedule {
		r.hard = append(r.hard, x)
	} else {
		r.soft = append(r.soft, x)
	}
}

// withAllKeys tells by node whether it has every topology key. Classes with the
// same keys share it; it is read-only.
func withAllKeys(w *clusterState, cs []constraint) []bool {
	var key []byte
	for i := range cs {
		key = binary.AppendVarint(key, int64(cs[i].topo.number))
	}
	if ok := w.keyed[string(key)]; ok != nil {
		return ok
	}
	ok := make([]bool, len(w.snap.Nodes))
	w.keyed[string(key)] = ok
	for n := range ok {
		ok[n] = true
		for i := range cs {
			ok[n] = ok[n] && cs[i].topo.domain[n] != noDomain
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
func newConstraint(w *clusterState, c *class, in *incoming, t *corev1.TopologySpreadConstraint, sel labels.Selector) constraint {
	x := constraint{
		maxSkew: int64(t.MaxSkew), key: t.TopologyKey, topo: w.topology(t.TopologyKey), minDomains: 1,
		hostname: t.TopologyKey == corev1.LabelHostname, pods: w.spreadCounter(c.namespace, sel),
		everything: sel.Empty(),
	}
	if sel.Matches(c.labels) {
		x.self = 1
	}
	if t.MinDomains != nil {
		x.minDomains = int(*t.MinDomains)
	}
	honourAffinity := t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	honourTaints := t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	if honourAffinity && !honourTaints {
		x.eligible = in.affinityOK
		return x
	}
	x.eligible = make([]bool, len(w.snap.Nodes))
	for n := range x.eligible {
		x.eligible[n] = (!honourAffinity || in.affinityOK[n]) && (!honourTaints || in.taintsOK[n])
	}
	return x
}

// addDefaultConstraints adds the profile's constraints for pods that belong to a Service,
// ReplicationController, ReplicaSet or StatefulSet, with the selectors of these.
func addDefaultConstraints(w *clusterState, r *spreadRules, c *class, in *incoming) {
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
func defaultSelector(w *clusterState, c *class) labels.Selector {
	set := labels.Set{}
	for _, s := range w.services[c.namespace] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(c.labels) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	sel := labels.SelectorFromSet(set)
	if o, ok := w.ownerOf(c.sample); ok && o.selector != nil {
		if reqs, selectable := o.selector.Requirements(); selectable {
			sel = sel.Add(reqs...)
		}
	}
	return sel
}
