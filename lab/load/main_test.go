package load

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// stack is the lab that all tests of this package share.
var stack *usagestack.Stack

// programUser is the API user of the program under test.
var programUser = controlplane.User{Token: "evenkeel-token", Name: "evenkeel", Group: "system:masters"}

// auditPolicy logs every request of the program under test, and all evictions.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [evenkeel]
- level: Metadata
  resources: [{group: "", resources: [pods/eviction]}]
- level: None
`

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	stderr := os.Stderr // the lab redirects os.Stderr for its components
	fail := func(err error) int {
		fmt.Fprintln(stderr, "load:", err)
		return 1
	}
	tools, err := usagestack.ToolsFromEnvironment()
	if err != nil || testbed.Evenkeel == "" {
		return fail(fmt.Errorf("programs are missing; run `make test-load`, which builds them and sets the variables: %w", err))
	}
	dir, err := os.MkdirTemp("", "evenkeel-load-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if err := buildPredict(dir); err != nil {
		return fail(err)
	}
	o := controlplane.Options{Evenkeel: testbed.Evenkeel, Users: []controlplane.User{programUser}, AuditPolicy: []byte(auditPolicy), Progress: stderr}
	stack, err = usagestack.Start(context.Background(), dir, tools, o)
	if err != nil {
		return fail(err)
	}
	defer stack.Stop()
	go func() {
		err := <-stack.Failed()
		stack.Stop()
		os.Exit(fail(err))
	}()
	for i := 1; i <= nodeCount; i++ {
		n := usagestack.Node{Name: fmt.Sprintf("n%d", i), Address: fmt.Sprintf("10.0.0.%d", i)}
		if err := stack.AddNode(context.Background(), n); err != nil {
			return fail(err)
		}
	}
	return m.Run()
}

// nodeCount is the number of identical nodes that all tests share: n1 to n4 with 10 CPU and 10Gi each.
const nodeCount = 4
