package guides

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const namespace = "evenkeel"

// pod is the installed program as a local process, with the files of its ConfigMap and the account of its pods.
type pod struct {
	dir, url string
	output   lockedBuffer
	stop     func() // ends the process; further calls do nothing
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// startPod starts the program of the release evenkeel. Until the test ends, its files follow the ConfigMap, as the
// kubelet makes them do.
func startPod(t *testing.T) *pod {
	t.Helper()
	kubeconfig, err := lab.ServiceAccountKubeconfig(t.Context(), namespace, "evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	l, err := freeport.Listen()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := &pod{dir: t.TempDir(), url: "http://" + l.Addr().String()}
	p.copyFiles(t.Context(), t)
	cmd := exec.Command(testbed.Evenkeel, "run", "--config", filepath.Join(p.dir, "config.yaml"), "--kubeconfig", kubeconfig,
		"--bind-address", l.Addr().String())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "POD_NAMESPACE=" + namespace, "POD_NAME=evenkeel-local"}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var kubelet sync.WaitGroup
	kubelet.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				p.copyFiles(ctx, t)
			}
		}
	})
	p.stop = sync.OnceFunc(func() {
		stop()
		kubelet.Wait()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("the program ended before the test: %v", err)
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("evenkeel run:\n%s", p.output.String())
		}
	})
	t.Cleanup(p.stop)
	return p
}

// copyFiles writes the files of the ConfigMap that changed.
func (p *pod) copyFiles(ctx context.Context, t *testing.T) {
	cm, err := lab.Client.CoreV1().ConfigMaps(namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("reading the ConfigMap of the release: %v", err)
		}
		return
	}
	for name, text := range cm.Data {
		path := filepath.Join(p.dir, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
}

// eventually waits until the condition is true, at most three minutes.
func eventually(t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	if err := seed.WaitUntil(t.Context(), 3*time.Minute, is); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
