package cleanup_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/controller/cleanup"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func heldLease(name, holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: renewed}}}
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// remove removes what is left in the namespace ops, and returns what was deleted, with commas.
func remove(t *testing.T, r cleanup.Release) (string, error) {
	t.Helper()
	r.Namespace, r.Poll = "ops", time.Second
	deleted, err := r.Remove(t.Context(), time.Minute, 30*time.Second)
	return strings.Join(deleted, ", "), err
}

// answerLeases lets a client return an error for requests that read a Lease. It gets the number of each request.
func answerLeases(client *fake.Clientset, answer func(request int) error) *fake.Clientset {
	requests := 0
	client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		requests++
		err := answer(requests)
		return err != nil, nil, err
	})
	return client
}

var errEtcd = apierrors.NewInternalError(errors.New("etcd is away"))

// TestRemove checks that only the ConfigMaps and Leases of the release are deleted, and only in its namespace.
func TestRemove(t *testing.T) {
	client := fake.NewClientset(configMap("ops", "evenkeel-state-00"), configMap("ops", "evenkeel-state-cluster"), configMap("ops", "evenkeel-pause"),
		configMap("ops", "evenkeel-approval"), configMap("ops", "evenkeel-waiting-plan"), configMap("ops", "evenkeel-trigger"),
		configMap("ops", "evenkeel"), configMap("ops", "kube-root-ca.crt"), configMap("shop", "evenkeel-pause"),
		heldLease("evenkeel", "", time.Time{}), heldLease("other", "", time.Time{}))
	got := must.Get(remove(t, cleanup.Release{Client: client}))(t)
	const want = "Lease evenkeel, ConfigMap evenkeel-state-00, ConfigMap evenkeel-state-cluster, ConfigMap evenkeel-approval, " +
		"ConfigMap evenkeel-waiting-plan, ConfigMap evenkeel-trigger, ConfigMap evenkeel-pause"
	if got != want {
		t.Errorf("deleted %s\nwant    %s", got, want)
	}
	list := must.Get(client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}))(t)
	var left []string
	for _, m := range list.Items {
		left = append(left, m.Namespace+"/"+m.Name)
	}
	if slices.Sort(left); strings.Join(left, " ") != "ops/evenkeel ops/kube-root-ca.crt shop/evenkeel-pause" {
		t.Errorf("left: %v", left)
	}
	if _, err := client.CoordinationV1().Leases("ops").Get(t.Context(), "other", metav1.GetOptions{}); err != nil {
		t.Errorf("the Lease of another program: %v", err)
	}
}

// TestRemoveContinuesAfterAnError checks that a ConfigMap that cannot be deleted keeps no other object.
func TestRemoveContinuesAfterAnError(t *testing.T) {
	client := fake.NewClientset(configMap("ops", "evenkeel-pause"), configMap("ops", "evenkeel-trigger"), heldLease("evenkeel-dry-run", "", time.Time{}))
	client.PrependReactor("delete", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if name := a.(clienttesting.DeleteAction).GetName(); name == "evenkeel-trigger" {
			return true, nil, errEtcd
		}
		return false, nil, nil
	})
	got, err := remove(t, cleanup.Release{Client: client})
	if got != "Lease evenkeel-dry-run, ConfigMap evenkeel-pause" {
		t.Errorf("deleted %s", got)
	}
	if err == nil || !strings.Contains(err.Error(), "deleting the ConfigMap evenkeel-trigger in namespace ops") {
		t.Errorf("error %v", err)
	}
}

// punctualClient deletes no ConfigMap after its context has ended. The fake client ignores contexts.
type punctualClient struct{ kubernetes.Interface }

func (c punctualClient) CoreV1() corev1client.CoreV1Interface {
	return punctualCore{c.Interface.CoreV1()}
}

type punctualCore struct{ corev1client.CoreV1Interface }

func (c punctualCore) ConfigMaps(namespace string) corev1client.ConfigMapInterface {
	return punctualConfigMaps{c.CoreV1Interface.ConfigMaps(namespace)}
}

type punctualConfigMaps struct {
	corev1client.ConfigMapInterface
}

func (c punctualConfigMaps) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.ConfigMapInterface.Delete(ctx, name, o)
}

// TestSlowHintsLeaveTimeToDelete checks that the state is deleted although removing the hints took longer than the
// deletion may take.
func TestSlowHintsLeaveTimeToDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(configMap("ops", "evenkeel-trigger"))
		slow := func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		got, err := remove(t, cleanup.Release{Client: punctualClient{client}, ClearHints: slow})
		if got != "ConfigMap evenkeel-trigger" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deleted %q, error %v", got, err)
		}
	})
}

// TestErrorsAreRepeatedForAWhile checks that requests for Leases which fail are sent again, and that the wait ends with
// the error of the API server, also if the last request had no answer when the wait ended.
func TestErrorsAreRepeatedForAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(ctx context.Context, request int) error
		want   error
		waited time.Duration
	}{
		"three errors": {func(_ context.Context, request int) error {
			if request <= 3 {
				return errEtcd
			}
			return nil
		}, nil, 3 * time.Second},
		"only errors": {func(context.Context, int) error { return errEtcd }, errEtcd, time.Minute},
		"no answer after an error": {func(ctx context.Context, request int) error {
			if request > 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return errEtcd
		}, errEtcd, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client := answerLeases(fake.NewClientset(), func(request int) error { return c.answer(ctx, request) })
			began := time.Now()
			err := cleanup.Release{Client: client, Namespace: "ops", Poll: time.Second}.WaitUntilIdle(ctx)
			if waited := time.Since(began); (err == nil) != (c.want == nil) || err != nil && !errors.Is(err, c.want) || waited != c.waited {
				t.Errorf("%s: error %v after %s, want %v after %s", name, err, waited, c.want, c.waited)
			}
		})
	}
}

// TestNothingIsRemovedWhileALeaseIsHeld checks that another release of the namespace keeps its hints, its state and its
// pause.
func TestNothingIsRemovedWhileALeaseIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(configMap("ops", "evenkeel-pause"), configMap("ops", "evenkeel-state-00"),
			heldLease("evenkeel", "node-7", time.Now().Add(time.Hour)))
		got, err := remove(t, cleanup.Release{Client: client, ClearHints: func(context.Context) error { t.Error("hints were removed"); return nil }})
		if got != "" || err == nil || !strings.Contains(err.Error(), "nothing was removed: node-7 still holds the Lease") {
			t.Errorf("deleted %q, error %v", got, err)
		}
	})
}

// TestNothingIsRemovedWhileAReleaseIsInstalled checks that a release whose processes hold no Lease keeps its hints, its
// state and its pause, such as a CronJob between two jobs. Objects that are being deleted, and those of others, do not
// count.
func TestNothingIsRemovedWhileAReleaseIsInstalled(t *testing.T) {
	meta := func(namespace, name string, deleted bool) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Namespace: namespace, Name: "keel", Labels: map[string]string{"app.kubernetes.io/name": name}}
		if deleted {
			m.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}
		return m
	}
	for name, c := range map[string]struct {
		object runtime.Object
		want   string
	}{
		"a CronJob":             {&batchv1.CronJob{ObjectMeta: meta("ops", "evenkeel", false)}, "CronJob keel is in namespace ops"},
		"a Deployment":          {&appsv1.Deployment{ObjectMeta: meta("ops", "evenkeel", false)}, "Deployment keel is in namespace ops"},
		"a deleted CronJob":     {&batchv1.CronJob{ObjectMeta: meta("ops", "evenkeel", true)}, ""},
		"a deleted Deployment":  {&appsv1.Deployment{ObjectMeta: meta("ops", "evenkeel", true)}, ""},
		"another program":       {&appsv1.Deployment{ObjectMeta: meta("ops", "shop", false)}, ""},
		"in another namespace":  {&appsv1.Deployment{ObjectMeta: meta("evenkeel", "evenkeel", false)}, ""},
		"a job in another one":  {&batchv1.CronJob{ObjectMeta: meta("evenkeel", "evenkeel", false)}, ""},
		"a CronJob of a person": {&batchv1.CronJob{ObjectMeta: meta("ops", "backup", false)}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := fake.NewClientset(configMap("ops", "evenkeel-pause"), heldLease("evenkeel", "", time.Time{}), c.object)
			hints, began := 0, time.Now()
			got, err := remove(t, cleanup.Release{Client: client, ClearHints: func(context.Context) error { hints++; return nil }})
			if c.want == "" && (err != nil || hints != 1 || got != "Lease evenkeel, ConfigMap evenkeel-pause") {
				t.Errorf("%s: deleted %q, removed hints %d times, error %v", name, got, hints, err)
			}
			if c.want != "" && (got != "" || hints != 0 || err == nil || !strings.Contains(err.Error(), "nothing was removed: "+c.want)) {
				t.Errorf("%s: deleted %q, removed hints %d times, error %v, want %q", name, got, hints, err, c.want)
			}
			if waited := time.Since(began); waited != 0 {
				t.Errorf("%s: waited %s", name, waited)
			}
		})
	}
}

// TestTheReleaseIsCheckedAgainAfterTheHints checks that the state stays if a process took the Lease, or somebody
// installed a release, while the hints were removed.
func TestTheReleaseIsCheckedAgainAfterTheHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, o := range map[string]runtime.Object{
			"node-7 still holds the Lease evenkeel": heldLease("evenkeel", "node-7", time.Now()),
			"CronJob keel is in namespace ops": &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "keel",
				Labels: map[string]string{"app.kubernetes.io/name": "evenkeel"}}},
		} {
			client := fake.NewClientset(configMap("ops", "evenkeel-pause"))
			got, err := remove(t, cleanup.Release{Client: client, ClearHints: func(context.Context) error { return client.Tracker().Add(o) }})
			if got != "" || err == nil || !strings.Contains(err.Error(), "no ConfigMap and no Lease was removed: "+want) {
				t.Errorf("deleted %q, error %v, want %q", got, err, want)
			}
		}
	})
}

// TestChangedObjectsStay checks that each deletion names the version that was read before the last check. A changed
// ConfigMap stays alone. If a Lease has changed, all ConfigMaps stay.
func TestChangedObjectsStay(t *testing.T) {
	versioned := func(m *metav1.ObjectMeta) { m.UID, m.ResourceVersion = types.UID("uid-"+m.Name), "7" }
	for changed, want := range map[string]string{
		"evenkeel-pause": "Lease evenkeel, Lease evenkeel-dry-run, ConfigMap evenkeel-trigger",
		"evenkeel":       "",
	} {
		pause, trigger := configMap("ops", "evenkeel-pause"), configMap("ops", "evenkeel-trigger")
		lease, dryRun := heldLease("evenkeel", "", time.Time{}), heldLease("evenkeel-dry-run", "", time.Time{})
		for _, m := range []*metav1.ObjectMeta{&pause.ObjectMeta, &trigger.ObjectMeta, &lease.ObjectMeta, &dryRun.ObjectMeta} {
			versioned(m)
		}
		client := fake.NewClientset(pause, trigger, lease, dryRun)
		client.PrependReactor("delete", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			name := a.(clienttesting.DeleteAction).GetName()
			p := a.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
			if p == nil || p.UID == nil || *p.UID != types.UID("uid-"+name) || p.ResourceVersion == nil || *p.ResourceVersion != "7" {
				t.Errorf("%s is deleted with the preconditions %v", name, p)
			}
			if name == changed {
				return true, nil, apierrors.NewConflict(a.GetResource().GroupResource(), name, errors.New("the object has been modified"))
			}
			return false, nil, nil
		})
		got, err := remove(t, cleanup.Release{Client: client})
		if got != want || err == nil || !strings.Contains(err.Error(), changed+" in namespace ops") {
			t.Errorf("%s changed: deleted %q, error %v, want %q", changed, got, err, want)
		}
	}
}

// TestWaitUntilIdle checks that a process that holds either Lease is waited for, and named if it stays. A Lease that
// was released, or that has expired, holds nothing up.
func TestWaitUntilIdle(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		lease *coordinationv1.Lease
		want  string
	}{
		"held":            {heldLease("evenkeel", "node-7", now.Add(time.Hour)), "node-7 still holds the Lease evenkeel in namespace ops"},
		"held by dry run": {heldLease("evenkeel-dry-run", "node-7", now.Add(time.Hour)), "node-7 still holds the Lease evenkeel-dry-run"},
		"released":        {heldLease("evenkeel", "", now), ""},
		"expired":         {heldLease("evenkeel", "node-7", now.Add(-time.Hour)), ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := cleanup.Release{Client: fake.NewClientset(c.lease), Namespace: "ops", Poll: time.Millisecond}.WaitUntilIdle(ctx)
		cancel()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestWaitUntilIdleSeesTheRelease checks that the wait ends when the holder releases the Lease.
func TestWaitUntilIdleSeesTheRelease(t *testing.T) {
	client := fake.NewClientset(heldLease("evenkeel", "node-7", time.Now().Add(time.Hour)))
	reads := 0
	client.PrependReactor("get", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if reads++; reads < 5 {
			return false, nil, nil
		}
		return true, heldLease(a.(clienttesting.GetAction).GetName(), "", time.Now()), nil
	})
	if err := (cleanup.Release{Client: client, Namespace: "ops", Poll: time.Millisecond}).WaitUntilIdle(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWaitUntilIdleReportsMissingPermission checks that the wait does not go on when the Leases cannot be read.
func TestWaitUntilIdleReportsMissingPermission(t *testing.T) {
	client := answerLeases(fake.NewClientset(), func(int) error {
		return apierrors.NewForbidden(coordinationv1.Resource("leases"), "evenkeel", errors.New("no"))
	})
	err := cleanup.Release{Client: client, Namespace: "ops", Poll: time.Hour}.WaitUntilIdle(t.Context())
	if err == nil || !strings.Contains(err.Error(), "permission") {
		t.Errorf("error %v", err)
	}
}
