package kubeversion

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestChartVersion checks that the chart refuses servers that are older than the oldest known version.
func TestChartVersion(t *testing.T) {
	chart := must.Get(os.ReadFile("../../charts/evenkeel/Chart.yaml"))(t)
	if want := fmt.Sprintf("\nkubeVersion: \">=1.%d.0-0\"\n", Oldest); !strings.Contains(string(chart), want) {
		t.Errorf("Chart.yaml does not contain %q", want)
	}
}
