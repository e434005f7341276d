package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
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
	return c.spawn(ctx, "kwok", []string{path, "--kubeconfig=" + c.Kubeconfig, "--config=" + c.path("stages.yaml"),
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=" + NodeAnnotation + "=fake",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.ports.kwok)})
}

// KwokPort is where kwok serves what a kubelet would, and the list of all that it
// serves for Prometheus (/discovery/prometheus).
func (c *Cluster) KwokPort() int { return c.ports.kwok }
