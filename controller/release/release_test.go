package release_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func lease(namespace, name, holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if !renewed.IsZero() {
		l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: renewed}}
	}
	return l
}

// TestVersion checks that a release has the version of the process that renewed a Lease last.
func TestVersion(t *testing.T) {
	older, newer := lease("ops", "evenkeel", "node-7", now.Add(-time.Hour)), lease("ops", "evenkeel-dry-run", "node-8", now)
	older.Labels = map[string]string{release.VersionLabel: "v0.1.0"}
	newer.Labels = map[string]string{release.VersionLabel: release.VersionLabelValue("v0.2.0-3+dirty")}
	got, err := release.In(t.Context(), fake.NewClientset(older, newer), "ops", now)
	if want := (release.Release{Namespace: "ops", DryRunHolder: "node-8", Version: "v0.2.0-3_dirty", Renewed: now}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := release.In(t.Context(), fake.NewClientset(), "ops", now); err == nil {
		t.Error("a namespace without Leases has a release")
	}
	for version, want := range map[string]string{"v0.0.0-20261123191700-1d81158c292b+dirty": "v0.0.0-20261123191700-1d81158c292b_dirty",
		"": "", "+++": "", "v1 beta/ä": "v1_beta"} {
		if got := release.VersionLabelValue(version); got != want {
			t.Errorf("%q becomes %q, want %q", version, got, want)
		}
	}
	if got := release.VersionLabelValue(strings.Repeat("v1.", 40)); len(validation.IsValidLabelValue(got)) > 0 {
		t.Errorf("%q is no value of a label", got)
	}
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
	got := must.Get(release.Find(t.Context(), client, now))(t)
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
