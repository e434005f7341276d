package controller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
)

// leases provokes every answer of Held.
func leases(t *testing.T) []plan.Reason {
	t.Helper()
	var said []plan.Reason
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	l := &controller.Lease{Client: fake.NewClientset(), Namespace: "evenkeel", Identity: "a", Leading: func(bool) {}, Clock: now}
	if r := l.Held(); r != nil {
		said = append(said, *r)
	} else {
		t.Error("it is held before it was taken")
	}
	err := l.Lead(t.Context(), time.Minute, func(context.Context) error {
		if r := l.Held(); r != nil {
			t.Errorf("while leading: %+v", r)
		}
		now.SetTime(now.Now().Add(11 * time.Second)) // this process was suspended
		if r := l.Held(); r != nil {
			said = append(said, *r)
		} else {
			t.Error("it is held though nobody renewed it")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if r := l.Held(); r == nil || !strings.Contains(r.Message, "does not hold") {
		t.Errorf("after its release: %+v", r)
	}
	return said
}

func TestTheLeaseIsHeldOnlyWhileItIsRenewed(t *testing.T) {
	if said := leases(t); len(said) != 2 {
		t.Errorf("%+v", said)
	}
}

// forbids answers 403 to a verb on Leases.
func forbids(verb string) *fake.Clientset {
	c := fake.NewClientset()
	c.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "evenkeel", errors.New("no"))
	})
	return c
}

// TestALeaseThatIsForbiddenIsFinalAtOnce, however long one would wait, and says
// which permission is missing.
func TestALeaseThatIsForbiddenIsFinalAtOnce(t *testing.T) {
	for _, verb := range []string{"get", "create"} {
		for _, wait := range []time.Duration{0, time.Hour} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			l := &controller.Lease{Client: forbids(verb), Namespace: "ops", Identity: "a", Leading: func(bool) { t.Error("it leads") }}
			err := l.Lead(ctx, wait, func(context.Context) error { return nil })
			if want := "taking the Lease ops/evenkeel: permission to " + verb + " leases.coordination.k8s.io is missing in namespace ops; "; err == nil || !strings.HasPrefix(err.Error(), want) || ctx.Err() != nil {
				t.Errorf("%s, waiting %s: %v, want %s", verb, wait, err, want)
			}
			cancel()
		}
	}
}
