package budgets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// comparisonCounts counts agreements and differences between the answers.
type comparisonCounts struct {
	mu              sync.Mutex
	seed            uint64
	cases           int
	byScenario      map[scenario]int
	bothAllow       int // both allow
	bothRefuse      int // both refuse
	byCode          map[string]int
	documented      map[string]int // Evenkeel refuses, the server allows: by documented case
	wronglyAllowed  []string       // Evenkeel allows, the server refuses
	scaledUnseen    int            // Evenkeel allows, the server refuses by replicas that only the server can read
	unexplained     []string       // Evenkeel refuses, the server allows, and no documented case applies
	countMatches    int            // budgets for which the count of the pods equals the controller's
	countMismatches []string       // budgets whose pod count differs from the controller's
}

func newCounts(seed uint64) *comparisonCounts {
	return &comparisonCounts{seed: seed, byScenario: map[scenario]int{}, byCode: map[string]int{}, documented: map[string]int{}}
}

func (t *comparisonCounts) withLock(f func()) { t.mu.Lock(); defer t.mu.Unlock(); f() }

func (t *comparisonCounts) countCase(c *testCase) {
	t.withLock(func() { t.cases++; t.byScenario[c.scenario]++ })
}

func (t *comparisonCounts) countAgreement(a evictionAttempt) {
	t.withLock(func() {
		if a.ours.Allowed {
			t.bothAllow++
			return
		}
		t.bothRefuse++
		t.byCode[a.ours.Code]++
	})
}

func (t *comparisonCounts) addWronglyAllowed(story string) {
	t.withLock(func() { t.wronglyAllowed = append(t.wronglyAllowed, story) })
}

func (t *comparisonCounts) countScaledUnseen() { t.withLock(func() { t.scaledUnseen++ }) }

func (t *comparisonCounts) addUnexplained(story string) {
	t.withLock(func() { t.unexplained = append(t.unexplained, story) })
}

func (t *comparisonCounts) countMatch() { t.withLock(func() { t.countMatches++ }) }

func (t *comparisonCounts) addMismatch(story string) {
	t.withLock(func() { t.countMismatches = append(t.countMismatches, story) })
}

func (t *comparisonCounts) countDocumented(why string) { t.withLock(func() { t.documented[why]++ }) }

// String returns the table of the comparison.
func (t *comparisonCounts) String() string {
	var s strings.Builder
	row := func(what string, n int) { fmt.Fprintf(&s, "%7d  %s\n", n, what) }
	documented := 0
	for _, n := range t.documented {
		documented += n
	}
	fmt.Fprintf(&s, "seed %d\n", t.seed)
	row("cases", t.cases)
	for _, f := range slices.Sorted(maps.Keys(t.byScenario)) {
		row("  "+string(f), t.byScenario[f])
	}
	row("budgets whose pod count equals the controller's", t.countMatches)
	row("budgets whose pod count differs", len(t.countMismatches))
	row("answers compared", t.bothAllow+t.bothRefuse+documented+t.scaledUnseen+len(t.wronglyAllowed)+len(t.unexplained))
	row("both allow", t.bothAllow)
	row("both refuse", t.bothRefuse)
	for _, code := range slices.Sorted(maps.Keys(t.byCode)) {
		row("  "+code, t.byCode[code])
	}
	row("Evenkeel allows, the server refuses", len(t.wronglyAllowed))
	row("Evenkeel allows, the server refuses: only the server can read that the controller was scaled up", t.scaledUnseen)
	row("Evenkeel refuses, the server allows: documented", documented)
	for _, why := range slices.Sorted(maps.Keys(t.documented)) {
		row("  "+why, t.documented[why])
	}
	row("Evenkeel refuses, the server allows: unexplained", len(t.unexplained))
	return s.String()
}
