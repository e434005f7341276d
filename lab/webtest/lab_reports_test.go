package webtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

var scenarioCount atomic.Int32

// seedZones creates the scenario with three zones in a new namespace, which it deletes when the test ends.
func seedZones(t *testing.T, place [3]int, graceSeconds int64) (ns string) {
	t.Helper()
	ns = fmt.Sprint("shop-", scenarioCount.Add(1))
	t.Cleanup(func() { must.Succeed(t, seed.DeleteNamespace(context.Background(), lab.Client, ns)) })
	apps := seed.ThreeZoneApps(place, graceSeconds)
	for i := range apps {
		apps[i].Annotations = map[string]string{"lab.evenkeel.io/stops-slowly": "true"} // it takes the whole grace period
	}
	must.Succeed(t, seed.CreateApps(t.Context(), lab.Client, ns, apps))
	return ns
}

const zonesConfig = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`

// TestReportsOfTheLab executes a plan, and opens the reports of the run, of why a pod moved or stayed, and of the
// history.
func TestReportsOfTheLab(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 4}, 1)
	config := testbed.ConfigFile(t, zonesConfig)
	access := []string{"--kubeconfig", lab.Kubeconfig, "--lease-namespace", ns}
	with := func(args ...string) []string { return append(append(args, access...), "--config", config) }
	checkViews(t, "explain-workload", writeReport(t, with("explain", "workload", "deployment/"+ns+"/d")...))
	run := writeReport(t, with("run", "--once")...)
	checkViews(t, "run", run)
	p := open(t, views[0], run)
	p.checkShown("#zones", "Deployment "+ns+"/d 1 1 4 2 2 2")
	p.checkShown("#moves", "as predicted")
	history := writeReport(t, append([]string{"history", "workload", "deployment/" + ns + "/d"}, access...)...)
	checkViews(t, "history-workload", history)
	checkViews(t, "plan-nothing-to-do", writeReport(t, with("plan")...))
}
