package annotation

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
)

// TestDocumentationListsTheGroupKeys compares the table of docs/reference/annotations.md with groupKeys.
func TestDocumentationListsTheGroupKeys(t *testing.T) {
	rows := [][]string{{"program", "keys"}}
	for _, g := range groupKeys {
		rows = append(rows, []string{string(g.program), "`" + strings.Join(g.keys, "`, `") + "`"})
	}
	golden.Table(t, "../../docs/reference/annotations.md", rows)
}

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
