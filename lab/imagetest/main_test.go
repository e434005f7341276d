//go:build linux

package imagetest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/rootfs"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	for _, name := range []string{"EVENKEEL_IMAGE", "EVENKEEL_HELM", "EVENKEEL_PROMETHEUS", "EVENKEEL_RELEASE"} {
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "imagetest: set %s, or run `make test-image`\n", name)
			os.Exit(1)
		}
	}
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "imagetest: chroot and mounts need the rights of root; run `sudo make test-image`")
		os.Exit(1)
	}
	os.Exit(testbed.Main(m, "test-image", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		return seed.CreateNodes(ctx, c.Client, 3, 1)
	}))
}

// newContainer returns a container of the image for this machine.
func newContainer(t *testing.T) *rootfs.Container {
	t.Helper()
	image, root := unpack(t, runtime.GOARCH)
	return &rootfs.Container{Config: image.Config, Root: root, Mounts: map[string]string{}}
}
