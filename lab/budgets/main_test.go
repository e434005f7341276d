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
)

var (
	cases    = flag.Int("cases", 0, "how many random cases; 0: 2000, or 150 with -short")
	seedFlag = flag.Uint64("seed", 0, "seed of the random cases; 0: a new one, or 1 with -short")
	only     = flag.Int("only", -1, "run this one case of the seed")
	told     = flag.Int("told", 8, "how many wrong answers of each kind to tell in full")
	workers  = flag.Int("workers", 48, "cases that evict at the same time")
)

// The world: one control plane, and a program that answers for planner/eligibility/budget.
var (
	client  kubernetes.Interface
	objects dynamic.Interface
	book    *child
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run starts a control plane in which nobody acts but the disruption controller
// and the test: owners create and adopt nothing, missing ones are not cleaned up
// after, and a pod's status stays as the test wrote it. So a case is what its
// seed says, and any difference between two answers is one of arithmetic.
func run(m *testing.M) int {
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
	// A name of our own tells the test's writes from the controllers'.
	conf := rest.CopyConfig(c.Config)
	conf.Impersonate = rest.ImpersonationConfig{UserName: "budgets-test", Groups: []string{"system:masters", "system:authenticated"}}
	if client, err = kubernetes.NewForConfig(conf); err != nil {
		return fail(err)
	}
	if objects, err = dynamic.NewForConfig(conf); err != nil {
		return fail(err)
	}
	if book, err = startChild(); err != nil {
		return fail(err)
	}
	defer book.stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := furnish(ctx, c.Config); err != nil {
		return fail(fmt.Errorf("preparing the cluster: %w", err))
	}
	return m.Run()
}
