package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
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
