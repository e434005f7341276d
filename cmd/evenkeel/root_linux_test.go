package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inRoot has a command see dir as the whole file system.
func inRoot(cmd *exec.Cmd, dir string) error {
	if os.Getuid() != 0 {
		return errors.New("only root may change the root directory")
	}
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: dir}
	return nil
}
