package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	protocol "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// pictures is the folder to which each checked page is written as a picture, for people to look at.
var pictures = os.Getenv("EVENKEEL_WEB_PICTURES")

// check checks the page as it is: what it reported, what it asked for, its layout and its accessibility. Requests may
// only go to the given origin; a report has none.
func (p *page) check(name, origin string) {
	p.t.Helper()
	for _, f := range p.takeFaults() {
		p.t.Errorf("%s reports: %s", name, f)
	}
	p.mu.Lock()
	for _, r := range p.requests {
		if origin == "" || !strings.HasPrefix(r, origin+"/") {
			p.t.Errorf("%s asks for %s", name, r)
		}
	}
	p.mu.Unlock()
	p.waitUntil(`document.readyState === "complete"`) // before that, a style sheet may be missing
	for _, f := range evaluate[[]string](p, layoutFaults) {
		p.t.Errorf("%s: %s", name, f)
	}
	p.picture(name)
	if p.view.width > 390 != p.view.dark { // both widths and both colours are checked once: it takes seconds
		for _, f := range p.accessibilityFaults() {
			p.t.Errorf("%s: %s", name, f)
		}
	}
}

// picture writes a picture of the whole page.
func (p *page) picture(name string) {
	p.t.Helper()
	if pictures == "" {
		return
	}
	must.Succeed(p.t, os.MkdirAll(pictures, 0o755))
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	must.Succeed(p.t, err)
	must.Succeed(p.t, os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o644))
}

// layoutFaults finds what leaves the page on the right, but in a frame that scrolls, and text that is cut off without a
// mark. The page itself must not scroll sideways.
const layoutFaults = `(() => {
  const out = [], root = document.documentElement, width = root.clientWidth;
  const name = e => e.tagName.toLowerCase() + (typeof e.className === "string" && e.className ? "." + e.className.trim().replace(/\s+/g, ".") : "") + " " + JSON.stringify(e.textContent.trim().slice(0, 60));
  if (root.scrollWidth > width) out.push("the page is " + root.scrollWidth + " pixels wide, want " + width);
  for (const e of document.body.querySelectorAll("*")) {
    if (e.closest("svg") && e.tagName !== "svg") continue;
    const r = e.getBoundingClientRect();
    if (r.width === 0 || r.height === 0 || e.closest(".sr, .skip")) continue;
    let framed = false;
    for (let a = e.parentElement; a && a !== document.body; a = a.parentElement)
      if (getComputedStyle(a).overflowX !== "visible") { framed = true; break; }
    if (!framed && r.right > width + 1) out.push(name(e) + " ends at pixel " + Math.round(r.right) + " of " + width);
    const s = getComputedStyle(e);
    if (s.overflowX === "hidden" && s.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1) out.push(name(e) + " is cut off");
  }
  return out.slice(0, 10);
})()`

// accessibilityFaults runs axe-core in a world of its own, which the page and its policy do not see.
func (p *page) accessibilityFaults() (faults []string) {
	p.t.Helper()
	axe, err := os.ReadFile(os.Getenv("EVENKEEL_AXE"))
	if err != nil {
		accessibilityUnchecked(p.t)
		return nil
	}
	var result struct {
		Incomplete, Violations []struct {
			ID, Impact, Help string
			Nodes            []struct{ Target []any }
		}
	}
	must.Succeed(p.t, json.Unmarshal(p.evaluateApart(string(axe)+`;axe.run(document, {preload: false, resultTypes: ["violations"]})
		.then(r => ({violations: r.violations}))`), &result))
	for _, v := range result.Violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			faults = append(faults, fmt.Sprintf("axe: %s (%s): %s, %d times, such as at %v", v.ID, v.Impact, v.Help, len(v.Nodes), v.Nodes[0].Target))
		} else {
			p.t.Logf("axe: %s (%s): %s, %d times, such as at %v", v.ID, v.Impact, v.Help, len(v.Nodes), v.Nodes[0].Target)
		}
	}
	return faults
}

// accessibilityUnchecked says in the test's log that a page was not checked with axe-core.
func accessibilityUnchecked(t *testing.T) {
	t.Log("EVENKEEL_AXE names no file: accessibility is not checked. `make test-web` fetches axe-core with npm")
}

// evaluateApart returns the value of an expression, a promise, in a new world beside that of the page.
func (p *page) evaluateApart(expression string) (value json.RawMessage) {
	p.t.Helper()
	yes := true
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		tree, err := cdp.Call(ctx, t, protocol.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		world, err := cdp.Call(ctx, t, protocol.CreateIsolatedWorld, protocol.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID})
		if err != nil {
			return err
		}
		r, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ContextID: world.ExecutionContextID,
			AwaitPromise: &yes, ReturnByValue: &yes})
		if err != nil {
			return err
		}
		if r.ExceptionDetails != nil {
			return fmt.Errorf("%s", text(r.ExceptionDetails))
		}
		value = json.RawMessage(r.Result.Value)
		return nil
	}))
	return value
}
