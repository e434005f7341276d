package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestNodeOpensWithItsState: before anything about its pods, whether pods go
// there at all.
func TestNodeOpensWithItsState(t *testing.T) {
	for want, n := range map[string]plan.NodeStanding{
		"It is in zone z1, in scope; it takes pods.":                                        {Zone: "z1", InScope: true},
		"It is in no zone, in scope; it is cordoned, not Ready.":                            {InScope: true, State: []string{"cordoned", "not Ready"}},
		"It is in zone z1, not in scope (nodeSelector): its pods stay; it takes pods.":      {Zone: "z1"},
		"It is in zone z\\x1b, in scope; it is being taken away by the cluster autoscaler.": {Zone: "z\x1b", InScope: true, State: []string{"being taken away by the cluster autoscaler"}},
	} {
		e := explained()
		e.Node = &n
		var b bytes.Buffer
		if err := report.Explain(&b, report.Table, e); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(b.String(), "\n"); lines[1] != want {
			t.Errorf("%+v: %q, want %q", n, lines[1], want)
		}
	}
}
