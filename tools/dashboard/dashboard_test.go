package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the dashboard of the chart")

const file = "../../charts/evenkeel/files/dashboard.json"

func TestTheChartHasThisDashboard(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what this program prints (run: make dashboard)", file)
	}
}

// TestEveryQuerySelectsReleases keeps the figures of two releases, and of other programs with the metrics of client-go,
// apart.
func TestEveryQuerySelectsReleases(t *testing.T) {
	for _, r := range rows {
		for _, p := range r.panels {
			if len(p.queries) == 0 {
				t.Errorf("panel %q of %q has no query", p.title, r.title)
			}
			for _, q := range p.queries {
				if !strings.Contains(q.expression(), `cluster=~"$cluster", namespace=~"$namespace", job=~"$job"`) {
					t.Errorf("%s: %s selects no release", p.title, q.expr)
				}
				if strings.Count(q.expr, "by (") == 0 || strings.Count(q.expr, "by (") != strings.Count(q.expr, "by (cluster, namespace") {
					t.Errorf("%s: %s does not tell clusters and namespaces apart", p.title, q.expr)
				}
				if q.legend == "" {
					t.Errorf("%s: %s has no legend", p.title, q.expr)
				}
			}
		}
	}
}
