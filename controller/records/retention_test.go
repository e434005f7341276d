package records_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
)

// sweeper is a store of records with a server of plans of about 10 KiB.
type sweeper struct {
	*records.Store
	t      *testing.T
	client *objects.Client
	server *objectstest.Server
	clock  *clocktesting.FakeClock
	log    *bytes.Buffer
}

func newSweeper(t *testing.T, maxKiB int64) *sweeper {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	client, server := objectstest.New(clock)
	log := &bytes.Buffer{}
	return &sweeper{&records.Store{Client: client, Clock: clock, Log: slog.New(slog.NewTextHandler(log, nil)), Schedule: "Deployment",
		Retention: records.Retention{Keep: 24 * time.Hour, MaxBytes: maxKiB << 10}}, t, client, server, clock, log}
}

// create stores a plan, a minute after the one before. Without a phase, no pass made it.
func (s *sweeper) create(name string, phase v1alpha1.Phase) {
	s.t.Helper()
	s.clock.Step(time.Minute)
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.RebalancePlanSpec{ID: strings.Repeat("x", 10<<10)}}
	o = must.Get(s.client.Plans.Create(s.t.Context(), o, metav1.CreateOptions{}))(s.t)
	if o.Status.Phase = phase; phase != "" {
		must.Get(s.client.Plans.UpdateStatus(s.t.Context(), o, metav1.UpdateOptions{}))(s.t)
	}
}

func (s *sweeper) names() (names []string) {
	for _, o := range must.Get(s.client.Plans.List(s.t.Context(), metav1.ListOptions{}))(s.t).Items {
		names = append(names, o.Name)
	}
	return names
}

// TestWhatASweepDeletes: plans that are too old go, then plans that no pass made, and then the oldest. Plans that wait
// count, and stay.
func TestWhatASweepDeletes(t *testing.T) {
	for _, c := range []struct {
		name   string
		maxKiB int64
		after  time.Duration
		want   string
	}{
		{"room for all", 100, 0, "a b c waits zz"},
		{"a plan too many", 50, 0, "a b c waits"},
		{"two plans too many", 40, 0, "b c waits"},
		{"room for what waits", 15, 0, "waits"},
		{"no room even for what waits", 1, 0, "waits"},
		{"all too old", 100, 25 * time.Hour, "waits"},
	} {
		s := newSweeper(t, c.maxKiB)
		for _, name := range []string{"a", "b", "c"} {
			s.create(name, v1alpha1.PhaseCompleted)
		}
		s.create("waits", v1alpha1.PhaseWaiting)
		s.create("zz", "") // newer, and read last
		s.clock.Step(c.after)
		s.Sweep(t.Context())
		if got := strings.Join(s.names(), " "); got != c.want {
			t.Errorf("%s: %s are left, want %s", c.name, got, c.want)
		}
		if says := strings.Contains(s.log.String(), "must not be deleted"); says != (c.maxKiB == 1) || says != s.Full() {
			t.Errorf("%s: the log says %t that plans which must not be deleted take too much:\n%s", c.name, says, s.log)
		}
	}
}

// TestAnOrphanEnds: a look ends the plan of a process that died before it evicted a pod, and none of this process.
func TestAnOrphanEnds(t *testing.T) {
	s := newSweeper(t, 100)
	s.Holder = "pod-b"
	for _, holder := range []string{"pod-a", "pod-b"} {
		s.create(holder, "")
		o := must.Get(s.client.Plans.Get(t.Context(), holder, metav1.GetOptions{}))(t)
		o.Spec.Mode = v1alpha1.ModeAutomatic
		o = must.Get(s.client.Plans.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
		o.Status.Phase, o.Status.Holder = v1alpha1.PhaseRunning, holder
		must.Get(s.client.Plans.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
	}
	s.Sweep(t.Context())
	for holder, want := range map[string]v1alpha1.Phase{"pod-a": v1alpha1.PhaseStopped, "pod-b": v1alpha1.PhaseRunning} {
		if st := must.Get(s.client.Plans.Get(t.Context(), holder, metav1.GetOptions{}))(t).Status; st.Phase != want {
			t.Errorf("the plan of %s: %+v, want phase %s", holder, st, want)
		}
	}
}

// TestManyForeignPlans: plans of another person never displace those of passes. A look that ends early leaves fewer.
// Then the next pass looks again.
func TestManyForeignPlans(t *testing.T) {
	s := newSweeper(t, 64<<10)
	for i := range 3 {
		s.create(fmt.Sprint("2026-", i), v1alpha1.PhaseCompleted)
	}
	for i := range 1500 {
		s.create(fmt.Sprintf("a%04d", i), "")
	}
	s.Keep = 1000 * time.Hour
	deletes := 0
	s.server.Fail = func(verb, _, _ string) error {
		if verb == "delete" {
			if deletes++; deletes == 200 {
				return fmt.Errorf("the server is gone")
			}
		}
		return nil
	}
	s.Sweep(t.Context())
	if n := len(s.names()); n != 1304 {
		t.Errorf("%d plans are left after a failure, want 1304", n)
	}
	s.Sweep(t.Context())
	names := s.names()
	if len(names) != 1003 || !slices.Equal(names[:4], []string{"2026-0", "2026-1", "2026-2", "a0500"}) {
		t.Errorf("%d plans are left (%v ...), want those of 3 passes and the 1,000 newest others", len(names), names[:4])
	}
	calls := s.server.Calls["list rebalanceplans"]
	if s.Sweep(t.Context()); s.server.Calls["list rebalanceplans"] != calls {
		t.Error("a complete look is followed by another one at once")
	}
}
