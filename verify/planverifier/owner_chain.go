package planverifier

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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

// ownerChain lists the controllers above a pod, from the lowest up. The topmost controller may not exist in the
// cluster. A CronJob is stored separately, because it creates Jobs and does not replace pods, and so is an owner of
// unknown kind above a controller that is no revision of it.
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
	indexOwners(r, "apps", "ReplicaSet", o.ReplicaSets)
	indexOwners(r, "apps", "Deployment", o.Deployments)
	indexOwners(r, "apps", "StatefulSet", o.StatefulSets)
	indexOwners(r, "apps", "DaemonSet", o.DaemonSets)
	indexOwners(r, "", "ReplicationController", o.ReplicationControllers)
	indexOwners(r, "batch", "Job", o.Jobs)
	indexOwners(r, "batch", "CronJob", o.CronJobs)
	return r
}

func indexOwners[T metav1.Object](r *ownerIndex, group, kind string, objects []T) {
	for _, x := range objects {
		r.objects[strings.Join([]string{x.GetNamespace(), group, kind, x.GetName()}, "/")] = x
	}
}

// resolve returns the controller that an owner reference names. An object of the same name with
// another UID does not match.
func (r *ownerIndex) resolve(ns string, ref *metav1.OwnerReference) owner {
	group := apiGroup(ref.APIVersion)
	l := owner{group: group, kind: ref.Kind, name: ref.Name}
	if x := r.objects[strings.Join([]string{ns, group, ref.Kind, ref.Name}, "/")]; x != nil && (x.GetUID() == ref.UID || x.GetUID() == "" ||
		ref.UID == "") {
		l.object = x
	}
	return l
}

func apiGroup(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

func (r *ownerIndex) chainOf(p *corev1.Pod) ownerChain {
	c := r.walkOwners(p)
	if t := c.top(); t != nil {
		c.id = strings.Join([]string{p.Namespace, t.group, t.kind, t.name}, "/")
	}
	return c
}

func (r *ownerIndex) walkOwners(p *corev1.Pod) (c ownerChain) {
	ref := metav1.GetControllerOf(p)
	for i := 0; ref != nil && i < 10; i++ {
		l := r.resolve(p.Namespace, ref)
		// Any owner of a Job counts as a CronJob.
		if under := c.top(); under != nil && (l.hasKind("CronJob") || under.hasKind("Job") ||
			l.object == nil && !under.hasKind("ReplicaSet") && !under.hasKind("ReplicationController")) {
			c.cron = &l
			return c
		}
		c.links = append(c.links, l)
		if l.object == nil {
			return c
		}
		ref = metav1.GetControllerOf(l.object)
	}
	return c
}

// replicas returns the number of pods that a controller wants. replicas returns false if the number is unknown.
func (l owner) replicas() (int, bool) {
	one := func(n *int32) int { return int(ptr.Deref(n, 1)) }
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
			n = max(0, min(n, int(*c-x.Status.Succeeded)))
		}
		return n, true
	}
	return 0, false
}
