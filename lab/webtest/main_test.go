package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

var (
	// lab is the control plane that all tests of this package share.
	lab *controlplane.Cluster
	// browser is the context of the browser that all tests share.
	browser context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	path, err := exec.LookPath(os.Getenv("EVENKEEL_BROWSER"))
	if err != nil {
		fmt.Printf("all tests are skipped: EVENKEEL_BROWSER names no browser (%v); `make test-web` installs Debian's as root\n", err)
		return 0
	}
	// The browser's sandbox is off, because root cannot use it. The browser opens our own pages only.
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	browser, stop = chromedp.NewContext(allocator)
	defer stop()
	return testbed.Main(m, "test-web", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		if err := chromedp.Do(browser); err != nil {
			return fmt.Errorf("starting %s: %w", path, err)
		}
		return seed.CreateNodes(ctx, c.Client, 3, 1)
	})
}
