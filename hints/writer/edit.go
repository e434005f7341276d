package writer

import (
	"context"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Edit is a change to one node.
type Edit struct {
	Node string
	// Observed is the node as a watch shows it, so that the first attempt needs no read. If
	// Observed is outdated, the API server refuses the write and the writer reads the node. If
	// Observed is nil, the writer reads the node first.
	Observed *corev1.Node
	// Change returns the changed node, or n itself to leave it unchanged. It may be called again
	// with a newer node.
	Change func(n *corev1.Node) *corev1.Node
}

// Result is the outcome of an edit.
type Result struct {
	Node string
	// Written is false if there was nothing to change or the node does not exist.
	Written bool
	Err     error
}

// Edit executes the edits and returns a result for each, sorted by node. A failed edit does not
// stop the others. After ctx has ended, no further edit begins.
func (w *Writer) Edit(ctx context.Context, list []Edit) []Result {
	var mu sync.Mutex
	done := map[string]Result{}
	untried := forEachConcurrently(ctx, list, func(ctx context.Context, e Edit) error {
		r := w.editNode(ctx, e)
		mu.Lock()
		defer mu.Unlock()
		done[e.Node] = r
		return nil
	})
	out := make([]Result, 0, len(list))
	for _, e := range list {
		r, tried := done[e.Node]
		if !tried {
			r = Result{Node: e.Node, Err: untried}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Result) int { return strings.Compare(a.Node, b.Node) })
	return out
}

func (w *Writer) editNode(ctx context.Context, e Edit) Result {
	wrote := false
	err := w.changeNode(ctx, e.Node, e.Observed, func(n *corev1.Node) (*corev1.Node, error) {
		out := e.Change(n)
		wrote = out != n
		return out, nil
	})
	if apierrors.IsNotFound(err) {
		return Result{Node: e.Node}
	}
	return Result{Node: e.Node, Written: wrote && err == nil, Err: err}
}
