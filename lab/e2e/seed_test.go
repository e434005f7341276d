package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// repetitions of the seed scenario: three in short mode, twenty otherwise.
func repetitions() int {
	if testing.Short() {
		return 3
	}
	return 20
}

func TestTwoMovesLevelAZoneSkew(t *testing.T) {
	config := testbed.ConfigFile(t, zones)
	for i := range repetitions() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
			p := evenkeel(t, "plan", "--config", config)
			if !strings.Contains(p.stdout, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2") {
				t.Error("the plan does not foretell two moves")
			}
			r := evenkeel(t, "run", "--once", "--config", config)
			if r.code != 0 {
				t.Errorf("exit %d", r.code)
			}
			wantZones(t, ns, "d", 2, 2, 2)
			wantEvictions(t, ns, 2)
			if again := evenkeel(t, "run", "--once", "--config", config); again.code != 0 {
				t.Errorf("second pass: exit %d", again.code)
			}
			wantZones(t, ns, "d", 2, 2, 2)
			wantEvictions(t, ns, 2)
		})
	}
}

func TestOneMoveFromOneTwoThree(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 30))
	if r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones)); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wantZones(t, ns, "d", 2, 2, 2)
	wantEvictions(t, ns, 1)
}

func TestATieIsNotAReasonToEvict(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 2, 3}, 0))
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones))
	if r.code != 0 || !strings.Contains(r.stdout, "WouldReturn") {
		t.Errorf("exit %d; no WouldReturn in the report", r.code)
	}
	wantZones(t, ns, "d", 1, 2, 3)
	wantEvictions(t, ns, 0)
}

func TestDryRunLeavesEveryPod(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	before := uids(t, ns)
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones+"dryRun: true\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "would be evicted") {
		t.Errorf("exit %d; the report does not say what would be evicted", r.code)
	}
	if !maps.Equal(before, uids(t, ns)) {
		t.Error("the dry run changed pods")
	}
	wantEvictions(t, ns, 0)
}

func TestABudgetAtZeroBlocks(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	pdb(t, ns, "d", 0, 0)
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones))
	if r.code != 0 || !strings.Contains(r.stdout, "BlockedByPDB") {
		t.Errorf("exit %d; no BlockedByPDB in the report", r.code)
	}
	events, err := lab.Evictions(ns)
	if err != nil || len(events) != 0 {
		t.Errorf("%d evictions tried, want none (%v)", len(events), err)
	}
}

func TestABudgetOfOneIsSpentOneAtATime(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	pdb(t, ns, "d", 1, 1)
	r := evenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zones+"evictor: {inFlight: {perOwner: 6, perNode: 6}}\n"))
	if r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wantZones(t, ns, "d", 2, 2, 2)
	wantEvictions(t, ns, 2)
	events, err := lab.Evictions(ns)
	if err != nil || len(events) != 2 {
		t.Errorf("%d evictions tried, want 2 and no refusal (%v)", len(events), err)
	}
}

func TestAHotNodeIsLevelled(t *testing.T) {
	var on []string
	for range 8 {
		on = append(on, "n1")
	}
	ns := scenario(t, []seed.App{{Name: "web", MilliCPU: 1000, MemoryMi: 512, On: on, GraceSeconds: 30}})
	config := testbed.ConfigFile(t, `
strategies:
- {name: hot, type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.5}}}
limits: {perNamespace: 100%}
`)
	r := evenkeel(t, "run", "--once", "--config", config)
	if r.code != 0 || !strings.Contains(r.stdout, "lower bound 3") {
		t.Errorf("exit %d, or not a minimum of 3", r.code)
	}
	wantEvictions(t, ns, 3)
	got, err := seed.Spread(t.Context(), lab.Client, ns, "web")
	if err != nil || got["zone-1"] != 5 {
		t.Errorf("pods by zone %v, want 5 in zone-1 (%v)", got, err)
	}
}

// long leaves a test to the long set.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a minute; `make test-lab-long` runs it")
	}
}
