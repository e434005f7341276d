package webtest

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	protocol "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

var (
	docsPictures = flag.String("pictures", "", "folder for the pictures of the documentation; empty makes none")
	demoReport   = flag.String("demo", "", "the report of the demo")
)

// Widths of the pages in pictures of the documentation: as small as possible, so that people can read the text where
// the picture is scaled down. The first two have two columns, the third is that of a table.
const reportWidth, uiWidth, tableWidth = 1000, 1200, 880

// maxPictureBytes limits the size of a picture of the documentation.
const maxPictureBytes = 150_000

// savePicture writes a part of the page, from the top of one element to the bottom of another, as NAME.png.
func (p *page) savePicture(name, from, to string) {
	p.t.Helper()
	const margin = 4
	box := evaluate[struct{ Top, Bottom float64 }](p, `(() => { const y = (s, side) => document.querySelector(s).getBoundingClientRect()[side] + scrollY;
		return {Top: y(`+text(from)+`, "top"), Bottom: y(`+text(to)+`, "bottom")} })()`)
	top := max(0, box.Top-margin)
	yes := true
	r := must.Get(chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) (protocol.CaptureScreenshotResult, error) {
		return cdp.Call(ctx, t, protocol.CaptureScreenshot, protocol.CaptureScreenshotParams{CaptureBeyondViewport: &yes,
			Clip: &protocol.Viewport{Y: top, Width: float64(p.view.width), Height: box.Bottom + margin - top, Scale: 2}})
	}))(p.t)
	small := shrink(p.t, r.Data)
	if len(small) > maxPictureBytes {
		p.t.Errorf("%s.png has %d bytes, want at most %d", name, len(small), maxPictureBytes)
	}
	must.Succeed(p.t, os.WriteFile(filepath.Join(*docsPictures, name+".png"), small, 0o644))
}

// shrink encodes a picture with the 64 colours that it uses most, which its text and areas hardly exceed.
func shrink(t *testing.T, data []byte) []byte {
	t.Helper()
	full := must.Get(png.Decode(bytes.NewReader(data)))(t)
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	var colours color.Palette
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int { return count[b] - count[a] })
	colours = colours[:min(len(colours), 64)]
	index := map[color.Color]uint8{}
	for c := range count {
		index[c] = uint8(colours.Index(c))
	}
	few := image.NewPaletted(full.Bounds(), colours)
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			few.SetColorIndex(x, y, index[full.At(x, y)])
		}
	}
	var out bytes.Buffer
	must.Succeed(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	return out.Bytes()
}

// TestPictures makes the pictures of the documentation, each in light and in dark colours.
func TestPictures(t *testing.T) {
	if *docsPictures == "" {
		t.Skip("`make docs-pictures` makes the pictures")
	}
	ns := seedZones(t, [3]int{1, 1, 7}, 1)
	startRelease(t, ns, approveZones)
	createRun(t, ns, "ann")
	waitForStoredPlan(t, ns, "Waiting", "")
	for suffix, dark := range map[string]bool{"": false, "-dark": true} {
		p := open(t, view{width: reportWidth, dark: dark}, "file://"+*demoReport)
		p.savePicture("report"+suffix, "body", ".next")
		p.savePicture("report-zones"+suffix, "#zones", "#zones")
		p.savePicture("report-moves"+suffix, "#moves", "#moves")

		_, address := startUI(t, lab.Kubeconfig, ns)
		p, _ = openUI(t, view{width: uiWidth, dark: dark}, address)
		p.savePicture("ui-overview"+suffix, "body", "main")
		p.click("Open the plan")
		p.chooseSteps("1", "3")
		p.click("Approve 2 steps")
		p.waitForText("At most these 2 pods will be evicted")
		p.savePicture("ui-plan"+suffix, "body", "main")
	}
}

// strategyPictures has a picture for each type of strategy: the table that shows its problem best, in the report about
// a cluster of ../../examples.
var strategyPictures = []struct{ typ, args, table string }{
	{"zonespread", "-f three-zones.yaml --strategy zones", "#zones"},
	{"topologyspread", "-f uneven-pods-cluster.yaml --config uneven-pods.yaml --strategy constraints --show-strategy constraints", "#zones"},
	{"duplicates", "-f uneven-pods-cluster.yaml --config uneven-pods.yaml --strategy duplicates", "#moves"},
	{"interpodantiaffinity", "-f uneven-pods-cluster.yaml --config uneven-pods.yaml --strategy apart", "#moves"},
	{"nodeload", "-f busy-node.yaml --config by-load.yaml --strategy hot", "#nodes"},
	{"nodeconsolidation", "-f consolidation-cluster.yaml --config consolidation.yaml --strategy pack", "#nodes"},
	{"nodeaffinity", "-f wrong-nodes-cluster.yaml --config wrong-nodes.yaml --strategy affinity", "#moves"},
	{"nodetaints", "-f wrong-nodes-cluster.yaml --config wrong-nodes.yaml --strategy taints", "#moves"},
	{"restarts", "-f unhealthy-pods-cluster.yaml --config unhealthy-pods.yaml --strategy crash", "#moves"},
	{"lifetime", "-f unhealthy-pods-cluster.yaml --config unhealthy-pods.yaml --strategy old", "#moves"},
	{"failedpods", "-f unhealthy-pods-cluster.yaml --config unhealthy-pods.yaml --strategy failed", "#moves"},
}

// TestPicturesOfStrategies makes the pictures of docs/strategies.md.
func TestPicturesOfStrategies(t *testing.T) {
	if *docsPictures == "" {
		t.Skip("`make docs-pictures` makes the pictures")
	}
	t.Chdir("../../examples")
	for _, s := range strategyPictures {
		address := writeReport(t, append([]string{"plan"}, strings.Fields(s.args)...)...)
		for suffix, dark := range map[string]bool{"": false, "-dark": true} {
			table := s.table + " table"
			open(t, view{width: tableWidth, dark: dark}, address).savePicture("strategy-"+s.typ+suffix, table, table)
		}
	}
}
