package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
)

//go:embed usage.yaml
var usage []byte

// The annotations that set the resource usage of a pod, as quantities. An annotation applies to every container of the
// pod and can change at any time. The default is 1m and 1Mi per container.
const (
	UsageCPU    = "kwok.x-k8s.io/usage-cpu"
	UsageMemory = "kwok.x-k8s.io/usage-memory"
)

//go:embed stages.yaml
var stages []byte

// StopsSlowly is the annotation of pods that terminate only at the end of their grace period. Others take a second.
const StopsSlowly = "lab.evenkeel.io/stops-slowly"

// NodeAnnotation marks the nodes that kwok manages.
const NodeAnnotation = "kwok.x-k8s.io/node"

// runKwok starts kwok as a child process. kwok is not linked as a library, because it would exit this process on an
// error. The child ends with this process.
func (c *Cluster) runKwok(ctx context.Context, path string) error {
	if path == "" {
		return errors.New("the path of the kwok program is empty; build kwok with `make lab`")
	}
	return c.startProcess(ctx, "kwok", []string{path, "--kubeconfig=" + c.Kubeconfig, "--config=" + c.filePath("stages.yaml"),
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=" + NodeAnnotation + "=fake",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.ports.kwok)})
}

// KwokPort returns the port on which kwok serves the kubelet's API and the target list for Prometheus
// (/discovery/prometheus).
func (c *Cluster) KwokPort() int { return c.ports.kwok }
