//go:build linux

package imagetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/rootfs"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const repository = "../.."

// readmeCommands returns the commands of the first sh block of a section of README.md.
func readmeCommands(t *testing.T, section string) []string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, repository, "README.md"), "\n"+section+"\n")
	if !found {
		t.Fatalf("README.md has no section %q", section)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	_, block, _ := strings.Cut(body, "\n```sh\n")
	block, _, found = strings.Cut(block, "\n```")
	if !found {
		t.Fatalf("section %q has no sh block", section)
	}
	return strings.Split(strings.ReplaceAll(block, "\\\n", ""), "\n")
}

// startRegistry runs an empty registry on this machine and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Getenv("EVENKEEL_RELEASE"), "registry", "-listen", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	return strings.TrimSpace(line)
}

// runCommand runs a command of README.md in the folder of the repository. IMAGE is the name of the image in
// the registry.
func runCommand(t *testing.T, command, image string) {
	t.Helper()
	bin := t.TempDir()
	helm, err := filepath.Abs(os.Getenv("EVENKEEL_HELM"))
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, os.Symlink(helm, filepath.Join(bin, "helm")))
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "IMAGE="+image, "KUBECONFIG="+lab.Kubeconfig)
	out, err := cmd.CombinedOutput()
	t.Logf("$ %s\n%s", command, out)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// installedContainer pulls the image that the installed pods name, as a kubelet does, and unpacks it.
func installedContainer(t *testing.T, image string) *rootfs.Container {
	t.Helper()
	d, err := lab.Client.AppsV1().Deployments(namespace).Get(t.Context(), "evenkeel", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name := d.Spec.Template.Spec.Containers[0].Image
	reference, found := strings.CutPrefix(name, image+":")
	if !found {
		t.Fatalf("the pods have image %s, want %s with a tag", name, image)
	}
	pulled, err := rootfs.FromRegistry(t.Context(), image, reference, "linux", runtime.GOARCH)
	if err != nil {
		t.Fatalf("pulling %s: %v", name, err)
	}
	root := filepath.Join(t.TempDir(), "rootfs")
	must.Succeed(t, os.Mkdir(root, 0o755))
	must.Succeed(t, pulled.Unpack(t.Context(), root))
	return &rootfs.Container{Config: pulled.Config, Root: root, Mounts: map[string]string{}}
}

// oldPods lets passes evict the pods of the test, which are younger than those of a cluster.
var oldPods = []string{"minPodAge: 5m", "minPodAge: 0s"}

func podsPerZone(t *testing.T) string {
	t.Helper()
	zones := must.Get(seed.PodsByZone(t.Context(), lab.Client, "shop", "d"))(t)
	return fmt.Sprintf("%d/%d/%d", zones["zone-1"], zones["zone-2"], zones["zone-3"])
}

// TestReadme runs the three commands of README.md as they are written, with a registry on this machine. After
// the second, a pass of the image that the pods name evicts nothing. After the third, it evens out the zones.
func TestReadme(t *testing.T) {
	commands := readmeCommands(t, "## On your cluster")
	if len(commands) != 3 {
		t.Fatalf("README.md has %d commands, want 3:\n%s", len(commands), strings.Join(commands, "\n"))
	}
	image := startRegistry(t) + "/evenkeel"
	seedThreeZones(t)
	runCommand(t, commands[0], image)
	runCommand(t, commands[1], image)
	t.Cleanup(func() { uninstall(t) })
	if r := runOnce(t, installedContainer(t, image), oldPods...); len(r.Spec.Moves) != 2 || podsPerZone(t) != "1/1/4" {
		t.Errorf("after the installation: %d moves, pods per zone %s; want a dry run with 2 moves; rejections %v",
			len(r.Spec.Moves), podsPerZone(t), r.NotMoved())
	}
	runCommand(t, commands[2], image)
	r := runOnce(t, installedContainer(t, image), oldPods...)
	if got := podsPerZone(t); got != "2/2/2" {
		t.Errorf("pods per zone %s, want 2/2/2; rejections %v", got, r.NotMoved())
	}
}
