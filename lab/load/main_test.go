package load

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/loadbed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// bed is the lab that all tests of this package share.
var bed *loadbed.Bed

// program is who the program under test is to the API server.
var program = controlplane.User{Token: "evenkeel-token", Name: "evenkeel", Group: "system:masters"}

// auditPolicy has every request of the program, and every eviction of anybody.
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

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	stderr := os.Stderr // the lab's components get another one
	fail := func(err error) int {
		fmt.Fprintln(stderr, "load:", err)
		return 1
	}
	tools, err := loadbed.FromEnvironment()
	if err != nil || testbed.Evenkeel == "" {
		return fail(fmt.Errorf("run `make test-load`, which builds or fetches what is needed and says where it is: %w", err))
	}
	dir, err := os.MkdirTemp("", "evenkeel-load-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if err := buildForetell(dir); err != nil {
		return fail(err)
	}
	bed, err = loadbed.Start(context.Background(), dir, tools, controlplane.Options{Users: []controlplane.User{program}, AuditPolicy: []byte(auditPolicy), Progress: stderr})
	if err != nil {
		return fail(err)
	}
	defer bed.Stop()
	go func() {
		err := <-bed.Failed()
		bed.Stop()
		os.Exit(fail(err))
	}()
	for i := 1; i <= nodes; i++ {
		if err := bed.AddNode(context.Background(), loadbed.Node{Name: fmt.Sprintf("n%d", i), Address: fmt.Sprintf("10.0.0.%d", i)}); err != nil {
			return fail(err)
		}
	}
	return m.Run()
}

// nodes are there for every test, alike: n1 to n4, of 10 CPU and 10Gi each.
const nodes = 4
