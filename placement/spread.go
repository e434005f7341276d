package placement

import (
	"encoding/binary"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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

func (w *clusterState) spreadRules(c *class, in *incoming) (spreadRules, error) {
	own := c.sample.Object.Spec.TopologySpreadConstraints
	r := spreadRules{requireAll: len(own) > 0 || !c.profile.SystemSpread}
	for i := range own {
		sel, err := metav1.LabelSelectorAsSelector(own[i].LabelSelector)
		if err != nil {
			return r, fmt.Errorf("reading the labelSelector of the spread constraint on %s: %w", own[i].TopologyKey, err)
		}
		r.add(&own[i], w.constraint(c, in, &own[i], withLabelKeys(sel, own[i].MatchLabelKeys, c.labels)))
	}
	if len(own) == 0 {
		w.addDefaults(&r, c, in)
	}
	if c.profile.off[PodTopologySpread] {
		r.hard = nil
	}
	r.hardNode, r.softNode = w.withAllKeys(r.hard), w.withAllKeys(r.soft)
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
func (w *clusterState) withAllKeys(cs []constraint) []bool {
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

// constraint makes one of a pod's or a profile's, about the pods that match the
// selector.
func (w *clusterState) constraint(c *class, in *incoming, t *corev1.TopologySpreadConstraint, sel labels.Selector) constraint {
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

// addDefaults adds the profile's constraints for pods that belong to a Service,
// ReplicationController, ReplicaSet or StatefulSet, with the selectors of these.
func (w *clusterState) addDefaults(r *spreadRules, c *class, in *incoming) {
	list := c.profile.DefaultSpread
	if c.profile.SystemSpread {
		list = systemSpread
	}
	if len(list) == 0 {
		return
	}
	sel := w.defaultSelector(c)
	if sel.Empty() {
		return
	}
	for i := range list {
		r.add(&list[i], w.constraint(c, in, &list[i], sel))
	}
}

// defaultSelector joins the selectors of the pod's Services and of its
// controller. The controller is looked up by name, as the scheduler does.
func (w *clusterState) defaultSelector(c *class) labels.Selector {
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

// labelKey is a label key in a namespace.
type labelKey struct{ namespace, key string }

// classesBy lists the namespace's classes that have one of the labels that the
// selector asks for, the one that fewest have; all of them where it asks for none
// by its value.
func (w *clusterState) classesBy(namespace string, sel labels.Selector) []*class {
	best, known := w.byNS[namespace], false
	reqs, _ := sel.Requirements()
	for i := range reqs {
		values := reqs[i].Values()
		if op := reqs[i].Operator(); op != selection.Equals && op != selection.DoubleEquals && op != selection.In || len(values) != 1 {
			continue
		}
		if list := w.labelled(labelKey{namespace, reqs[i].Key()})[values.UnsortedList()[0]]; !known || len(list) < len(best) {
			best, known = list, true
		}
	}
	return best
}

// labelled lists the classes of a namespace by their value of a label.
func (w *clusterState) labelled(k labelKey) map[string][]*class {
	if list, known := w.byLabel[k]; known {
		return list
	}
	list := map[string][]*class{}
	for _, c := range w.byNS[k.namespace] {
		if v, has := c.labels[k.key]; has {
			list[v] = append(list[v], c)
		}
	}
	w.byLabel[k] = list
	return list
}

// spreadCounter returns the count of a namespace's pods that match the
// selector. An empty selector counts none here, though it matches the newcomer
// itself: that is how the scheduler does it.
func (w *clusterState) spreadCounter(namespace string, sel labels.Selector) *counter {
	id := namespace + "|" + selectorID(sel)
	if k := w.spreads[id]; k != nil {
		return k
	}
	k := &counter{}
	w.spreads[id] = k
	if sel.Empty() {
		return k
	}
	for _, c := range w.classesBy(namespace, sel) {
		if sel.Matches(c.labels) {
			c.spread = append(c.spread, k)
			w.count(c, k, false)
		}
	}
	return k
}
