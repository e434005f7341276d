package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// severed lets lists and watches of one kind through, until they are cut.
type severed struct {
	path string // of the kind, in all namespaces
	mu   sync.Mutex
	at   time.Time // when they were cut; zero before
	ends []context.CancelFunc
}

// cut ends every watch and refuses all that is asked from now on.
func (s *severed) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() {
		s.at = time.Now()
		for _, end := range s.ends {
			end()
		}
	}
}

// past waits until the kind has been cut off for so long.
func (s *severed) past(ctx context.Context, d time.Duration) {
	s.mu.Lock()
	left := time.Until(s.at.Add(d))
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(left):
	}
}

func (s *severed) refuse(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != s.path {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.IsZero() {
		http.Error(w, "cut off", http.StatusServiceUnavailable)
		return true
	}
	ctx, end := context.WithCancel(r.Context())
	s.ends = append(s.ends, end)
	*r = *r.WithContext(ctx) // the proxy goes on with it
	return false
}

const shortSighted = zones + "guards: {minPodAge: 0s, maxStaleness: 5s}\n"

// TestAPassWithoutSightEvictsNothing cuts pods off between the first look at the
// cluster and the pass: until the Lease is granted.
func TestAPassWithoutSightEvictsNothing(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	pods := &severed{path: "/api/v1/pods"}
	kubeconfig := proxied(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/leases") {
			pods.cut()
			pods.past(r.Context(), 6*time.Second)
		}
		return pods.refuse(w, r)
	})
	r := evenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, shortSighted))
	for _, want := range []string{"pods are known as of ", "longer than guards.maxStaleness 5s: the answer is 503"} {
		if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, want 1 and %q in the error and in the report", r.code, want)
		}
	}
	if !strings.Contains(r.stdout, "Run: refused; nothing planned, nothing evicted.\n") || !strings.Contains(r.stdout, "(ClusterViewStale)") {
		t.Error("the report does not say that the pass was refused")
	}
	wantZones(t, ns, "d", 1, 1, 4)
	wantEvictions(t, ns, 0)
}

// TestAPassThatLosesSightStops cuts budgets off as the pass begins. The bound
// passes while the first pod is read, which may not take more than 4 seconds, and
// evicted.
func TestAPassThatLosesSightStops(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	budgets := &severed{path: "/apis/policy/v1/poddisruptionbudgets"}
	kubeconfig := proxied(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.Contains(r.URL.Path, "/leases"):
			budgets.cut()
		case isEviction(r):
			budgets.past(r.Context(), 6*time.Second)
		case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/"+ns+"/pods/"):
			budgets.past(r.Context(), 3*time.Second)
		}
		return budgets.refuse(w, r)
	})
	r := evenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, shortSighted))
	want := "the pass stopped early: ClusterViewStale: taking a snapshot before wave 2: poddisruptionbudgets are known as of "
	if r.code != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit %d, want 1 and %q", r.code, want)
	}
	wantEvictions(t, ns, 1)
}
