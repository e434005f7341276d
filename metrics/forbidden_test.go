package metrics

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func forbiddenSum(t *testing.T, m *Metrics) (sum float64) {
	t.Helper()
	for _, f := range must.Get(m.Registry.Gather())(t) {
		if f.GetName() == defForbidden.name {
			for _, s := range f.GetMetric() {
				sum += s.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// Requests that are forbidden shortly before and after a change of the mode do not count. Others count once, after the
// time in which a change may follow.
func TestRequestsForbiddenByAChangeOfTheModeDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New("v", "")
		c := newClientMetrics(m.Registry, m.forbidden)
		m.ExpectModeChanges()
		expect := func(want float64) {
			t.Helper()
			if got := forbiddenSum(t, m); got != want {
				t.Errorf("after %s: %g requests count, want %g", time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), got, want)
			}
		}
		forbid := func(n int) {
			for range n {
				c.Increment(context.Background(), "403", "GET", "host")
				c.Increment(context.Background(), "200", "GET", "host")
			}
		}
		forbid(2)
		time.Sleep(time.Minute)
		forbid(1)
		expect(0)
		time.Sleep(modeChange - time.Minute)
		expect(2)
		forbid(3)
		if n := m.ModeChanged(); n != 4 {
			t.Errorf("%d requests were dropped, want 4", n)
		}
		time.Sleep(modeChange - time.Second)
		forbid(5)
		time.Sleep(2 * modeChange)
		expect(2)
		forbid(1)
		time.Sleep(modeChange)
		expect(3)
	})
}

// A single pass ends before a change could follow: its requests count at once.
func TestForbiddenRequestsOfASinglePassCountAtOnce(t *testing.T) {
	m := New("v", "")
	c := newClientMetrics(m.Registry, m.forbidden)
	c.Increment(context.Background(), "403", "PUT", "host")
	if got := forbiddenSum(t, m); got != 1 {
		t.Errorf("%g", got)
	}
}
