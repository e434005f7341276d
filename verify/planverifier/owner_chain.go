package planverifier

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// owner is one controller above a pod. object is nil if the controller does not exist.
type owner struct {
	group, kind, name string
	object            metav1.Object
}

func (l owner) hasKind(kind string) bool {
	groups := map[string]string{"ReplicationController": "", "Job": "batch", "CronJob": "batch", "Deployment": "apps", "ReplicaSet": "apps",
		"StatefulSet": "apps", "DaemonSet": "apps"}
	return l.kind == kind && l.group == groups[kind]
}

// ownerChain lists the controllers above a pod, from the lowest up. The topmost controller may not
// exist in the cluster. A CronJob is stored separately, because it creates Jobs and does not
// replace pods.
type ownerChain struct {
	id    string // identifies the topmost controller; empty for bare pods
	links []owner
	cron  *owner
}

func (c ownerChain) lowest() *owner {
	if len(c.links) == 0 {
		return nil
	}
	return &c.links[0]
}

func (c ownerChain) top() *owner {
	if len(c.links) == 0 {
		return nil
	}
	return &c.links[len(c.links)-1]
}

// ownerIndex finds controllers by namespace, group, kind and name.
type ownerIndex struct{ objects map[string]metav1.Object }

func newOwnerIndex(o *cluster.Objects) *ownerIndex {
	r := &ownerIndex{map[string]metav1.Object{}}
	put := func(group, kind string, x metav1.Object) {
		r.objects[strings.Join([]string{x.GetNamespace(), group, kind, x.GetName()}, "/")] = x
	}
	for _, x := range o.ReplicaSets {
		put("apps", "ReplicaSet", x)
	}
	for _, x := range o.Deployments {
		put("apps", "Deployment", x)
	}
	for _, x := range o.StatefulSets {
		put("apps", "StatefulSet", x)
	}
	for _, x := range o.DaemonSets {
		put("apps", "DaemonSet", x)
	}
	for _, x := range o.ReplicationControllers {
		put("", "ReplicationController", x)
	}
	for _, x := range o.Jobs {
		put("batch", "Job", x)
	}
	for _, x := range o.CronJobs {
		put("batch", "CronJob", x)
	}
	return r
}

// resolve returns the controller that an owner reference names. An object of the same name with
// another UID does not match.
func (r *ownerIndex) resolve(ns string, ref *metav1.OwnerReference) owner {
	group := ""
	if i := strings.Index(ref.APIVersion, "/"); i >= 0 {
		group = ref.APIVersion[:i]
	}
	l := owner{group: group, kind: ref.Kind, name: ref.Name}
	if x := r.objects[strings.Join([]string{ns, group, ref.Kind, ref.Name}, "/")]; x != nil && (x.GetUID() == ref.UID || x.GetUID() == "" ||
		ref.UID == "") {
		l.object = x
	}
	return l
}

func controllerRef(refs []metav1.OwnerReference) *metav1.OwnerReference {
	for i := range refs {
		if refs[i].Controller != nil && *refs[i].Controller {
			return &refs[i]
		}
	}
	return nil
}

func (r *ownerIndex) chainOf(p *corev1.Pod) ownerChain {
	c := r.walkOwners(p)
	if t := c.top(); t != nil {
		c.id = strings.Join([]string{p.Namespace, t.group, t.kind, t.name}, "/")
	}
	return c
}

func (r *ownerIndex) walkOwners(p *corev1.Pod) ownerChain {
	var c ownerChain
	ref := controllerRef(p.OwnerReferences)
	for range 10 {
		if ref == nil {
			return c
		}
		l := r.resolve(p.Namespace, ref)
		if l.hasKind("CronJob") && len(c.links) > 0 {
			c.cron = &l
			return c
		}
		if under := c.top(); under != nil && under.hasKind("Job") { // any owner of a Job
			c.cron = &l
			return c
		}
		c.links = append(c.links, l)
		if l.object == nil {
			return c
		}
		ref = controllerRef(l.object.GetOwnerReferences())
	}
	return c
}

// replicas returns the number of pods that a controller wants. replicas returns false if the number
// is unknown.
func (l owner) replicas() (int, bool) {
	one := func(n *int32) int {
		if n == nil {
			return 1
		}
		return int(*n)
	}
	switch x := l.object.(type) {
	case *appsv1.ReplicaSet:
		return one(x.Spec.Replicas), true
	case *appsv1.Deployment:
		return one(x.Spec.Replicas), true
	case *appsv1.StatefulSet:
		return one(x.Spec.Replicas), true
	case *corev1.ReplicationController:
		return one(x.Spec.Replicas), true
	case *batchv1.Job:
		n := one(x.Spec.Parallelism)
		if c := x.Spec.Completions; c != nil {
			if open := int(*c - x.Status.Succeeded); open < n {
				n = open
			}
			if n < 0 {
				n = 0
			}
		}
		return n, true
	}
	return 0, false
}
