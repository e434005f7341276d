package budgets

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
)

var (
	caseCount  = flag.Int("cases", 0, "number of random cases (0: 2000, or 150 with -short)")
	seedFlag   = flag.Uint64("seed", 0, "seed of the random cases (0: random, or 1 with -short)")
	onlyCase   = flag.Int("only", -1, "run only this case of the seed")
	maxPrinted = flag.Int("told", 8, "how many wrong answers of each kind to print in full")
	workers    = flag.Int("workers", 48, "number of cases that evict in parallel")
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests starts a control plane in which only the disruption controller and the test are active. Owners neither
// create nor adopt pods, no garbage is collected, and the status of a pod changes only when the test writes it. Each
// case therefore depends only on its seed, and any difference between two answers is a difference in arithmetic.
func runTests(m *testing.M) int {
	flag.Parse()
	stderr := os.Stderr
	fail := func(err error) int { fmt.Fprintln(stderr, "budgets:", err); return 1 }
	ctx := context.Background()
	c, err := controlplane.Start(ctx, controlplane.Options{WithoutKwok: true, Progress: stderr,
		Controllers: []string{"disruption-controller"}})
	if err != nil {
		return fail(err)
	}
	defer c.Stop()
	go func() {
		fmt.Fprintln(stderr, "budgets:", <-c.Failed())
		c.Stop()
		os.Exit(1)
	}()
	// The test writes as a user of its own, so that policies can distinguish its writes from the controllers' writes.
	conf := rest.CopyConfig(c.Config)
	conf.Impersonate = rest.ImpersonationConfig{UserName: "budgets-test", Groups: []string{"system:masters", "system:authenticated"}}
	if client, err = kubernetes.NewForConfig(conf); err != nil {
		return fail(err)
	}
	if objects, err = dynamic.NewForConfig(conf); err != nil {
		return fail(err)
	}
	if budgetcheck, err = startBudgetcheck(); err != nil {
		return fail(err)
	}
	defer budgetcheck.stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := createSharedObjects(ctx, c.Config); err != nil {
		return fail(fmt.Errorf("preparing the cluster: %w", err))
	}
	return m.Run()
}
