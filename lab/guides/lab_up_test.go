package guides

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// startLab runs `lab up` until the test ends, and returns the kubeconfig that it prints. It ends the lab as Ctrl-C
// does, and checks that the lab ends without an error and removes its files.
func startLab(t *testing.T) (kubeconfig string) {
	t.Helper()
	printed := must.Get(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	cmd := exec.Command(os.Getenv("EVENKEEL_LAB"), "up", "-evenkeel", testbed.Evenkeel, "-kwok", os.Getenv("EVENKEEL_KWOK"))
	cmd.Stderr = printed
	must.Succeed(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := <-ended; err != nil {
			t.Errorf("lab up: %v", err)
		}
		if _, err := os.Stat(kubeconfig); kubeconfig != "" && !os.IsNotExist(err) {
			t.Errorf("lab up left %s: %v", kubeconfig, err)
		}
		if text, err := os.ReadFile(printed.Name()); t.Failed() {
			t.Logf("lab up printed (%v):\n%s", err, text)
		}
	})
	eventually(t, "lab up prints a KUBECONFIG", func() (bool, error) {
		select {
		case err := <-ended:
			ended <- err
			return false, fmt.Errorf("lab up ended: %w", err)
		default:
		}
		text, err := os.ReadFile(printed.Name())
		if m := regexp.MustCompile(`(?m)^ *export KUBECONFIG=(.+)$`).FindSubmatch(text); m != nil {
			kubeconfig = string(m[1])
		}
		return kubeconfig != "", err
	})
	return kubeconfig
}
