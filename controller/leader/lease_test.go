package leader_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leadingAnswers returns every reason that CheckLeading can return.
func leadingAnswers(t *testing.T) []plan.Reason {
	t.Helper()
	var said []plan.Reason
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	l := &leader.Lease{Client: fake.NewClientset(), Namespace: "evenkeel", Identity: "a", OnLeadingChange: func(bool) {}, Clock: now}
	if r := l.CheckLeading(); r != nil {
		said = append(said, *r)
	} else {
		t.Error("CheckLeading returns no reason before the Lease is taken")
	}
	err := l.Lead(t.Context(), time.Minute, func(context.Context) error {
		if r := l.CheckLeading(); r != nil {
			t.Errorf("while leading: %+v", r)
		}
		now.SetTime(now.Now().Add(11 * time.Second)) // simulates a suspended process
		if r := l.CheckLeading(); r != nil {
			said = append(said, *r)
		} else {
			t.Error("CheckLeading returns no reason after the renewals stopped")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if r := l.CheckLeading(); r == nil || !strings.Contains(r.Message, "does not hold") {
		t.Errorf("after the release: got %+v", r)
	}
	return said
}

// The Lease says whether its holder executes approved plans, and the hash of its configuration. The next renewal
// announces a change, also after the Lease was released.
func TestTheLeaseAnnouncesItsConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader.Lease{Client: fake.NewClientset(), Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) {}}
		expect := func(want leader.Status) {
			t.Helper()
			if got, err := l.Status(t.Context()); err != nil || got != want {
				t.Errorf("%+v (%v), want %+v", got, err, want)
			}
		}
		expect(leader.Status{})
		if err := l.Lead(t.Context(), time.Minute, func(context.Context) error {
			expect(leader.Status{Holder: "a"})
			for _, on := range []bool{false, true, false} {
				hash := strconv.FormatBool(on)
				l.SetConfig(on, hash)
				time.Sleep(3 * time.Second)
				expect(leader.Status{Holder: "a", ApprovalsOff: !on, ConfigHash: hash})
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		expect(leader.Status{ApprovalsOff: true, ConfigHash: "false"})
		l.SetConfig(true, "c2")
		if err := l.Lead(t.Context(), time.Minute, func(context.Context) error {
			expect(leader.Status{Holder: "a", ConfigHash: "c2"})
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// The Lease names the first of the other programs that evict. A label that is too long has their number only, and one
// that the program did not write is not shown.
func TestTheLeaseNamesOtherDeschedulers(t *testing.T) {
	night := plan.OtherDescheduler{Program: "descheduler", Kind: "CronJob", Namespace: "kube-system", Name: "night"}
	long := plan.OtherDescheduler{Kind: "Deployment", Namespace: "ops", Name: strings.Repeat("x", 60)}
	for _, c := range []struct {
		others []plan.OtherDescheduler
		want   string
	}{
		{nil, ""},
		{[]plan.OtherDescheduler{night}, "CronJob kube-system/night"},
		{[]plan.OtherDescheduler{night, long, long}, "CronJob kube-system/night and 2 more"},
		{[]plan.OtherDescheduler{long}, "1 program"},
		{[]plan.OtherDescheduler{long, night}, "2 programs"},
	} {
		client := fake.NewClientset()
		l := &leader.Lease{Client: client, Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) {}}
		l.SetOtherDeschedulers(c.others)
		must.Succeed(t, l.Lead(t.Context(), time.Minute, func(context.Context) error { return nil }))
		if s := must.Get(l.Status(t.Context()))(t); s.OtherDeschedulers != c.want {
			t.Errorf("%v: %q, want %q", c.others, s.OtherDeschedulers, c.want)
		}
		l.SetOtherDeschedulers(nil) // the next leader sees none
		must.Succeed(t, l.Lead(t.Context(), time.Minute, func(context.Context) error { return nil }))
		if s := must.Get(l.Status(t.Context()))(t); s.OtherDeschedulers != "" {
			t.Errorf("%v: still %q", c.others, s.OtherDeschedulers)
		}
		for _, label := range []string{"", "many", "-1", "0"} {
			lease := must.Get(client.CoordinationV1().Leases("ops").Get(t.Context(), "evenkeel", metav1.GetOptions{}))(t)
			lease.Labels[leader.DeschedulersLabel] = label
			must.Get(client.CoordinationV1().Leases("ops").Update(t.Context(), lease, metav1.UpdateOptions{}))(t)
			if s := must.Get(l.Status(t.Context()))(t); s.OtherDeschedulers != "" {
				t.Errorf("label %q: %q", label, s.OtherDeschedulers)
			}
		}
	}
}

func TestTheLeaseIsHeldOnlyWhileItIsRenewed(t *testing.T) {
	var lines []string
	for _, r := range append(leadingAnswers(t), *otherRelease(t, "team-b", ops(15*time.Second, "evenkeel-0_5d3f0a1c"))) {
		lines = append(lines, string(r.Code)+": "+r.Message)
	}
	golden.EqualLines(t, "testdata/outcomes.txt", lines)
}

// clientFailing returns a client whose requests with this verb on Leases fail.
func clientFailing(verb string, err error) *fake.Clientset {
	c := fake.NewClientset()
	c.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	return c
}

func forbiddenError() error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "evenkeel", errors.New("no"))
}

// If a permission or the namespace is missing, Lead returns an error with a remedy. With a positive wait, Lead returns
// at once. Otherwise Lead returns after renewDeadline.
func TestALeaseThatIsDeniedIsFinal(t *testing.T) {
	const missing = "permission to %s leases.coordination.k8s.io is missing in namespace ops; "
	for _, c := range []struct {
		verb string
		err  error
		want string
	}{
		{"get", forbiddenError(), fmt.Sprintf(missing, "get")},
		{"create", forbiddenError(), fmt.Sprintf(missing, "create")},
		{"create", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ops"), "namespace ops does not exist; create it, or " +
			`give the namespace of Evenkeel with --lease-namespace: namespaces "ops" not found`},
	} {
		for wait, after := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Hour: 0} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := &leader.Lease{Client: clientFailing(c.verb, c.err), Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) { t.Error("it leads") }}
				err := l.Lead(t.Context(), wait, func(context.Context) error { return nil })
				if want := "taking the Lease ops/evenkeel: " + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("verb %s, wait %s: got error %v, want %s", c.verb, wait, err, want)
				}
				if took := time.Since(began); took < after || took > after+10*time.Second {
					t.Errorf("verb %s, wait %s: returned after %s, want %s", c.verb, wait, took, after)
				}
			})
		}
	}
}

// A standby process continues if its Role is missing for a moment.
func TestAStandbyOutlivesARoleThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := fake.NewClientset()
		c.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			if time.Since(began) > 5*time.Second {
				return false, nil, nil
			}
			return true, nil, forbiddenError()
		})
		leads := false
		l := &leader.Lease{Client: c, Namespace: "ops", Identity: "a", OnLeadingChange: func(now bool) { leads = leads || now }}
		if err := l.Lead(t.Context(), 0, func(context.Context) error { return nil }); err != nil || !leads {
			t.Errorf("leads %t: %v", leads, err)
		}
	})
}

// If the permission to read the Lease is missing, Leader returns an error that names it.
func TestWhoLeadsMayBeForbidden(t *testing.T) {
	l := &leader.Lease{Client: clientFailing("get", forbiddenError()), Namespace: "ops"}
	want := "reading the Lease ops/evenkeel: permission to get leases.coordination.k8s.io is missing in namespace ops; grant it to this " +
		"account: "
	if _, err := l.Leader(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) || !apierrors.IsForbidden(err) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestALeaseThatCannotBeTaken: after the wait, the error says whether the Lease could not be read or not be written.
func TestALeaseThatCannotBeTaken(t *testing.T) {
	for verb, want := range map[string]string{
		"create": "could not take the Lease ops/evenkeel within 30s: no process holds it, but it could not be written; check the permission",
		"get":    "could not take the Lease ops/evenkeel within 30s: reading it: Internal error occurred: etcd",
	} {
		synctest.Test(t, func(t *testing.T) {
			client := clientFailing(verb, apierrors.NewInternalError(errors.New("etcd")))
			l := &leader.Lease{Client: client, Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) {}}
			err := l.Lead(t.Context(), 30*time.Second, func(context.Context) error { return errors.New("it leads") })
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s fails: error %v, want %q", verb, err, want)
			}
		})
	}
}
