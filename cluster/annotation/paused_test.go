package annotation

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestPaused(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      request
		paused bool
	}{
		{"Cluster API, empty", request{placeStatefulSet, "cluster.x-k8s.io/paused", "", false}, true},
		{"Cluster API, false", request{placeStatefulSet, "cluster.x-k8s.io/paused", "false", false}, true},
		{"another project", request{placeStatefulSet, "crossplane.io/paused", "true", false}, true},
		{"another project, false", request{placeStatefulSet, "crossplane.io/paused", "false", false}, false},
		{"a longer name", request{placeStatefulSet, "example.com/not-paused", "true", false}, false},
		{"a label", request{placeStatefulSet, "cluster.x-k8s.io/paused", "true", true}, false},
		{"on the pod", request{placePod, "cluster.x-k8s.io/paused", "true", false}, false},
		{"on the namespace", request{placeNamespace, "cluster.x-k8s.io/paused", "true", false}, false},
	} {
		r := readRequests(t, c.r)
		if (len(r.Paused) > 0) != c.paused || len(r.Problems) > 0 {
			t.Errorf("%s: %+v", c.name, r)
		}
		if c.paused && !cluster.IsDecisionAnnotation(c.r.key) {
			t.Errorf("%s: the observer and redacted snapshots drop the annotation", c.name)
		}
	}
}
