package release_test

import (
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/controller/release"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func lease(namespace, name, holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if !renewed.IsZero() {
		l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: renewed}}
	}
	return l
}

// TestFind checks that every namespace with a Lease of Evenkeel is one release, and that other Leases are none.
func TestFind(t *testing.T) {
	client := fake.NewClientset(
		lease("ops", "evenkeel", "node-7", now),
		lease("ops", "evenkeel-dry-run", "node-8", now.Add(-time.Hour)),
		lease("night", "evenkeel", "", now.Add(-20*time.Hour)), // a CronJob between two jobs
		lease("trial", "evenkeel-dry-run", "node-9", now.Add(-14*time.Second)),
		lease("new", "evenkeel", "", time.Time{}),
		lease("kube-system", "kube-scheduler", "node-1", now),
		lease("shop", "evenkeel-shop", "node-1", now),
	)
	got, err := release.Find(t.Context(), client, now)
	if err != nil {
		t.Fatal(err)
	}
	want := []release.Release{
		{Namespace: "new"},
		{Namespace: "night", Renewed: now.Add(-20 * time.Hour)},
		{Namespace: "ops", Holder: "node-7", Renewed: now},
		{Namespace: "trial", DryRunHolder: "node-9", Renewed: now.Add(-14 * time.Second)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
