package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

//go:embed stages.yaml
var stages []byte

// NodeAnnotation marks the nodes that kwok looks after.
const NodeAnnotation = "kwok.x-k8s.io/node"

// runKwok starts kwok as a process of its own: as a library it would end this
// one when something is wrong. It dies with this process.
func (c *Cluster) runKwok(ctx context.Context, path string) error {
	if path == "" {
		return errors.New("no path of the kwok program; build it with `make lab`")
	}
	log, err := os.Create(c.path("kwok.log"))
	if err != nil {
		return err
	}
	cmd := exec.Command(path, "--kubeconfig="+c.Kubeconfig, "--config="+c.path("stages.yaml"),
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector="+NodeAnnotation+"=fake",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.ports.kwok))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	c.running.Go(func() {
		runtime.LockOSThread() // the death signal is tied to the thread that starts the child
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		defer stop()
		if err := cmd.Wait(); ctx.Err() == nil {
			tail, _ := os.ReadFile(c.path("kwok.log"))
			c.failed <- fmt.Errorf("kwok ended: %w\n%s", err, tail[max(0, len(tail)-2000):])
		}
	})
	return <-started
}
