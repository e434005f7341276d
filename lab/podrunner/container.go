package podrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/freeport"
)

// A container that ends again and again starts after this time, which doubles up to the maximum. A kubelet begins with
// 10 seconds and ends with 5 minutes.
const firstRestart, maxRestart = time.Second, 30 * time.Second

// container runs one container of a pod as a process, again if the pod's restart policy says so.
type container struct {
	*corev1.Container
	pod      *pod
	executed bool
	ports    map[int32]int32 // ports of the container, and the ports of this machine in their place
	command  command

	// pod.mu protects the rest.
	state, last corev1.ContainerState
	restarts    int32
	ready       bool
	started     bool
}

func newContainer(p *pod, c *corev1.Container) *container {
	out := &container{Container: c, pod: p, executed: controlplane.IsLocal(*c), ports: map[int32]int32{}}
	out.state.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	return out
}

// prepare finds free ports and makes the command.
func (c *container) prepare(ctx context.Context) error {
	for _, p := range c.Ports {
		if c.ports[p.ContainerPort] == 0 {
			free, err := freeport.Get()
			if err != nil {
				return err
			}
			c.ports[p.ContainerPort] = int32(free)
		}
	}
	if err := os.MkdirAll(filepath.Join(c.pod.dir, c.Name, "tmp"), 0o700); err != nil {
		return err
	}
	if !c.executed {
		return nil
	}
	var err error
	c.command, err = c.makeCommand(ctx)
	return err
}

// run runs the container until it has ended for good, or the context or the pod ends.
func (c *container) run(ctx context.Context) {
	out, err := openOutput(c.outputFile())
	if err != nil {
		c.pod.runner.say("pod %s/%s: %v", c.pod.Namespace, c.pod.Name, err)
		return
	}
	defer out.Close()
	out.visible = c.command.visible
	if !c.executed {
		c.pretend(ctx, out)
		return
	}
	for wait := firstRestart; ; wait = min(2*wait, maxRestart) {
		code := c.runOnce(ctx, out)
		switch {
		case ctx.Err() != nil:
			return
		case c.pod.terminating() || !c.restartsAfter(code):
			c.pod.runner.say("pod %s/%s: container %s ended with code %d", c.pod.Namespace, c.pod.Name, c.Name, code)
			return
		}
		c.set(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
			Message: fmt.Sprintf("starts again in %v", wait)}})
		c.pod.writeStatus(ctx)
		select {
		case <-ctx.Done():
			return
		case <-c.pod.term:
			return
		case <-time.After(wait):
		}
		if err := out.rotate(); err != nil {
			c.pod.runner.say("pod %s/%s: %v", c.pod.Namespace, c.pod.Name, err)
		}
		c.pod.mu.Lock()
		c.restarts++
		c.pod.mu.Unlock()
	}
}

func (c *container) restartsAfter(code int) bool {
	policy := c.pod.Spec.RestartPolicy
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}

// pretend reports a container that the lab does not execute as running.
func (c *container) pretend(ctx context.Context, out *output) {
	out.line("stdout", "the lab does not execute image "+c.Image)
	c.setRunning(true)
	c.pod.writeStatus(ctx)
	select {
	case <-ctx.Done():
	case <-c.pod.term:
	}
}

// runOnce runs the process once and returns its exit code.
func (c *container) runOnce(ctx context.Context, out *output) int {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.Command(c.command.path, c.command.args...)
	cmd.Dir, cmd.Env = filepath.Join(c.pod.dir, c.Name), c.command.env
	stdout, stderr := out.stream("stdout"), out.stream("stderr")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death signal is bound to the thread that starts the process
	defer runtime.UnlockOSThread()
	begun := metav1.Now()
	if err := cmd.Start(); err != nil {
		out.line("stderr", err.Error())
		c.terminated(ctx, begun, 128, err.Error())
		return 128
	}
	c.setRunning(c.ReadinessProbe == nil && c.StartupProbe == nil)
	c.pod.writeStatus(ctx)
	exited := make(chan struct{})
	signalled := make(chan struct{})
	go func() {
		defer close(signalled)
		c.endProcess(ctx, cmd.Process, exited)
	}()
	probing := c.startProbes(ctx, func() { stop(errNotAlive) })
	err := cmd.Wait()
	close(exited)
	<-signalled
	cause := context.Cause(ctx)
	stop(nil)
	probing.Wait()
	stdout.flush()
	stderr.flush()
	code, message := exitCode(err), ""
	if errors.Is(cause, errNotAlive) {
		message = cause.Error()
	}
	c.terminated(ctx, begun, code, message)
	return code
}

// endProcess waits until the process has exited, or ends it: with SIGTERM, and after the grace period with SIGKILL. If
// the whole pod is killed, there is no grace period.
func (c *container) endProcess(ctx context.Context, p *os.Process, exited <-chan struct{}) {
	select {
	case <-exited:
		return
	case <-c.pod.term:
	case <-ctx.Done():
		if !errors.Is(context.Cause(ctx), errNotAlive) {
			_ = p.Kill()
			return
		}
	}
	_ = p.Signal(syscall.SIGTERM)
	killed := ctx.Done()
	if ctx.Err() != nil {
		killed = nil // by the liveness probe
	}
	select {
	case <-exited:
	case <-time.After(c.pod.gracePeriod()):
		_ = p.Kill()
	case <-killed:
		_ = p.Kill()
	}
}

// exitCode returns the code that a container runtime reports: for a signal, 128 and its number.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return 128
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
