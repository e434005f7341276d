package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// repetitions returns the number of runs of the seed scenario: three in short mode, otherwise twenty.
func repetitions() int {
	if testing.Short() {
		return 3
	}
	return 20
}

func TestTwoMovesLevelAZoneSkew(t *testing.T) {
	config := testbed.ConfigFile(t, zonesConfig)
	for i := range repetitions() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
			p := runEvenkeel(t, "plan", "--config", config)
			if !strings.Contains(p.stdout, "Plan: 2 evictions meet 1 of 1 goals; lower bound 2") {
				t.Error("the plan does not show two evictions and a lower bound of 2")
			}
			r := runEvenkeel(t, "run", "--once", "--config", config)
			if r.code != 0 {
				t.Errorf("exit %d", r.code)
			}
			checkZones(t, ns, "d", 2, 2, 2)
			checkEvictions(t, ns, 2)
			if again := runEvenkeel(t, "run", "--once", "--config", config); again.code != 0 {
				t.Errorf("second pass: exit %d", again.code)
			}
			checkZones(t, ns, "d", 2, 2, 2)
			checkEvictions(t, ns, 2)
		})
	}
}

func TestOneMoveFromOneTwoThree(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 30))
	if r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig)); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 1)
}

func TestATieIsNotAReasonToEvict(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 2, 3}, 0))
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig))
	if r.code != 0 || !strings.Contains(r.stdout, "WouldReturn") {
		t.Errorf("exit %d, or the report lacks WouldReturn", r.code)
	}
	checkZones(t, ns, "d", 1, 2, 3)
	checkEvictions(t, ns, 0)
}

func TestDryRunLeavesEveryPod(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	before := podUIDs(t, ns)
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig+"dryRun: true\n"))
	if r.code != 0 || !strings.Contains(r.stdout, "would be evicted") {
		t.Errorf("exit %d, or the report does not list the planned evictions", r.code)
	}
	if !maps.Equal(before, podUIDs(t, ns)) {
		t.Error("the dry run changed pods")
	}
	checkEvictions(t, ns, 0)
}

func TestABudgetAtZeroBlocks(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	createPDB(t, ns, "d", 0, 0)
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig))
	if r.code != 0 || !strings.Contains(r.stdout, "BlockedByPDB") {
		t.Errorf("exit %d, or the report lacks BlockedByPDB", r.code)
	}
	events, err := lab.Evictions(ns)
	if err != nil || len(events) != 0 {
		t.Errorf("%d eviction requests in the audit log, want none (%v)", len(events), err)
	}
}

func TestABudgetOfOneIsSpentOneAtATime(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	createPDB(t, ns, "d", 1, 1)
	r := runEvenkeel(t, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig+"evictor: {inFlight: {perOwner: 6, perNode: 6}}\n"))
	if r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
	events, err := lab.Evictions(ns)
	if err != nil || len(events) != 2 {
		t.Errorf("%d eviction requests in the audit log, want 2 and none refused (%v)", len(events), err)
	}
}

func TestAHotNodeIsLevelled(t *testing.T) {
	var on []string
	for range 8 {
		on = append(on, "n1")
	}
	ns := seedApps(t, []seed.App{{Name: "web", MilliCPU: 1000, MemoryMi: 512, Nodes: on, GraceSeconds: 30}})
	config := testbed.ConfigFile(t, `
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.5}}}
limits: {perNamespace: 100%}
`)
	r := runEvenkeel(t, "run", "--once", "--config", config)
	if r.code != 0 || !strings.Contains(r.stdout, "lower bound 3") {
		t.Errorf("exit %d, or the report lacks the lower bound of 3", r.code)
	}
	checkEvictions(t, ns, 3)
	got, err := seed.PodsByZone(t.Context(), lab.Client, ns, "web")
	if err != nil || got["zone-1"] != 5 {
		t.Errorf("pods by zone: %v, want 5 pods in zone-1 (%v)", got, err)
	}
}

// skipIfShort skips a test in short mode.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a minute; `make test-lab-long` runs it")
	}
}
