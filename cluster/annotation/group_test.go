package annotation

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestGroups checks each key on the pod and on its owner, as an annotation and as a label. A namespace makes no group.
func TestGroups(t *testing.T) {
	for _, g := range groupKeys {
		for _, key := range g.keys {
			for place := range placeCount {
				for _, label := range [...]bool{false, true} {
					r := readRequests(t, request{place, key, "x", label})
					if place == placeNamespace {
						if len(r.Groups) > 0 {
							t.Errorf("%s on %s: %+v", key, placeNames[place], r.Groups)
						}
						continue
					}
					if len(r.Groups) != 1 || r.Groups[0].Program != g.program || r.Groups[0].Object != placeNames[place] || len(r.Problems) > 0 {
						t.Errorf("%s on %s: %+v", key, placeNames[place], r)
					}
				}
			}
			if !cluster.IsDecisionAnnotation(key) {
				t.Errorf("the observer and redacted snapshots drop the annotation %s", key)
			}
		}
	}
	r := readRequests(t, request{placePod, "kueue.x-k8s.io/queue-name", "a", true}, request{placeStatefulSet, "kueue.x-k8s.io/queue-name", "b", true},
		request{placePod, "volcano.sh/job-name", "c", false})
	if len(r.Groups) != 2 || r.Groups[0].Value != "a" || r.Groups[1].Program != Volcano {
		t.Errorf("two programs: %+v", r.Groups)
	}
}
