//go:build linux

package rootfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Container is an unpacked image with what a pod adds to it. It has the network of this machine.
type Container struct {
	Config
	Root string // the folder of Unpack
	// Mounts are folders of this machine by their paths in the container. They are read-only.
	Mounts map[string]string
}

// Command returns the command that runs the image's entrypoint with arguments, and with the image's and
// further environment variables. Start starts it.
func (c *Container) Command(args, env []string) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.Config.Config.Entrypoint[0], Args: append(append([]string{}, c.Config.Config.Entrypoint...), args...)}
	cmd.Env, cmd.Dir = append(append([]string{}, c.Config.Config.Env...), env...), c.Config.Config.WorkingDir
	return cmd
}

// Start starts a command of Command in the root file system: read-only, as the user of the image, without
// capabilities and without a way to gain them. It needs the rights of root. Its mounts end with the process.
func (c *Container) Start(cmd *exec.Cmd) error {
	user, err := c.user()
	if err != nil {
		return err
	}
	for target := range c.Mounts { // a container runtime makes them, too
		if err := os.MkdirAll(filepath.Join(c.Root, target), 0o755); err != nil {
			return err
		}
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and no unlock: the thread ends with its mount namespace
		err := c.isolateThread()
		if err == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.Root, Credential: user}
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// user returns the user and the group of the image, which must be numbers, because a kubelet
// checks runAsNonRoot by the number.
func (c *Container) user() (*syscall.Credential, error) {
	uid, gid, found := strings.Cut(c.Config.Config.User, ":")
	u, err1 := strconv.ParseUint(uid, 10, 32)
	g, err2 := strconv.ParseUint(gid, 10, 32)
	if err := errors.Join(err1, err2); !found || err != nil || u == 0 {
		return nil, fmt.Errorf("user %q of the image: want UID:GID, not 0", c.Config.Config.User)
	}
	return &syscall.Credential{Uid: uint32(u), Gid: uint32(g)}, nil
}

// isolateThread gives the thread a mount namespace with the container's mounts, which the process that it
// starts inherits, and takes all capabilities from the programs that this process executes.
func (c *Container) isolateThread() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace of its own (are you root?): %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount(c.Root, c.Root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting the root file system: %w", err)
	}
	for target, source := range c.Mounts {
		if err := mountReadOnly(source, filepath.Join(c.Root, target)); err != nil {
			return err
		}
	}
	if err := remountReadOnly(c.Root); err != nil {
		return err
	}
	return dropCapabilities()
}

func mountReadOnly(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", source, err)
	}
	return remountReadOnly(target)
}

// remountReadOnly makes a bind mount read-only and checks that nothing can be written in it, by root either.
func remountReadOnly(target string) error {
	const flags = unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("", target, "", flags, ""); err != nil {
		return fmt.Errorf("making %s read-only: %w", target, err)
	}
	if err := os.WriteFile(filepath.Join(target, "probe"), nil, 0o600); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("writing into %s: error %v, want a read-only file system", target, err)
	}
	return nil
}

// dropCapabilities empties the bounding set of the thread and forbids new privileges. The process that the thread
// starts keeps both.
func dropCapabilities() error {
	for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("dropping capability %d: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	return nil
}
