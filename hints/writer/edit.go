package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/hints"
)

// Edit is a change to one node.
type Edit struct {
	Node string
	// Observed is the node as a watch shows it, so that the first attempt needs no read. If Observed is outdated, the
	// API server refuses the write and the writer reads the node. If Observed is nil, the writer reads the node first.
	Observed *corev1.Node
	// Change returns the changed node, or n itself to leave it unchanged. It may be called again with a newer node.
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

// mergePatch returns a JSON merge patch for the labels, annotations and taints that differ. The patch contains the
// resourceVersion that was read, so that the API server answers with a conflict if the node has changed since. The
// patch replaces the list of taints as a whole, and omits unchanged taints.
func mergePatch(was, now *corev1.Node) ([]byte, error) {
	meta := map[string]any{"resourceVersion": was.ResourceVersion}
	for field, diff := range map[string]map[string]any{
		"annotations": diffMap(was.Annotations, now.Annotations),
		"labels":      diffMap(was.Labels, now.Labels),
	} {
		if len(diff) > 0 {
			meta[field] = diff
		}
	}
	doc := map[string]any{"metadata": meta}
	if !slices.EqualFunc(was.Spec.Taints, now.Spec.Taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }) {
		doc["spec"] = map[string]any{"taints": now.Spec.Taints}
	}
	return json.Marshal(doc)
}

// diffMap returns the keys to set, and the keys to remove with a nil value.
func diffMap(was, now map[string]string) map[string]any {
	diff := map[string]any{}
	for key := range was {
		if _, stays := now[key]; !stays {
			diff[key] = nil
		}
	}
	for key, value := range now {
		if old, stood := was[key]; !stood || old != value {
			diff[key] = value
		}
	}
	return diff
}

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
