package webtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const threeZones = "../../examples/three-zones.yaml"

// writeReport runs the program, writes the page that it prints to a file, and returns the file's address.
func writeReport(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, append(args, "-o", "html")...)
	cmd.Stderr = &stderr
	html, err := cmd.Output()
	if err != nil {
		t.Fatalf("evenkeel %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	file := must.Get(os.CreateTemp(lab.Folder(), "report-*.html"))(t)
	defer file.Close()
	_ = must.Get(file.Write(html))(t)
	return "file://" + file.Name()
}

// checkViews opens a report in each view and checks it.
func checkViews(t *testing.T, name, address string) {
	t.Helper()
	for _, v := range views {
		t.Run(v.String(), func(t *testing.T) { open(t, v, address).check(name+"-"+v.String(), "") })
	}
}

// spaces are runs of white space, which the layout of a page chooses.
var spaces = regexp.MustCompile(`\s+`)

// shown returns what an element of the page shows, with single spaces.
func (p *page) shown(selector string) string {
	p.t.Helper()
	return strings.TrimSpace(spaces.ReplaceAllString(evaluate[string](p, `document.querySelector(`+text(selector)+`)?.innerText ?? ""`), " "))
}

// checkShown checks that an element shows all texts.
func (p *page) checkShown(selector string, texts ...string) {
	p.t.Helper()
	shown := p.shown(selector)
	for _, want := range texts {
		if !strings.Contains(shown, want) {
			p.t.Errorf("%s does not show %q:\n%s", selector, want, shown)
		}
	}
}

// press presses a key, as a person does.
func (p *page) press(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// TestThreeZones reads the report of the three zones as a person does.
func TestThreeZones(t *testing.T) {
	address := writeReport(t, "plan", "-f", threeZones)
	checkViews(t, "plan-three-zones", address)
	p := open(t, views[0], address)
	p.checkShown("#zones", "Deployment shop/d 1 1 4 2 2 2 2 substantial → 3 or 4")
	p.checkShown("#moves", "2 evictions in 2 waves; the proven minimum for this result is 2.", "1 shop/d-6c8f-02", "2 shop/d-6c8f-03", "1/1/4", "2/2/2")
	p.checkShown(".nums", "Evictions 2", "proven minimum 2", "2 substantial 1 0")
	p.do(chromedp.Click(chromedp.CSS("#config summary")))
	p.checkShown("#config", "kind: RebalanceConfig")
}
