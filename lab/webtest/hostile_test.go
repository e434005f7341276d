package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// script is what a tenant writes into names and labels. No API server accepts it as a name, but a file can have it.
const script = `<script>alert(1)</script>`

// uneven returns the nodes of pods of a workload, in the zones 1, 2 and 3: 1, 1 and n of them.
func uneven(n int) (nodes []int) {
	nodes = []int{0, 1}
	for range n {
		nodes = append(nodes, 2)
	}
	return nodes
}

// TestHostileNames draws names and labels that are a script or an image, and names as long as the API allows.
func TestHostileNames(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n)[:n] }
	longNode, longPod := "n-"+long("a", 251), "d-"+long("long", 251)
	file := snapshotFile(t, []string{longNode, "n-" + long("b.", 250) + "b", `n"><img src=x onerror=alert(1)>`}, []snapshotApp{
		{long("ns-", 62) + "x", longPod, map[string]string{"team": script}, uneven(4)},
		{"shop", script, map[string]string{"x": `"'` + script}, uneven(4)},
	})
	address := writeReport(t, "plan", "-f", file)
	checkViews(t, "hostile-names", address)
	open(t, views[0], address).checkShown("#moves", "shop/"+script)
	p := open(t, views[2], address)
	if n := evaluate[int](p, `document.querySelectorAll("main script, main img").length`); n != 0 {
		t.Errorf("the page has %d elements that the snapshot made", n)
	}
	for _, name := range []string{longNode, longPod} {
		if !evaluate[bool](p, `document.body.textContent.includes(`+text(name)+`)`) {
			t.Errorf("the page has the name %s... nowhere in full", name[:20])
		}
	}
}

// largeReport returns the address of a report of 5,000 nodes, 50,000 pods and 1,500 moves, which all tests share.
func largeReport(t *testing.T) string {
	t.Helper()
	if largeAddress == "" {
		largeAddress = writeLargeReport(t)
	}
	return largeAddress
}

var largeAddress string

func writeLargeReport(t *testing.T) string {
	t.Helper()
	var nodes []string
	for i := range 5000 {
		nodes = append(nodes, fmt.Sprintf("node-%04d.eu-west-1.compute.internal", i))
	}
	var apps []snapshotApp
	for i := range 2500 {
		a := snapshotApp{namespace: fmt.Sprint("team-", i%40), name: fmt.Sprintf("service-%04d", i)}
		for j := range 20 { // of every second workload, 12 pods are in the third zone
			zone := j % 3
			if i%2 == 0 && j < 8 {
				zone = 2
			}
			a.nodes = append(a.nodes, (i*20+j*7)%1666*3+zone)
		}
		apps = append(apps, a)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(config, []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies: {zones: {type: ZoneSpread, schedule: "0 * * * *"}}
limits: {perPass: 1500, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
`), 0o600))
	return writeReport(t, "plan", "-f", snapshotFile(t, nodes, apps), "--config", config)
}

// TestLargeCluster checks size and speed of a report of a large cluster, and that it shows what it should.
func TestLargeCluster(t *testing.T) {
	address := largeReport(t)
	const maxBytes, maxOpen = 5 << 20, 30 * time.Second
	if info := must.Get(os.Stat(strings.TrimPrefix(address, "file://")))(t); info.Size() > maxBytes {
		t.Errorf("the report has %d bytes, want at most %d", info.Size(), maxBytes)
	} else {
		t.Logf("the report has %d bytes", info.Size())
	}
	start := time.Now()
	p := open(t, views[0], address)
	if took := time.Since(start); took > maxOpen {
		t.Errorf("it takes %v to open the report, want at most %v", took, maxOpen)
	}
	p.checkShown("header", "5,000 nodes", "3 zones")
	p.checkShown("#moves", "1,500 evictions")
	// What is closed is left out, because axe-core takes minutes for it.
	evaluate[chromedp.Void](p, `document.querySelectorAll("details:not([open]) > :not(summary)").forEach(e => e.remove())`)
	p.check("large-1280-light", "")
	open(t, views[2], address).check("large-390-light", "")
}
