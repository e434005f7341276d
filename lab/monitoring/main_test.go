package monitoring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// stack is the lab with Prometheus that all tests share.
var stack *usagestack.Stack

// promtool is the path of Prometheus's tool.
var promtool = os.Getenv("EVENKEEL_PROMTOOL")

var programUser = controlplane.User{Token: "evenkeel-token", Name: "evenkeel", Group: "system:masters"}

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	stderr := os.Stderr // the lab redirects os.Stderr for its components
	fail := func(err error) int {
		fmt.Fprintln(stderr, "monitoring:", err)
		return 1
	}
	tools, err := usagestack.ToolsFromEnvironment()
	if _, missing := os.Stat(promtool); missing != nil {
		err = errors.Join(err, fmt.Errorf("EVENKEEL_PROMTOOL: %w", missing))
	}
	if err != nil || testbed.Evenkeel == "" {
		return fail(fmt.Errorf("programs are missing; run `make test-monitoring`, which builds them and sets the variables: %w", err))
	}
	dir, err := os.MkdirTemp("", "evenkeel-monitoring-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	tools.MetricsServer = "" // usage comes from Prometheus
	stack, err = usagestack.Start(context.Background(), dir, tools, controlplane.Options{Evenkeel: testbed.Evenkeel,
		Users: []controlplane.User{programUser}, Progress: stderr})
	if err != nil {
		return fail(err)
	}
	defer stack.Stop()
	for i := 1; i <= 3; i++ {
		n := usagestack.Node{Name: fmt.Sprintf("n%d", i), Zone: fmt.Sprintf("zone-%d", i), Address: fmt.Sprintf("10.0.0.%d", i)}
		if err := stack.AddNode(context.Background(), n); err != nil {
			return fail(err)
		}
	}
	return m.Run()
}
