package budgets

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// batchSize is small, so that a batch takes much less than two minutes. After two minutes the controller forgets a
// disrupted pod.
const batchSize = 50

// TestBudgets compares Evenkeel's answers with the API server's in random cases. The test does not clean up, because
// the control plane ends with the test.
func TestBudgets(t *testing.T) {
	seed, n := *seedFlag, *caseCount
	if n == 0 {
		if n = 2000; testing.Short() {
			n = 150
		}
	}
	if seed == 0 {
		if seed = 1 + rand.Uint64N(1_000_000); testing.Short() {
			seed = 1
		}
	}
	t.Logf("seed %d, %d cases", seed, n)
	begun := time.Now()
	into := newCounts(seed)
	if err := forEachInParallel(2, groupIntoBatches(seed, n), func(b *batch) error {
		begun := time.Now()
		err := b.run(t.Context(), max(1, *workers/2), into)
		t.Logf("%s: %d cases in %s", b.name, len(b.cases), time.Since(begun).Round(time.Second))
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	reportResults(t, into, time.Since(begun))
}

func groupIntoBatches(seed uint64, n int) []*batch {
	var out []*batch
	for i := range n {
		if *onlyCase >= 0 && i != *onlyCase {
			continue
		}
		name := fmt.Sprintf("batch-%d", i/batchSize)
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, &batch{name: name})
		}
		b := out[len(out)-1]
		b.cases = append(b.cases, generate(seed, i, name))
	}
	return out
}

// reportResults prints the table, and fails the test for every unexpected answer.
func reportResults(t *testing.T, into *comparisonCounts, took time.Duration) {
	t.Logf("in %s:\n%s", took.Round(time.Second), into)
	reportFailures(t, "count differs from the controller's", into.countMismatches)
	reportFailures(t, "Evenkeel allows, the server refuses", into.wronglyAllowed)
	reportFailures(t, "Evenkeel refuses, the server allows, and no documented case applies", into.unexplained)
	if into.bothAllow == 0 || into.bothRefuse == 0 {
		t.Errorf("both sides allowed no eviction, or both refused none, so the comparison proves nothing")
	}
}

// reportFailures reports the first few failures of one kind.
func reportFailures(t *testing.T, kind string, stories []string) {
	told := *maxPrinted
	for _, s := range stories[:min(told, len(stories))] {
		t.Errorf("%s: %s", kind, s)
	}
	if more := len(stories) - told; more > 0 {
		t.Errorf("%s: %d more not shown", kind, more)
	}
}
