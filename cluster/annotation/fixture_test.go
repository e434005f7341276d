package annotation

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// These constants select the object in shopSnapshot that carries a request.
const (
	placePod = iota
	placeStatefulSet
	placeNamespace
	placeCount
)

var placeNames = [placeCount]string{"the pod", "StatefulSet shop/db", "namespace shop"}

// request is a key and value on one of these objects.
type request struct {
	place      int
	key, value string
	label      bool
}

func objectMeta(kind, name string, owner metav1.Object, ownerKind string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(kind + "-" + name)}
	if owner != nil {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: ownerKind, Name: owner.GetName(), UID: owner.GetUID(),
			Controller: &yes}}
	}
	return m
}

func setKey(o metav1.Object, key, value string, label bool) {
	get, set := o.GetAnnotations, o.SetAnnotations
	if label {
		get, set = o.GetLabels, o.SetLabels
	}
	m := get()
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	set(m)
}

// shopSnapshot returns a snapshot with the requests. It has one pod, db-0 of StatefulSet db.
func shopSnapshot(t testing.TB, requests ...request) (*cluster.Snapshot, *cluster.Pod) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	set := &appsv1.StatefulSet{ObjectMeta: objectMeta("sts", "db", nil, "")}
	pod := &corev1.Pod{ObjectMeta: objectMeta("pod", "db-0", set, "StatefulSet")}
	for _, r := range requests {
		setKey([placeCount]metav1.Object{pod, set, ns}[r.place], r.key, r.value, r.label)
	}
	return newSnapshot(t, &cluster.Objects{Namespaces: []*corev1.Namespace{ns}, StatefulSets: []*appsv1.StatefulSet{set},
		Pods: []*corev1.Pod{pod}})
}

// newSnapshot indexes the objects, adds a node if there is none, and returns their first pod.
func newSnapshot(t testing.TB, o *cluster.Objects) (*cluster.Snapshot, *cluster.Pod) {
	t.Helper()
	if len(o.Nodes) == 0 {
		o.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}
	}
	s := must.Get(cluster.New(o))(t)
	return s, &s.Pods[0]
}

func readRequests(t testing.TB, requests ...request) Pod {
	t.Helper()
	s, p := shopSnapshot(t, requests...)
	return *NewCache().OfPod(s, p, time.UTC)
}

// mondayAt returns 2026-01-05 at the given hour, UTC.
func mondayAt(hour int) time.Time { return time.Date(2026, 1, 5, hour, 0, 0, 0, time.UTC) }

// isProtected reports whether the requests protect a pod of this age at this time. Like the guards,
// isProtected applies all requests.
func (r Pod) isProtected(age time.Duration, now time.Time) bool {
	if len(r.NeverEvict)+len(r.Problems)+len(r.EvictionInProgress) > 0 {
		return true
	}
	for _, h := range r.Protections {
		if h.For == 0 || age < h.For {
			return true
		}
	}
	for _, w := range r.Windows {
		if _, open := w.Windows.Open(now); !open {
			return true
		}
	}
	return false
}
