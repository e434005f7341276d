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
	"github.com/evenkeel-project/evenkeel/observe"
)

// cutOffKind refuses lists and watches of one kind after a call of cut.
type cutOffKind struct {
	path  string // path of the kind across all namespaces
	mu    sync.Mutex
	cutAt time.Time // time of the cut; zero before it
	ends  []context.CancelFunc
}

// startRefusing ends every watch and refuses all later requests for the kind.
func (s *cutOffKind) startRefusing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cutAt.IsZero() {
		s.cutAt = time.Now()
		for _, end := range s.ends {
			end()
		}
	}
}

// waitAfterCut waits until the kind has been refused for the given time.
func (s *cutOffKind) waitAfterCut(ctx context.Context, d time.Duration) {
	s.mu.Lock()
	left := time.Until(s.cutAt.Add(d))
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(left):
	}
}

func (s *cutOffKind) refuseAfterCut(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != s.path {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cutAt.IsZero() {
		http.Error(w, "cut off", http.StatusServiceUnavailable)
		return true
	}
	ctx, end := context.WithCancel(r.Context())
	s.ends = append(s.ends, end)
	*r = *r.WithContext(ctx) // the proxy forwards the request with this context
	return false
}

const youngPodsConfig = zonesConfig + "guards: {minPodAge: 0s}\n"

// TestAPassWithoutSightEvictsNothing stops the pod watch between the first snapshot and the pass, while the process
// waits for the Lease.
func TestAPassWithoutSightEvictsNothing(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	pods := &cutOffKind{path: "/api/v1/pods"}
	kubeconfig := kubeconfigWithProxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/leases") {
			pods.startRefusing()
			pods.waitAfterCut(r.Context(), observe.MaxStaleness+5*time.Second)
		}
		return pods.refuseAfterCut(w, r)
	})
	r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, youngPodsConfig))
	for _, want := range []string{"the view of pods is from ", "older than 2m0s: the answer is 503"} {
		if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, want 1 and %q both on stderr and in the report", r.code, want)
		}
	}
	if !strings.Contains(r.stdout, "Run: could judge nothing: ") ||
		!strings.Contains(r.stdout, "(ClusterViewStale)") {
		t.Error("the report does not say that the pass was stopped")
	}
	checkZones(t, ns, "d", 1, 1, 4)
	checkEvictions(t, ns, 0)
}

// TestAPassThatLosesSightStops stops the budget watch when the pass begins. The staleness limit passes while the
// program reads and evicts the first pod, so the pass must not evict a second pod.
func TestAPassThatLosesSightStops(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	budgets := &cutOffKind{path: "/apis/policy/v1/poddisruptionbudgets"}
	kubeconfig := kubeconfigWithProxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.Contains(r.URL.Path, "/leases"):
			budgets.startRefusing()
			budgets.waitAfterCut(r.Context(), observe.MaxStaleness-20*time.Second)
		case isEviction(r):
			budgets.waitAfterCut(r.Context(), observe.MaxStaleness+5*time.Second)
		}
		return budgets.refuseAfterCut(w, r)
	})
	r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, youngPodsConfig))
	want := "the view of poddisruptionbudgets is from "
	if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "ClusterViewStale") {
		t.Errorf("exit %d, want 1 and %q on stderr", r.code, want)
	}
	checkEvictions(t, ns, 1)
}
