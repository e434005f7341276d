package commandline_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestPrinters checks what the forms of kubectl print of a document: whole numbers stay whole, and text of the cluster
// cannot control the terminal.
func TestPrinters(t *testing.T) {
	const plan = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"RebalancePlan","metadata":{"name":"p1"},"spec":{"bytes":1234567890,"why":"\u001b[2J\u202e"}}`
	const list = `{"apiVersion":"v1","kind":"List","items":[` + plan + `,` + plan + `]}`
	for _, c := range []struct{ output, doc, want string }{
		{"name", plan, "rebalanceplan.evenkeel.io/p1\n"},
		{"name", list, "rebalanceplan.evenkeel.io/p1\nrebalanceplan.evenkeel.io/p1\n"},
		{"jsonpath={.spec.bytes}", plan, "1234567890"},
		{`jsonpath={range .items[*]}{.metadata.name}{"\t"}{.missing}{"\n"}{end}`, list, "p1\t\np1\t\n"},
		{"jsonpath={.spec.why}", plan, `\x1b[2J\u202e`},
		{"json", plan, plan},
	} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		if got := must.Get(commandline.ParseOutput(cmd, c.output))(t); got != report.JSON {
			t.Errorf("%s: the format is %s", c.output, got)
		}
		must.Get(fmt.Fprint(cmd.OutOrStdout(), c.doc))(t)
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.output, out.String(), c.want)
		}
	}
}
