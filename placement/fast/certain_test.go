package fast

import "testing"

// TestCoversAreBounded: the covers of many divisions of the nodes do not accumulate.
func TestCoversAreBounded(t *testing.T) {
	q := &Predictor{}
	q.bounds.covered = map[coveredGroups][]cover{}
	for i := range 3 * maxCovered {
		q.pod.sampleSize = i
		q.coversOf(&nodeGroups{})
		if n := len(q.bounds.covered); n > maxCovered {
			t.Fatalf("covers of %d divisions after %d, want at most %d", n, i+1, maxCovered)
		}
	}
}
