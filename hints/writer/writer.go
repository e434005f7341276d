// Package writer puts hints on nodes through the API, takes them away and lists
// them.
//
// It decides how a node is written: only on change, only our own key, with the
// version that was read as a precondition, so that nobody's taint is lost. It
// never decides which node is hinted.
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
)

const (
	// callTimeout bounds every call: none of a deposed leader is under way when the
	// next one starts.
	callTimeout = 4 * time.Second
	// maxAttempts bounds the writes of one node; each starts from a fresh read.
	maxAttempts = 6
	// minBackoff is waited after the first try, twice as long after each further.
	minBackoff = 50 * time.Millisecond
	// workers write so many nodes at once.
	workers = 8
	// observeTimeout is how long our own watch may take to show what was written.
	observeTimeout = 5 * time.Second
	pollInterval   = 10 * time.Millisecond
	fieldOwner     = "evenkeel"
)

// Writer writes hints.
type Writer struct {
	client kubernetes.Interface
	clock  clock.WithTicker
	// observed is a node as our own watch shows it; nil: nothing is waited for.
	observed func(name string) *corev1.Node
}

// New returns a writer. With seen, writes are complete when they are seen there:
// the scheduler reads the same watch of the API server.
func New(client kubernetes.Interface, c clock.WithTicker, seen func(name string) *corev1.Node) *Writer {
	return &Writer{client, c, seen}
}

// ErrNotObserved: a hint was written, but the watch does not show it.
var ErrNotObserved = errors.New("the hint is written, but the watch of nodes does not show it")

// Put puts the hints on their nodes. After an error some of them may stand.
func (w *Writer) Put(ctx context.Context, list []hints.Hint) error {
	return forEach(ctx, list, func(ctx context.Context, h hints.Hint) error {
		if err := w.changeNode(ctx, h.Node, nil, func(n *corev1.Node) (*corev1.Node, error) { return putHint(n, h) }); err != nil {
			return fmt.Errorf("hinting node %s: %w", h.Node, err)
		}
		shown := func() bool {
			n := w.observed(h.Node)
			if got, ours := hints.Of(n); ours {
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
	out, _ := hints.Put(n, h)
	if _, ours := hints.Of(out); !ours && h.Kind == hints.Label && !hints.HasLabel(out) {
		return nil, fmt.Errorf("somebody else's label %s=%s is on it", hints.Key, n.Labels[hints.Key])
	}
	return out, nil
}

// Remove takes our hints off the nodes for which `which` holds, and returns the
// nodes from which one was taken. A node that is gone has none. One that cannot
// be written does not keep the others, and the error names each that is left.
// The watch is waited for once, when all are written: one that lags must not
// keep hints on nodes.
func (w *Writer) Remove(ctx context.Context, nodes []string, which func(hints.Hint) bool) ([]string, error) {
	var mu sync.Mutex
	taken, ended := []string{}, map[string]error{}
	untried := forEach(ctx, nodes, func(ctx context.Context, name string) error {
		wrote, err := w.removeFromNode(ctx, name, which)
		mu.Lock()
		defer mu.Unlock()
		if ended[name] = err; wrote {
			taken = append(taken, name)
		}
		return nil
	})
	slices.Sort(taken)
	shown := func(name string) bool {
		n := w.observed(name)
		if n == nil {
			return false
		}
		h, ours := hints.Of(n)
		return ours && which(h)
	}
	if w.observed != nil {
		w.waitUntil(ctx, func() bool { return !slices.ContainsFunc(taken, shown) })
	}
	var left []error
	for _, name := range nodes {
		err, tried := ended[name]
		if !tried {
			err = untried
		}
		if err != nil {
			left = append(left, fmt.Errorf("taking the hint off node %s: %w", name, err))
		}
	}
	return taken, errors.Join(left...)
}

// removeFromNode is Take for one node. It reports whether there was a hint to take.
func (w *Writer) removeFromNode(ctx context.Context, name string, which func(hints.Hint) bool) (bool, error) {
	wrote := false
	err := w.changeNode(ctx, name, nil, func(n *corev1.Node) (*corev1.Node, error) {
		h, ours := hints.Of(n)
		if wrote = ours && which(h); !wrote {
			return n, nil
		}
		out, _ := hints.Remove(n)
		return out, nil
	})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return wrote && err == nil, err
}

// changeNode reads a node, edits it and writes the difference, anew from the read
// when somebody else wrote in between or the answer was lost. A node that was seen
// already is not read for the first try.
func (w *Writer) changeNode(ctx context.Context, name string, seen *corev1.Node, edit func(*corev1.Node) (*corev1.Node, error)) error {
	pause := minBackoff
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := w.tryOnce(ctx, name, seen, edit)
		seen = nil
		if err == nil || !isRetryable(err) {
			return err
		}
		if try == maxAttempts {
			return fmt.Errorf("after %d tries: %w", maxAttempts, err)
		}
		if !w.sleep(ctx, pause) {
			return ctx.Err()
		}
		pause *= 2
	}
}

// isRetryable reports whether another try may go better. An answer that is not the
// API's own, such as a lost connection, leaves open what became of the write;
// the next read tells.
func isRetryable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.Is(err, errNotHintable)
	}
	code := status.Status().Code
	return apierrors.IsConflict(err) || code == 429 || code >= 500
}

var errNotHintable = errors.New("it cannot be hinted")

// tryOnce is one try. Its own deadline, not the end of ctx, ends the calls: one
// given up half way could still take effect after the hints were taken away.
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
		if !w.clock.Now().Before(until) || !w.sleep(ctx, pollInterval) {
			return false
		}
	}
	return true
}

func (w *Writer) sleep(ctx context.Context, d time.Duration) bool {
	t := w.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C():
		return true
	}
}

// forEach calls f for every item, a few at a time. It begins no more after the
// first error, and returns that when those under way have ended.
func forEach[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
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
