package planverifier

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
)

const zoneLabel = "topology.kubernetes.io/zone"

// budget is a PodDisruptionBudget with its selector.
type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
}

func (b budget) selects(p *corev1.Pod) bool {
	return b.Namespace == p.Namespace && b.selector.Matches(labels.Set(p.Labels))
}

type budgetList []budget

// of returns the budgets that select the pod.
func (l budgetList) of(p *corev1.Pod) []budget {
	return slices.DeleteFunc(slices.Clone(l), func(b budget) bool { return !b.selects(p) })
}

// service is a Service with its selector.
type service struct {
	key      string
	ns       string
	selector labels.Selector
}

func (s service) selects(p *corev1.Pod) bool {
	return p.Namespace == s.ns && s.selector.Matches(labels.Set(p.Labels))
}

// clusterIndex indexes the objects of a cluster before the first eviction. It never changes.
type clusterIndex struct {
	now        time.Time
	objects    *cluster.Objects
	nodes      map[string]*corev1.Node
	namespaces map[string]*corev1.Namespace
	pods       map[string]*corev1.Pod // by namespace/name
	owners     *ownerIndex
	chains     map[string]ownerChain // by pod, namespace/name
	budgets    budgetList
	services   []service
	fit        *fit.Cluster
}

func key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func indexCluster(o *cluster.Objects, now time.Time) *clusterIndex {
	w := &clusterIndex{now: now, objects: o, nodes: map[string]*corev1.Node{}, namespaces: map[string]*corev1.Namespace{},
		pods: map[string]*corev1.Pod{}, owners: newOwnerIndex(o), chains: map[string]ownerChain{}}
	w.fit = &fit.Cluster{Nodes: w.nodes, Namespaces: w.namespaces, Objects: o, Features: o.Features()}
	for _, n := range o.Nodes {
		w.nodes[n.Name] = n
	}
	for _, n := range o.Namespaces {
		w.namespaces[n.Name] = n
	}
	for _, p := range o.Pods {
		w.pods[key(p)] = p
		w.chains[key(p)] = w.owners.chainOf(p)
	}
	for _, b := range o.PodDisruptionBudgets {
		// An empty selector selects all pods in the namespace; a missing one selects none.
		if sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil {
			w.budgets = append(w.budgets, budget{b, sel})
		}
	}
	for _, s := range o.Services {
		if len(s.Spec.Selector) > 0 && s.Spec.Type != corev1.ServiceTypeExternalName {
			w.services = append(w.services, service{key(s), s.Namespace, labels.SelectorFromSet(s.Spec.Selector)})
		}
	}
	return w
}

// isBound reports whether the pod is on a known node.
func (w *clusterIndex) isBound(p *corev1.Pod) bool { return w.nodes[p.Spec.NodeName] != nil }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func hasReadyCondition(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func isReadyNode(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func isTerminating(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// isReady reports whether budgets and Services count the pod, because it is Ready and not terminating.
func isReady(p *corev1.Pod) bool {
	return !isTerminal(p) && !isTerminating(p) && hasReadyCondition(p)
}
