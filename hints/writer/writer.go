// Package writer puts hints on nodes through the API server, removes them and lists them.
//
// The package writes a node only if the node changes, and only keys of Evenkeel. The
// resourceVersion that was read is a precondition of the write, so that no taint of another client
// is lost. The package never decides which node gets a hint.
package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/wait"
)

const (
	// callTimeout bounds every call, so that no call of an old leader is in progress when the next leader starts.
	callTimeout = 4 * time.Second
	// maxAttempts bounds the writes of one node. Each attempt starts with a new read.
	maxAttempts = 6
	// minBackoff is the delay after the first attempt. Each further delay is twice as long.
	minBackoff = 50 * time.Millisecond
	// workers is the number of nodes that are written concurrently.
	workers = 8
	// observeTimeout is how long the writer waits until its own watch shows a write.
	observeTimeout = 5 * time.Second
	pollInterval   = 10 * time.Millisecond
	fieldOwner     = "evenkeel"
)

// Writer writes hints.
type Writer struct {
	client kubernetes.Interface
	clock  clock.WithTicker
	// observed returns a node as the watch of this process shows it. If observed is nil, Writer
	// does not wait for the watch.
	observed func(name string) *corev1.Node
}

// New returns a writer. If observed is not nil, the writer waits until observed shows each write, because
// the scheduler watches the same API server.
func New(client kubernetes.Interface, c clock.WithTicker, observed func(name string) *corev1.Node) *Writer {
	return &Writer{client, c, observed}
}

// ErrNotObserved means that a hint was written but the watch does not show it.
var ErrNotObserved = errors.New("the hint is written, but the watch of nodes does not show it")

// Put puts the hints on their nodes. After an error, some of the hints may be on their nodes.
func (w *Writer) Put(ctx context.Context, list []hints.Hint) error {
	return forEachConcurrently(ctx, list, func(ctx context.Context, h hints.Hint) error {
		if err := w.changeNode(ctx, h.Node, nil, func(n *corev1.Node) (*corev1.Node, error) { return putHint(n, h) }); err != nil {
			return fmt.Errorf("hinting node %s: %w", h.Node, err)
		}
		shown := func() bool {
			n := w.observed(h.Node)
			if got, ours := hints.FromNode(n); ours {
				return got.Kind == h.Kind && got.Run == h.Run
			}
			return h.Kind == hints.Taint && hints.HasTaint(n) || h.Kind == hints.Label && hints.HasLabel(n)
		}
		if w.observed != nil && !w.waitUntil(ctx, func() bool { return w.observed(h.Node) != nil && shown() }) {
			return fmt.Errorf("hinting node %s: %w", h.Node, ErrNotObserved)
		}
		return nil
	})
}

func putHint(n *corev1.Node, h hints.Hint) (*corev1.Node, error) {
	out, _ := hints.WithHint(n, h)
	if _, ours := hints.FromNode(out); !ours && h.Kind == hints.Label && !hints.HasLabel(out) {
		return nil, fmt.Errorf("the node has the label %s=%s of another owner", hints.Key, n.Labels[hints.Key])
	}
	return out, nil
}

// Remove removes the hints of Evenkeel that match, and returns the nodes that had such a hint. A node that does not
// exist has no hint. A node that cannot be written does not stop the others; the error names each such node. Remove
// waits for the watch once, after all writes, so that a slow watch does not delay the removal.
func (w *Writer) Remove(ctx context.Context, nodes []string, which func(hints.Hint) bool) ([]string, error) {
	edits := make([]Edit, len(nodes))
	for i, name := range nodes {
		edits[i] = Edit{Node: name, Change: func(n *corev1.Node) *corev1.Node {
			if h, ours := hints.FromNode(n); !ours || !which(h) {
				return n
			}
			out, _ := hints.Remove(n)
			return out
		}}
	}
	removed, failed := []string{}, []error{}
	for _, r := range w.Edit(ctx, edits) {
		if r.Written {
			removed = append(removed, r.Node)
		}
		if r.Err != nil {
			failed = append(failed, fmt.Errorf("removing the hint from node %s: %w", r.Node, r.Err))
		}
	}
	shown := func(name string) bool {
		n := w.observed(name)
		if n == nil {
			return false
		}
		h, ours := hints.FromNode(n)
		return ours && which(h)
	}
	if w.observed != nil {
		w.waitUntil(ctx, func() bool { return !slices.ContainsFunc(removed, shown) })
	}
	return removed, errors.Join(failed...)
}

// changeNode reads a node, edits it and writes the difference. changeNode starts again with a read after a conflict or
// a lost answer. If observed is not nil, the first attempt uses it instead of a read.
func (w *Writer) changeNode(ctx context.Context, name string, observed *corev1.Node, edit func(*corev1.Node) (*corev1.Node, error)) error {
	pause := minBackoff
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := w.tryOnce(ctx, name, observed, edit)
		observed = nil
		if err == nil || !isRetryable(err) {
			return err
		}
		if try == maxAttempts {
			return fmt.Errorf("gave up after %d tries: %w", maxAttempts, err)
		}
		if !wait.Sleep(ctx, w.clock, pause) {
			return ctx.Err()
		}
		pause *= 2
	}
}

// isRetryable reports whether another attempt may succeed. An error that is not an answer of the API server, such as a
// lost connection, leaves the outcome of the write open; the next read shows it.
func isRetryable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.Is(err, errNotHintable)
	}
	code := status.Status().Code
	return apierrors.IsConflict(err) || code == 429 || code >= 500
}

var errNotHintable = errors.New("it cannot be hinted")

// tryOnce is one attempt. The calls end by their own timeout and not with ctx: a cancelled call
// could still take effect after the hints were removed.
func (w *Writer) tryOnce(ctx context.Context, name string, n *corev1.Node, edit func(*corev1.Node) (*corev1.Node, error)) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	api := w.client.CoreV1().Nodes()
	if n == nil {
		var err error
		if n, err = api.Get(call, name, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	want, err := edit(n)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotHintable, err)
	}
	if want == n {
		return nil
	}
	body, err := mergePatch(n, want)
	if err != nil {
		return err
	}
	_, err = api.Patch(call, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: fieldOwner})
	return err
}

func (w *Writer) waitUntil(ctx context.Context, shown func() bool) bool {
	until := w.clock.Now().Add(observeTimeout)
	for !shown() {
		if !w.clock.Now().Before(until) || !wait.Sleep(ctx, w.clock, pollInterval) {
			return false
		}
	}
	return true
}

// forEachConcurrently calls f for every item, with a few calls at a time. After the first error it
// begins no further call. forEachConcurrently returns that error once the running calls have ended.
func forEachConcurrently[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	stopped, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan T)
	var wg sync.WaitGroup
	for range min(workers, len(items)) {
		wg.Go(func() {
			for x := range queue {
				if err := f(ctx, x); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, x := range items {
		select {
		case queue <- x:
		case <-stopped.Done():
		}
	}
	close(queue)
	wg.Wait()
	return context.Cause(stopped)
}
