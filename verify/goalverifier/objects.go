package goalverifier

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
)

// objects are the objects of a cluster by name.
type objects struct {
	all        *cluster.Objects
	nodes      map[string]*corev1.Node
	pods       map[string]*corev1.Pod // by namespace/name
	namespaces map[string]*corev1.Namespace
	owners     map[types.UID]*metav1.OwnerReference // the controllers of controllers
}

func index(o *cluster.Objects) *objects {
	x := &objects{o, map[string]*corev1.Node{}, map[string]*corev1.Pod{}, map[string]*corev1.Namespace{}, map[types.UID]*metav1.OwnerReference{}}
	for _, n := range o.Nodes {
		x.nodes[n.Name] = n
	}
	for _, p := range o.Pods {
		x.pods[key(p)] = p
	}
	for _, n := range o.Namespaces {
		x.namespaces[n.Name] = n
	}
	for _, c := range o.ReplicaSets {
		x.owners[c.UID] = metav1.GetControllerOf(c)
	}
	for _, c := range o.Deployments {
		x.owners[c.UID] = metav1.GetControllerOf(c)
	}
	for _, c := range o.StatefulSets {
		x.owners[c.UID] = metav1.GetControllerOf(c)
	}
	for _, c := range o.Jobs {
		x.owners[c.UID] = metav1.GetControllerOf(c)
	}
	return x
}

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// kindsOf returns the kinds of the owners of a pod and of its workload. The workload is the uppermost controller, but
// the built-in one if a custom resource controls it.
func (x *objects) kindsOf(p *corev1.Pod) (kinds []string) {
	for _, o := range p.OwnerReferences {
		kinds = append(kinds, o.Kind)
	}
	var top string
	for o := metav1.GetControllerOf(p); o != nil; o = x.owners[o.UID] {
		if top = o.Kind; slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job"}, top) {
			break
		}
	}
	return append(kinds, top)
}

// sortedPods returns the pods by name.
func (x *objects) sortedPods() (out []*corev1.Pod) {
	for _, k := range slices.Sorted(maps.Keys(x.pods)) {
		out = append(out, x.pods[k])
	}
	return out
}

// running returns the pods that run on a node and do not terminate.
func (x *objects) running() (out []*corev1.Pod) {
	for _, p := range x.sortedPods() {
		if x.nodes[p.Spec.NodeName] != nil && !isTerminal(p) && !isTerminating(p) {
			out = append(out, p)
		}
	}
	return out
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func isTerminating(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// workload identifies the uppermost controller of a pod. It is "" for a pod without one.
func (x *objects) workload(p *corev1.Pod) (top types.UID) {
	for o := metav1.GetControllerOf(p); o != nil; o = x.owners[o.UID] {
		top = o.UID
	}
	return top
}

// canRun reports whether the readiness, labels and taints of a node let a pod run there, and the pod may be sent there.
func (r *verifier) canRun(p *corev1.Pod, n *corev1.Node) bool {
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	to := targets.Cluster{Pods: r.pods, Nodes: r.nodes, NewArchitectures: r.rules.Plan.NewArchitectures, Marks: r.rules.Plan.NodeMarks,
		Objects: r.all, SameWorkload: func(p, q *corev1.Pod) bool {
			id := r.workload(p)
			return id != "" && id == r.workload(q)
		}}
	code, _ := to.Pod(p, n)
	return ready && code == "" && matchesRequired(p, n) && len(untolerated(p, n.Spec.Taints, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)) == 0
}

// matchesRequired reports whether a node matches the node selector and the required node affinity of a pod.
func matchesRequired(p *corev1.Pod, n *corev1.Node) bool {
	ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	return ok && err == nil
}

// untolerated returns the taints with one of the effects that a pod does not tolerate.
func untolerated(p *corev1.Pod, taints []corev1.Taint, effects ...corev1.TaintEffect) (out []corev1.Taint) {
	for i := range taints {
		if slices.Contains(effects, taints[i].Effect) &&
			!schedulinghelper.TolerationsTolerateTaint(klog.Background(), p.Spec.Tolerations, &taints[i], true) {
			out = append(out, taints[i])
		}
	}
	return out
}
