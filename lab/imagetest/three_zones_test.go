//go:build linux

package imagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/rootfs"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const (
	bundle = "etc/ssl/certs/ca-certificates.crt"
	// cpuQuery has the usage of the three nodes, so that Prometheus needs to scrape nothing.
	cpuQuery = `label_replace(vector(0.2), "instance", "n1", "", "") or label_replace(vector(0.3), "instance", "n2", "", "") or ` +
		`label_replace(vector(0.4), "instance", "n3", "", "")`
)

// values configures the zones of Deployments, and a dry run by usage, for which each pass queries Prometheus.
func values(t *testing.T, url string) string {
	t.Helper()
	text := fmt.Sprintf(`config:
  dryRun: false
  guards: {minPodAge: 0s}
  load:
    source: prometheus
    prometheus:
      url: %q
      preset: none
      queries: {cpu: '%s'}
  strategies:
    zones: {type: ZoneSpread, schedule: "* * * * *"}
    hot: {type: NodeLoad, mode: dryRun, schedule: "* * * * *", args: {basis: load, target: {cpu: 0.9}}}
`, url, cpuQuery)
	path := filepath.Join(t.TempDir(), "values.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func appendToFile(t *testing.T, c *rootfs.Container, name string, text []byte) {
	t.Helper()
	f := must.Get(os.OpenFile(filepath.Join(c.Root, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))(t)
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
}

// wantUsage checks that the pass read the usage of all nodes.
func wantUsage(t *testing.T, r testbed.Report) {
	t.Helper()
	if coverage, problems := usage(t, r); coverage != 1000 || problems != "" {
		t.Errorf("usage of a share of %v of the nodes, want 1; problems %s", coverage, problems)
	}
}

// TestThreeZones runs the image with the chart's pod against the API server and an HTTPS Prometheus with a certificate
// of a private CA. The image must reject the certificate, unless caFile, a further file in /etc/ssl/certs, or the
// bundle of the image contains the CA. Then a pass must move two pods, so that each zone has two.
func TestThreeZones(t *testing.T) {
	url, authority := startPrometheus(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must.Succeed(t, os.WriteFile(ca, authority, 0o600))
	createNamespace(t)
	helm(t, "install", namespace, chart, "--set", "image.repository=registry.example.org/evenkeel", "--values", values(t, url))
	t.Cleanup(func() { uninstall(t) })
	t.Run("unknown authority", func(t *testing.T) {
		r := runOnce(t, newContainer(t))
		const want = "certificate signed by unknown authority"
		if coverage, got := usage(t, r); coverage != 0 || !strings.Contains(got, want) {
			t.Errorf("usage of a share of %v of the nodes, problems %q; want none and %q", coverage, got, want)
		}
	})
	t.Run("caFile", func(t *testing.T) {
		helm(t, "upgrade", namespace, chart, "--reuse-values", "--set", "config.load.prometheus.caFile=/etc/evenkeel/ca.crt",
			"--set-file", `extraFiles.ca\.crt=`+ca)
		wantUsage(t, runOnce(t, newContainer(t)))
		helm(t, "upgrade", namespace, chart, "--reuse-values", "--set", "config.load.prometheus.caFile=", "--set-file", `extraFiles.ca\.crt=`+ca)
	})
	t.Run("further file", func(t *testing.T) {
		c := newContainer(t)
		appendToFile(t, c, "etc/ssl/certs/private.pem", authority)
		wantUsage(t, runOnce(t, c))
	})
	t.Run("bundle", func(t *testing.T) {
		seedThreeZones(t)
		c := newContainer(t)
		appendToFile(t, c, bundle, authority)
		wantUsage(t, runOnce(t, c))
		zones, err := seed.PodsByZone(t.Context(), lab.Client, "shop", "d")
		if got := fmt.Sprint(zones["zone-1"], zones["zone-2"], zones["zone-3"]); err != nil || got != "2 2 2" {
			t.Errorf("pods of d per zone: %s, %v; want 2 2 2", got, err)
		}
	})
}
