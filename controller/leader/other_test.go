package leader_test

import (
	"errors"
	"math"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/plan"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// leaseOf returns the Lease of a release, created and renewed some time before noon.
func leaseOf(namespace, holder string, created, renewed time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "evenkeel", CreationTimestamp: metav1.NewTime(noon.Add(-created))},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15),
			RenewTime: &metav1.MicroTime{Time: noon.Add(-renewed)}},
	}
}

// ops returns the Lease of the release in namespace ops, which was created two hours before noon.
func ops(renewed time.Duration, holder string) *coordinationv1.Lease {
	return leaseOf("ops", holder, 2*time.Hour, renewed)
}

// otherRelease returns the answer of the release in a namespace. The release was created an hour before noon and leads.
func otherRelease(t *testing.T, namespace string, others ...runtime.Object) *plan.Reason {
	t.Helper()
	c := fake.NewClientset(append(others, leaseOf(namespace, "me", time.Hour, 0))...)
	return (&leader.Lease{Client: c, Namespace: namespace, Clock: clocktesting.NewFakePassiveClock(noon)}).CheckOtherReleases(t.Context())
}

func TestOnlyTheOldestReleaseEvicts(t *testing.T) {
	dry := ops(0, "x")
	dry.Name = "evenkeel-dry-run"
	longLease := ops(16*time.Second, "x")
	longLease.Spec.LeaseDurationSeconds = ptr.To[int32](math.MaxInt32)
	for name, c := range map[string]struct {
		other  *coordinationv1.Lease
		refuse bool
	}{
		"an older one leads":                                 {ops(0, "x"), true},
		"an older one renewed 15 s ago":                      {ops(15*time.Second, "x"), true},
		"an older one expired":                               {ops(16*time.Second, "x"), false},
		"an older one was released":                          {ops(0, ""), false},
		"an older one is a dry run":                          {dry, false},
		"an older one claims to hold its Lease for 68 years": {longLease, false},
		"an older one renewed 15 s ahead of this clock":      {ops(-15*time.Second, "x"), true},
		"an older one claims to have renewed in a year":      {ops(-365*24*time.Hour, "x"), false},
		"a younger one leads":                                {leaseOf("ops", "x", time.Minute, 0), false},
		"one of the same age, sorted first":                  {leaseOf("ops", "x", time.Hour, 0), true},
		"one of the same age, sorted last":                   {leaseOf("zoo", "x", time.Hour, 0), false},
	} {
		r := otherRelease(t, "team-b", c.other)
		if (r != nil) != c.refuse || r != nil && r.Code != plan.OtherReleaseActive {
			t.Errorf("%s: %+v, want a refusal: %t", name, r, c.refuse)
		}
	}
}

// If a release cannot find out whether another one evicts, it does not evict.
func TestAnUnknownOtherReleaseForbidsEvictions(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code plan.Code
	}{
		"no permission": {forbiddenError(), plan.PermissionMissing},
		"no answer":     {errors.New("connection reset by peer"), plan.APIError},
	} {
		client := fake.NewClientset(leaseOf("team-b", "me", time.Hour, 0))
		client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.err })
		l := &leader.Lease{Client: client, Namespace: "team-b", Clock: clocktesting.NewFakePassiveClock(noon)}
		if r := l.CheckOtherReleases(t.Context()); r == nil || r.Code != c.code {
			t.Errorf("%s: %+v, want %s", name, r, c.code)
		}
	}
	// A list without the own Lease cannot be right: this process holds it.
	l := &leader.Lease{Client: fake.NewClientset(), Namespace: "team-b", Clock: clocktesting.NewFakePassiveClock(noon)}
	if r := l.CheckOtherReleases(t.Context()); r == nil || r.Code != plan.APIError {
		t.Errorf("an empty list: %+v, want %s", r, plan.APIError)
	}
}
