package budgets

import (
	"fmt"
	"math/rand/v2"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// podState is the state of a pod when its eviction is requested.
type podState string

const (
	ready            podState = "ready"
	unready          podState = "unready"
	unknown          podState = "no Ready condition"
	pending          podState = "pending"
	pendingUnbound   podState = "pending, not bound"
	pendingReady     podState = "pending but Ready" // no kubelet reports this, but the API permits it
	succeeded        podState = "succeeded"
	failed           podState = "failed"
	failedReady      podState = "failed but Ready" // no kubelet reports this, but the API permits it
	terminating      podState = "terminating"
	terminatingReady podState = "terminating and Ready"
)

// ownerKind is the kind of controller that owns a pod.
type ownerKind string

const (
	bare               ownerKind = "bare"
	deployment         ownerKind = "Deployment"
	rollingOut         ownerKind = "Deployment with two ReplicaSets"
	replicaSet         ownerKind = "ReplicaSet"
	ofExtensions       ownerKind = "ReplicaSet named as extensions/v1beta1"
	foreignReplicaSet  ownerKind = "ReplicaSet of a controller that is not a Deployment"
	orphanReplicaSet   ownerKind = "ReplicaSet whose Deployment is gone"
	statefulSet        ownerKind = "StatefulSet"
	replicationControl ownerKind = "ReplicationController"
	directDeployment   ownerKind = "Deployment without a ReplicaSet between"
	scalable           ownerKind = "custom controller with a scale"
	unscalable         ownerKind = "custom controller without a scale"
	unserved           ownerKind = "controller of a kind that is not served"
	job                ownerKind = "Job"
	daemonSet          ownerKind = "DaemonSet"
	missing            ownerKind = "ReplicaSet that is gone"
	otherUID           ownerKind = "ReplicaSet of the same name, made anew"
)

// hasReplicas reports whether the disruption controller can read replicas from an owner of this
// kind. If a budget needs a scale, its sync fails when the owner of one of its pods has none.
func (k ownerKind) hasReplicas() bool {
	switch k {
	case unscalable, unserved, job, daemonSet, missing, otherUID:
		return false
	}
	return true
}

// scenario names a scenario for the status of a case's budgets.
type scenario string

const (
	// live: the disruption controller writes the status as usual. With live, evictions follow each other at once; with
	// liveSettled, each waits until the controller has observed the previous one.
	live        scenario = "live"
	liveSettled scenario = "live, settled between"
	// marked: some pods were disrupted within the last two minutes and still exist.
	marked scenario = "live, with evictions not confirmed"
	// conflictBefore, conflictAfter: an eviction with a wrong UID was refused but has charged the budget.
	conflictBefore scenario = "live, refused eviction before the snapshot"
	conflictAfter  scenario = "live, refused eviction after the snapshot"
	// rescaled: the owners' replicas changed after the status was written. The controller notices the new replicas when
	// the next pod changes.
	rescaled scenario = "live, owners rescaled"
	// written: the status is random, and the controller cannot overwrite it.
	written scenario = "controller away, random status"
	// outdated: the spec changed after the last status, and the controller cannot update the status.
	outdated scenario = "controller away, spec changed"
	// rescaledAway: the owners' replicas changed, and the controller cannot update the status.
	rescaledAway scenario = "controller away, owners rescaled"
)

func (f scenario) statusFrozen() bool { return f == written || f == outdated || f == rescaledAway }

type ownerPlan struct {
	name     string
	kind     ownerKind
	replicas int32
	// later replaces replicas after the status is written, in scenarios rescaled and rescaledAway.
	later int32
}

type podPlan struct {
	name   string
	owner  int // index into owners; -1 for none
	labels map[string]string
	state  podState
	// disrupted is the number of seconds between the pod's disruption and the snapshot; 0 if the pod was not disrupted.
	disrupted int
}

type budgetPlan struct {
	name     string
	spec     policyv1.PodDisruptionBudgetSpec
	selector string
	// status returns a random budget status that the disruption controller would never write.
	status policyv1.PodDisruptionBudgetStatus
	// behind means that the status has an older observedGeneration than the spec.
	behind bool
	// crowded means that the status lists more disrupted pods than the server accepts.
	crowded bool
}

type testCase struct {
	index     int
	namespace string
	scenario  scenario
	owners    []ownerPlan
	pods      []podPlan
	budgets   []budgetPlan
	order     []int // order of the evictions, as indexes into pods
	settle    bool
}

func (c *testCase) label() string { return fmt.Sprintf("c%d", c.index) }

// generate returns case i of a seed. The same seed and index give the same case.
func generate(seed uint64, i int, batch string) *testCase {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	c := &testCase{index: i, namespace: batch}
	c.scenario = pickWeighted(r, []weighted[scenario]{{live, 30}, {liveSettled, 30}, {marked, 6}, {conflictBefore, 4}, {conflictAfter, 4},
		{written, 14}, {outdated, 5}, {rescaledAway, 5}, {rescaled, 6}})
	c.settle = c.scenario == liveSettled || !c.scenario.statusFrozen() && c.scenario != live && r.IntN(2) == 0
	c.addOwners(r)
	c.addPods(r)
	c.addBudgets(r)
	c.order = r.Perm(len(c.pods))
	return c
}

type weighted[T any] struct {
	v T
	w int
}

func pickWeighted[T any](r *rand.Rand, from []weighted[T]) T {
	sum := 0
	for _, x := range from {
		sum += x.w
	}
	n := r.IntN(sum)
	for _, x := range from {
		if n -= x.w; n < 0 {
			return x.v
		}
	}
	panic("unreachable")
}

func (c *testCase) addOwners(r *rand.Rand) {
	for i := range pickWeighted(r, []weighted[int]{{0, 8}, {1, 60}, {2, 25}, {3, 7}}) {
		c.owners = append(c.owners, ownerPlan{name: fmt.Sprintf("%s-o%d", c.label(), i), kind: pickWeighted(r, []weighted[ownerKind]{
			{deployment, 40}, {rollingOut, 8}, {replicaSet, 12}, {ofExtensions, 2}, {foreignReplicaSet, 3}, {orphanReplicaSet, 3},
			{statefulSet, 12},
			{replicationControl, 5}, {directDeployment, 3}, {scalable, 4}, {unscalable, 2}, {unserved, 2}, {job, 3},
			{daemonSet, 2}, {missing, 3}, {otherUID, 2}})})
	}
}

func (c *testCase) addPods(r *rand.Rand) {
	healthy := r.IntN(3) > 0 // most pods of the case are Ready
	for i := range 1 + r.IntN(8) {
		p := podPlan{name: fmt.Sprintf("%s-p%d", c.label(), i), owner: -1, state: randomState(r, healthy)}
		if len(c.owners) > 0 && r.IntN(12) > 0 {
			p.owner = r.IntN(len(c.owners))
		}
		if r.IntN(20) > 0 {
			p.labels = map[string]string{"case": c.label(), "tier": pickWeighted(r, []weighted[string]{{"a", 3}, {"b", 1}})}
		}
		if c.scenario == marked && r.IntN(3) == 0 {
			p.disrupted = pickWeighted(r, []weighted[int]{{1, 3}, {600, 1}})
		}
		c.pods = append(c.pods, p)
	}
	for i := range c.owners {
		n := int32(0)
		for _, p := range c.pods {
			if p.owner == i {
				n++
			}
		}
		if r.IntN(4) == 0 {
			n = int32(r.IntN(11))
		}
		c.owners[i].replicas, c.owners[i].later = n, n
		if c.scenario == rescaled || c.scenario == rescaledAway {
			c.owners[i].later = int32(r.IntN(11))
		}
	}
}

func randomState(r *rand.Rand, healthy bool) podState {
	most := 4
	if healthy {
		most = 30
	}
	return pickWeighted(r, []weighted[podState]{{ready, most}, {unready, 3}, {unknown, 1}, {pending, 1}, {pendingUnbound, 1},
		{succeeded, 1},
		{failed, 1}, {terminating, 1}, {terminatingReady, 1}, {pendingReady, 1}, {failedReady, 1}})
}

func (c *testCase) addBudgets(r *rand.Rand) {
	mine := map[string]string{"case": c.label()}
	tier := map[string]string{"case": c.label(), "tier": "a"}
	in := metav1.LabelSelectorRequirement{Key: "case", Operator: metav1.LabelSelectorOpIn, Values: []string{"none", c.label()}}
	notB := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"b"}}
	tiered := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpExists}
	type sel = *metav1.LabelSelector
	var selectors []sel
	all, tierA := sel(&metav1.LabelSelector{MatchLabels: mine}), sel(&metav1.LabelSelector{MatchLabels: tier})
	expressions := sel(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in, notB}})
	exists := sel(&metav1.LabelSelector{MatchLabels: mine, MatchExpressions: []metav1.LabelSelectorRequirement{tiered}})
	nobody := sel(&metav1.LabelSelector{MatchLabels: map[string]string{"case": "nobody"}})
	tierB := sel(&metav1.LabelSelector{MatchLabels: map[string]string{"case": c.label(), "tier": "b"}})
	switch n := r.IntN(100); {
	case n < 55:
		selectors = []sel{all}
	case n < 65:
		selectors = []sel{tierA}
	case n < 72:
		selectors = []sel{expressions}
	case n < 78:
		selectors = []sel{exists}
	case n < 80:
		selectors = []sel{nobody}
	case n < 81:
		selectors = []sel{nil}
	case n < 85: // selects everything in a namespace, so the case needs its own
		selectors = []sel{{}}
		c.namespace = fmt.Sprintf("%s-%s", c.namespace, c.label())
	case n < 93:
		selectors = []sel{all, tierA} // some pods have two budgets
	default:
		selectors = []sel{tierA, tierB}
	}
	for i, s := range selectors {
		c.budgets = append(c.budgets, c.randomBudget(r, fmt.Sprintf("%s-b%d", c.label(), i), s))
	}
}

func (c *testCase) randomBudget(r *rand.Rand, name string, s *metav1.LabelSelector) budgetPlan {
	b := budgetPlan{name: name, spec: policyv1.PodDisruptionBudgetSpec{Selector: s}, selector: metav1.FormatLabelSelector(s)}
	amount := c.randomAmount(r)
	switch n := r.IntN(100); {
	case n < 48:
		b.spec.MinAvailable = &amount
	case n < 98:
		b.spec.MaxUnavailable = &amount
	}
	always, healthy := policyv1.AlwaysAllow, policyv1.IfHealthyBudget
	b.spec.UnhealthyPodEvictionPolicy = pickWeighted(r,
		[]weighted[*policyv1.UnhealthyPodEvictionPolicyType]{{nil, 5}, {&healthy, 2}, {&always, 3}})
	b.status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(r.IntN(4)), CurrentHealthy: int32(r.IntN(9)),
		DesiredHealthy: int32(r.IntN(6)), ExpectedPods: int32(r.IntN(9))}
	if r.IntN(2) == 0 { // consistent, as the controller would write it
		b.status.DisruptionsAllowed = max(0, b.status.CurrentHealthy-b.status.DesiredHealthy)
	}
	b.behind, b.crowded = r.IntN(8) == 0, r.IntN(40) == 0
	return b
}

func (c *testCase) randomAmount(r *rand.Rand) intstr.IntOrString {
	if r.IntN(2) == 0 {
		return intstr.FromInt32(int32(pickWeighted(r, []weighted[int]{{r.IntN(len(c.pods) + 3), 30}, {0, 3}, {1, 8}, {1000, 1}})))
	}
	odd := []int{0, 1, 10, 15, 20, 25, 30, 33, 34, 40, 45, 49, 50, 51, 60, 66, 67, 75, 80, 85, 90, 99, 100}
	return intstr.FromString(fmt.Sprintf("%d%%", odd[r.IntN(len(odd))]))
}

func selectorMatches(s *metav1.LabelSelector, p podPlan) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(p.labels))
}

// countBudgetsOf returns the number of budgets that select a pod.
func (c *testCase) countBudgetsOf(p podPlan) int {
	n := 0
	for _, b := range c.budgets {
		if selectorMatches(b.spec.Selector, p) {
			n++
		}
	}
	return n
}
