package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

var update = flag.Bool("update", false, "rewrite the published pages and drawings")

// TestPublishedPages renders the published pages and drawings from the published results.
func TestPublishedPages(t *testing.T) {
	published, rendered := filepath.Join("..", "..", "docs", "benchmarks"), t.TempDir()
	read := func(name string, into any) {
		data, err := os.ReadFile(filepath.Join(published, name))
		must.Succeed(t, err)
		must.Succeed(t, json.Unmarshal(data, into))
	}
	check := func(name string, got []byte) {
		path := filepath.Join(published, name)
		if *update {
			must.Succeed(t, os.WriteFile(path, got, 0o644))
			return
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from its results; rewrite it with go test ./bench -run TestPublishedPages -update (%v)", name, err)
		}
	}
	var measurements []Measurement
	read("peer.json", &measurements)
	page, err := renderComparisonPage(rendered, measurements)
	must.Succeed(t, err)
	check("peer.md", []byte(page))
	drawings, err := filepath.Glob(filepath.Join(rendered, "*.svg"))
	must.Succeed(t, err)
	for _, drawing := range drawings {
		data, err := os.ReadFile(drawing)
		must.Succeed(t, err)
		check(filepath.Base(drawing), data)
	}
	var results []Result
	const rates = "rate-500-10000-at-most-600"
	read(rates+".json", &results)
	check(rates+".md", []byte(rateTable(settings{nodes: 500, pods: 10000, maxEvictions: 600}, results)))
}
