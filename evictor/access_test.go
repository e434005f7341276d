package evictor

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestAdmissionConcernsOnePod evicts two pods. A policy answers 403 to both. The pass may continue, and one question
// to the API server is enough for the wave.
func TestAdmissionConcernsOnePod(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
	w.answer = apiStatusError(403, metav1.StatusReasonForbidden, deniedByPolicy)
	l := newTestLive(w, clock.RealClock{})
	for wave := 1; wave <= 2; wave++ {
		r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}, nil)
		if r.Stop != nil || w.evictRequests != 2*wave || w.reviews != wave {
			t.Errorf("wave %d: stop %+v, %d evictions, %d access reviews; want no stop, %d and %d", wave, r.Stop, w.evictRequests, w.reviews,
				2*wave, wave)
		}
		for _, o := range r.Outcomes {
			if o.Outcome != plan.Blocked || o.Reason.Code != plan.BlockedByAdmission {
				t.Errorf("wave %d: %+v", wave, o)
			}
		}
	}
}
