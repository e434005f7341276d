package kubeversion

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestChartVersion checks that the chart refuses servers that are older than the oldest known version.
func TestChartVersion(t *testing.T) {
	chart, err := os.ReadFile("../../charts/evenkeel/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\nkubeVersion: \">=1.%d.0-0\"\n", Oldest); !strings.Contains(string(chart), want) {
		t.Errorf("Chart.yaml does not contain %q", want)
	}
}
