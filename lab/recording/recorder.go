// Package recording records every state of the objects of a cluster that package auditverifier needs: pods, budgets,
// Deployments, nodes and Leases. It watches the API server directly, and decides nothing.
package recording

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// ProtectedLabel is set on pods that must not be evicted. Its value is the reason.
const ProtectedLabel = "lab.evenkeel.io/protected"

// Recorder keeps every state that its watches report.
type Recorder struct {
	mu             sync.Mutex
	leaseNamespace string
	current        map[string]auditverifier.Change
	changes        []auditverifier.Change
	gaps           int
}

// watchedKind lists and watches one kind of object.
type watchedKind struct {
	name  string
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func watchedKinds(c kubernetes.Interface) []watchedKind {
	pods, budgets, apps := c.CoreV1().Pods(""), c.PolicyV1().PodDisruptionBudgets(""), c.AppsV1().Deployments("")
	nodes, leases := c.CoreV1().Nodes(), c.CoordinationV1().Leases("")
	return []watchedKind{
		{"nodes", func(x context.Context, o metav1.ListOptions) (runtime.Object, error) { return nodes.List(x, o) }, nodes.Watch},
		{"deployments", func(x context.Context, o metav1.ListOptions) (runtime.Object, error) { return apps.List(x, o) }, apps.Watch},
		{"budgets", func(x context.Context, o metav1.ListOptions) (runtime.Object, error) { return budgets.List(x, o) }, budgets.Watch},
		{"pods", func(x context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(x, o) }, pods.Watch},
		{"leases", func(x context.Context, o metav1.ListOptions) (runtime.Object, error) { return leases.List(x, o) }, leases.Watch},
	}
}

// Start returns after it has listed all objects. The recorder watches until ctx ends.
func Start(ctx context.Context, c kubernetes.Interface) (*Recorder, error) {
	r := &Recorder{current: map[string]auditverifier.Change{}}
	for _, s := range watchedKinds(c) {
		at, err := r.relist(ctx, s)
		if err != nil {
			return nil, err
		}
		go r.followWatch(ctx, s, at)
	}
	return r, nil
}

// Reset discards all recorded changes except the current state of each object. After Reset, the recorder keeps only the
// Leases of the given namespace.
func (r *Recorder) Reset(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaseNamespace, r.changes, r.gaps = namespace, nil, 0
	for _, ch := range r.current {
		if ch.Lease == nil {
			r.changes = append(r.changes, ch)
		}
	}
}

// Changes returns the changes so far, and how many gaps the recording has.
func (r *Recorder) Changes() ([]auditverifier.Change, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.changes), r.gaps
}

func (r *Recorder) relist(ctx context.Context, s watchedKind) (string, error) {
	list, err := s.list(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	there := map[string]bool{}
	if err := meta.EachListItem(list, func(o runtime.Object) error {
		there[r.recordState(s.name, o, false)] = true
		return nil
	}); err != nil {
		return "", err
	}
	at, err := meta.NewAccessor().ResourceVersion(list)
	if err != nil {
		return "", err
	}
	r.recordDeleted(s.name, there, parseRevision(at))
	return at, nil
}

// recordDeleted records the objects that were deleted while no watch was open.
func (r *Recorder) recordDeleted(kind string, there map[string]bool, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, ch := range r.current {
		if strings.HasPrefix(k, kind+"/") && !there[k] {
			ch.Gone, ch.Revision, ch.Seen = true, at, time.Now()
			delete(r.current, k)
			r.changes = append(r.changes, ch)
		}
	}
}

// followWatch watches one kind of object from a resource version until ctx ends. If the server no
// longer has the version, the recording has a gap and proves nothing, so follow counts the gap.
func (r *Recorder) followWatch(ctx context.Context, s watchedKind, at string) {
	for ctx.Err() == nil {
		if at == "" {
			var err error
			if at, err = r.relist(ctx, s); err != nil {
				at = ""
				pause(ctx)
				continue
			}
		}
		w, err := s.watch(ctx, metav1.ListOptions{ResourceVersion: at, AllowWatchBookmarks: true})
		if err != nil {
			pause(ctx)
			continue
		}
		at = r.readWatch(s, w, at)
		w.Stop()
	}
}

func (r *Recorder) readWatch(s watchedKind, w watch.Interface, at string) string {
	for e := range w.ResultChan() {
		switch e.Type {
		case watch.Error:
			if st, ok := e.Object.(*metav1.Status); ok && st.Code == 410 {
				r.mu.Lock()
				r.gaps++
				r.mu.Unlock()
				return ""
			}
			return at
		case watch.Added, watch.Modified, watch.Deleted:
			r.recordState(s.name, e.Object, e.Type == watch.Deleted)
		}
		if v, err := meta.NewAccessor().ResourceVersion(e.Object); err == nil && v != "" {
			at = v
		}
	}
	return at
}

// recordState stores one state of an object.
func (r *Recorder) recordState(kind string, o runtime.Object, gone bool) string {
	m, err := meta.Accessor(o)
	if err != nil {
		return ""
	}
	key := kind + "/" + m.GetNamespace() + "/" + m.GetName()
	ch := newChange(o)
	ch.Revision, ch.Seen, ch.Gone = parseRevision(m.GetResourceVersion()), time.Now(), gone
	r.mu.Lock()
	defer r.mu.Unlock()
	if ch.Lease != nil && m.GetNamespace() != r.leaseNamespace {
		return key
	}
	r.changes = append(r.changes, ch)
	if gone {
		delete(r.current, key)
	} else {
		r.current[key] = ch
	}
	return key
}

func parseRevision(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func newChange(o runtime.Object) auditverifier.Change {
	switch o := o.(type) {
	case *corev1.Pod:
		return auditverifier.Change{Pod: newRecordedPod(o)}
	case *policyv1.PodDisruptionBudget:
		b := &auditverifier.Budget{Namespace: o.Namespace, Name: o.Name, MinAvailable: o.Spec.MinAvailable,
			MaxUnavailable: o.Spec.MaxUnavailable}
		b.Selector, _ = metav1.LabelSelectorAsSelector(o.Spec.Selector) // the API server has validated the selector
		return auditverifier.Change{Budget: b}
	case *appsv1.Deployment:
		return auditverifier.Change{Workload: &auditverifier.Workload{Namespace: o.Namespace, App: o.Name, Replicas: int(*o.Spec.Replicas)}}
	case *corev1.Node:
		return auditverifier.Change{Node: &auditverifier.Node{Name: o.Name, Zone: o.Labels[seed.ZoneKey],
			Excluded: o.Annotations["evenkeel.io/exclude"] == "true"}}
	case *coordinationv1.Lease:
		return auditverifier.Change{Lease: &auditverifier.Lease{Holder: ptr.Deref(o.Spec.HolderIdentity, ""),
			Renewed:  ptr.Deref(o.Spec.RenewTime, metav1.MicroTime{}).Time,
			Duration: time.Duration(ptr.Deref(o.Spec.LeaseDurationSeconds, 0)) * time.Second}}
	}
	return auditverifier.Change{}
}

func newRecordedPod(p *corev1.Pod) *auditverifier.Pod {
	w := &auditverifier.Pod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Spec.NodeName,
		App: p.Labels["app"], Labels: p.Labels, Terminating: p.DeletionTimestamp != nil, Protected: protectionReason(p),
		Ended:  p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded,
		Failed: p.Status.Phase == corev1.PodFailed}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			w.Ready = !w.Terminating
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "EvictionByEvictionAPI":
			w.ByEviction = true
		}
	}
	return w
}

// protectionReason returns why a pod must not be evicted; empty if eviction is allowed. Pods of protected workloads
// have the reason in a label, because some reasons are not visible on the pod.
func protectionReason(p *corev1.Pod) string {
	owner := metav1.GetControllerOf(p)
	switch {
	case p.Namespace == metav1.NamespaceSystem:
		return "it is in kube-system"
	case owner == nil:
		return "no controller owns it"
	case owner.Kind == "DaemonSet":
		return "it belongs to a DaemonSet"
	case p.Annotations["evenkeel.io/do-not-disrupt"] == "true":
		return "do-not-disrupt"
	case p.Labels[ProtectedLabel] != "":
		return "it is protected: " + p.Labels[ProtectedLabel]
	}
	return ""
}

// pause waits a moment before the next request.
func pause(ctx context.Context) {
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
	}
}
