package webtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// rareZones is a strategy that is due only when somebody asks for a pass.
const rareZones = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 1 1 *"}
`

// approveZones is rareZones with moves that wait for a decision.
const approveZones = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 1 1 *", mode: approve}
`

// TestAPassIsSeenLive watches the overview while a pass runs, without loading the page again.
func TestAPassIsSeenLive(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 6}, 8) // the second wave ends when the status of the plan may be written again, after 10 s
	startRelease(t, ns, rareZones)
	_, address := startUI(t, lab.Kubeconfig, ns)
	p, _ := openUI(t, views[0], address)
	p.check("ui-overview-before-1280-light", origin(address))
	evaluate[any](p, `window.sameDocument = true`)
	createRun(t, ns, "ann")
	p.waitForText("wave 1 of")
	p.waitUntil(`/[1-9]\d* landed as predicted/.test(document.body.innerText.replace(/\s+/g, " "))`)
	p.picture("ui-overview-running-1280-light")
	p.waitForText("1 pass moved 3 pods, 3 of them as predicted")
	if !evaluate[bool](p, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
	p.check("ui-overview-after-1280-light", origin(address))
	if n := len(must.Get(lab.Evictions(ns))(t)); n != 3 {
		t.Errorf("%d evictions, want 3", n)
	}
	spread := must.Get(seed.PodsByZone(t.Context(), lab.Client, ns, "d"))(t)
	if min(spread["zone-1"], spread["zone-2"], spread["zone-3"]) < 2 {
		t.Errorf("pods of d by zone: %v", spread)
	}
}

// chooseSteps chooses steps of the plan with three steps that waits.
func (p *page) chooseSteps(steps ...string) {
	p.t.Helper()
	p.waitForText("3 moves wait for you until")
	for _, s := range steps {
		box := `input[name=step][value="` + s + `"]`
		if !evaluate[bool](p, `document.querySelector(`+text(box)+`).checked`) {
			p.do(chromedp.Click(chromedp.CSS(box)))
		}
	}
	// A page that is read again right then loses the choice, so it is made again until the button counts it.
	p.waitUntil(`(() => {
		const boxes = ` + text(strings.Join(steps, " ")) + `.split(" ").map(s => document.querySelector("input[name=step][value='" + s + "']"));
		if (boxes.includes(null)) return false;
		for (const b of boxes) if (!b.checked) b.click();
		return document.body.innerText.includes("Approve " + boxes.length + " steps");
	})()`)
}

// TestAPlanIsApprovedInPart chooses two of three steps with the mouse, confirms them, and watches them to their end.
func TestAPlanIsApprovedInPart(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 7}, 1)
	startRelease(t, ns, approveZones)
	createRun(t, ns, "ann")
	waitForStoredPlan(t, ns, "Waiting", "")
	for _, v := range views {
		_, address := startUI(t, lab.Kubeconfig, ns)
		p, _ := openUI(t, v, address)
		p.waitForText("Limits used") // the status of the release has come, so nothing appears while the page is measured
		p.check("ui-overview-waiting-"+v.String(), origin(address))
		p.click("Open the plan")
		p.waitForText("3 moves wait for you until")
		p.check("ui-plan-"+v.String(), origin(address))
	}
	_, address := startUI(t, lab.Kubeconfig, ns)
	p, _ := openUI(t, views[0], address)
	p.click("Open the plan")
	p.chooseSteps("1", "3")
	p.click("Approve 2 steps")
	p.waitForText("At most these 2 pods will be evicted")
	p.check("ui-confirm-1280-light", origin(address))
	pods := evaluate[[]string](p, `[...document.querySelectorAll("#confirm li")].map(e => e.textContent.trim())`)
	if len(pods) != 2 || !strings.HasPrefix(pods[0], ns+"/d-") {
		t.Errorf("the confirmation names the pods %q", pods)
	}
	if n := len(must.Get(lab.Evictions(ns))(t)); n != 0 {
		t.Fatalf("%d evictions before the confirmation", n)
	}
	p.press(kb.Escape) // back to the choice
	p.waitUntil(`document.querySelector("#confirm") === null`)
	p.chooseSteps("1", "3")
	p.click("Approve 2 steps")
	p.waitForText("At most these 2 pods will be evicted")
	p.click("Evict these 2 pods")
	stored := waitForStoredPlan(t, ns, "Waiting", "1 Evicted 3 Evicted")
	if by := stored.Status.Steps[0].DecidedBy; by != "admin" {
		t.Errorf("step 1 was decided by %q", by)
	}
	p.waitForText("1 move waits for you until")
	p.check("ui-plan-approved-1280-light", origin(address))
	if evicted := must.Get(lab.Evictions(ns))(t); len(evicted) != 2 || !slices.Contains(pods, ns+"/"+evicted[0].ObjectRef.Name) || !slices.Contains(pods, ns+"/"+evicted[1].ObjectRef.Name) {
		t.Errorf("the audit log has %d evictions, want those of %q", len(evicted), pods)
	}
}
