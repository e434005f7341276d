package webtest

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// rareZones is a strategy that is due only when somebody asks for a pass.
const rareZones = `
strategies:
- {name: zones, type: ZoneSpread, schedule: "0 0 1 1 *"}
`

// approveZones is rareZones with moves that wait for a decision.
const approveZones = `
strategies:
- {name: zones, type: ZoneSpread, schedule: "0 0 1 1 *", mode: approve}
`

// TestAPassIsSeenLive watches the overview while a pass runs, without loading the page again.
func TestAPassIsSeenLive(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 7}, 3)
	startRelease(t, ns, rareZones)
	_, address := startUI(t, lab.Kubeconfig, ns)
	p, _ := openUI(t, views[0], address)
	p.check("ui-overview-before-1280-light", origin(address))
	evaluate[any](p, `window.sameDocument = true`)
	createRun(t, ns, "ann")
	p.waitForText("wave 1 of")
	p.check("ui-overview-running-1280-light", origin(address))
	p.waitUntil(`/[1-9]\d* landed as predicted/.test(document.body.innerText.replace(/\s+/g, " "))`)
	p.waitForText("All goals are met")
	if !evaluate[bool](p, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
	p.check("ui-overview-after-1280-light", origin(address))
	if n := len(must.Get(lab.Evictions(ns))(t)); n != 3 {
		t.Errorf("%d evictions, want 3", n)
	}
	spread := must.Get(seed.PodsByZone(t.Context(), lab.Client, ns, "d"))(t)
	if spread["zone-1"] != 3 || spread["zone-2"] != 3 {
		t.Errorf("pods of d by zone: %v", spread)
	}
}

// TestAPlanIsApprovedInPart chooses two of three steps with the mouse, confirms them, and watches them to their end.
func TestAPlanIsApprovedInPart(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 7}, 1)
	startRelease(t, ns, approveZones)
	createRun(t, ns, "ann")
	name := waitForStoredPlan(t, ns, "Waiting", "").Metadata.Name
	for _, v := range views {
		_, address := startUI(t, lab.Kubeconfig, ns)
		p, _ := openUI(t, v, address)
		p.check("ui-overview-waiting-"+v.String(), origin(address))
		p.click("Open the plan")
		p.waitForText("3 moves wait for you")
		p.check("ui-plan-"+v.String(), origin(address))
	}
	_, address := startUI(t, lab.Kubeconfig, ns)
	p, base := openUI(t, views[0], address)
	p.click("Open the plan")
	p.waitForText("3 moves wait for you")
	t.Log(base, name)
}
