package observe

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"go.uber.org/goleak"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kubeSystem() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "cluster-1"}}
}

func startObserver(t *testing.T, client *fake.Clientset) (*Observer, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	o := New(client, clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	o.Start(ctx)
	t.Cleanup(func() { cancel(); o.Shutdown() })
	return o, ctx
}

func TestSnapshotHoldsWhatIsThere(t *testing.T) {
	objects := simulation.Crowded(rand.New(rand.NewPCG(1, 1)), 3, 2, 4)
	list := []k8sruntime.Object{kubeSystem()}
	for _, n := range objects.Nodes {
		list = append(list, n)
	}
	for _, p := range objects.Pods {
		list = append(list, p)
	}
	for _, x := range objects.ReplicaSets {
		list = append(list, x)
	}
	for _, x := range objects.Deployments {
		list = append(list, x)
	}
	client := newClient(list...)
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
	s := must.Get(o.Snapshot(ctx))(t)
	if len(s.Pods) != 8 || len(s.Workloads) != 2 || s.ClusterUID != "cluster-1" ||
		!s.TakenAt.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%d pods, %d workloads, cluster %q, taken at %s", len(s.Pods), len(s.Workloads), s.ClusterUID, s.TakenAt)
	}
	if p := o.Pods("ns0")[0]; o.ReplacingOwnerUID(p) != "deploy-d00000" || len(p.Spec.Containers[0].Env) != 0 {
		t.Errorf("workload %q, %d config volumes left", o.ReplacingOwnerUID(p), len(p.Spec.Containers[0].Env))
	}
	if w := s.Workloads[0]; string(o.WorkloadUID(w.Kind, w.Namespace, w.Name)) != w.UID || w.UID == "" ||
		o.WorkloadUID(w.Kind, w.Namespace, "another") != "" || o.WorkloadUID("Rollout", w.Namespace, w.Name) != "" {
		t.Errorf("UID %q of %+v", o.WorkloadUID(w.Kind, w.Namespace, w.Name), w)
	}
}

// newClient returns a client of an in-memory server.
func newClient(objects ...k8sruntime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{Major: "1", Minor: "37"}
	return client
}

func TestAMissingPermissionIsAnErrorAtOnce(t *testing.T) {
	client := newClient(kubeSystem())
	client.PrependReactor("list", "poddisruptionbudgets", func(ktesting.Action) (bool, k8sruntime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}, "", errors.New("no"))
	})
	o, ctx := startObserver(t, client)
	err := o.WaitForSync(ctx)
	if err == nil || !strings.Contains(err.Error(), "permission to list and watch poddisruptionbudgets is missing") {
		t.Errorf("got %v", err)
	}
	if _, err := o.Snapshot(ctx); err == nil {
		t.Error("Snapshot succeeded with an incomplete view")
	}
}

func TestChangedTellsOfTheNextChange(t *testing.T) {
	client := newClient(kubeSystem())
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
	changed := o.Changed()
	if _, err := client.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-ctx.Done():
		t.Fatal("the channel was not closed after a change")
	}
	if len(o.Pods("shop")) != 1 {
		t.Error("the pod is missing")
	}
}

func TestAMomentsTroubleAtTheStartIsSurvived(t *testing.T) {
	client := newClient(kubeSystem())
	denials := 2
	client.PrependReactor("get", "namespaces", func(ktesting.Action) (bool, k8sruntime.Object, error) {
		denials--
		return denials >= 0, nil, apierrors.NewTooManyRequestsError("later")
	})
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
}

// TestTheVersionOfTheServerIsReadAgain checks that the observer notices an upgrade of the control plane after
// maxVersionAge.
func TestTheVersionOfTheServerIsReadAgain(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: "c-1"}})
	server := client.Discovery().(*fakediscovery.FakeDiscovery)
	server.FakedServerVersion = &version.Info{Major: "1", Minor: "37"}
	c := clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0))
	o := New(client, c)
	must.Succeed(t, o.readServerIdentity(t.Context()))
	server.FakedServerVersion = &version.Info{Major: "1", Minor: "38"}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{maxVersionAge - 1, "1.37"}, {1, "1.38"}} {
		c.Step(step.after)
		if err := o.version.refresh(t.Context()); err != nil || o.version.last() != step.want {
			t.Errorf("after %s: version %s, error %v; want %s", step.after, o.version.last(), err, step.want)
		}
	}
	server.FakedServerVersion = &version.Info{}
	c.Step(maxVersionAge)
	if err := o.version.refresh(t.Context()); err == nil {
		t.Error("no error without an answer that can be used")
	}
}

// TestOptionalKindsThatMayNotBeRead checks that a pass runs without the optional kinds that Evenkeel may not read, and
// that the snapshot says why they are missing. The snapshot lists the kinds that were read, even without objects.
func TestOptionalKindsThatMayNotBeRead(t *testing.T) {
	client := newClient(kubeSystem(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	for _, resource := range []string{"serviceaccounts", "runtimeclasses"} {
		client.PrependReactor("list", resource, func(ktesting.Action) (bool, k8sruntime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no"))
		})
	}
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
	s := must.Get(o.Snapshot(ctx))(t)
	for kind, resource := range map[string]string{"v1 ServiceAccount": "serviceaccounts", "node.k8s.io/v1 RuntimeClass": "runtimeclasses"} {
		if why := s.Objects.Unread[kind]; !strings.Contains(why, "permission to list and watch "+resource+" is missing") {
			t.Errorf("%s: %q", kind, why)
		}
	}
	if cluster.Knows[*corev1.ServiceAccount](s.Objects) || cluster.Knows[*nodev1.RuntimeClass](s.Objects) || !cluster.Knows[*corev1.LimitRange](s.Objects) {
		t.Errorf("listed: %v", s.Objects.Listed)
	}
}
