package writer

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/hints"
)

// List reads all nodes and returns the hints on them, in the order of the nodes.
func (w *Writer) List(ctx context.Context) ([]hints.Hint, error) {
	nodes, err := w.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	out := []hints.Hint{}
	for i := range nodes {
		if h, ours := hints.FromNode(&nodes[i]); ours {
			out = append(out, h)
		}
	}
	return out, nil
}

// Nodes reads all nodes from the API server.
func (w *Writer) Nodes(ctx context.Context) ([]corev1.Node, error) {
	var out []corev1.Node
	opts := metav1.ListOptions{Limit: 500}
	for {
		page, err := w.client.CoreV1().Nodes().List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("listing nodes: %w", err)
		}
		out = append(out, page.Items...)
		if opts.Continue = page.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}
