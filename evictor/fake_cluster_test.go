package evictor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/plan"
)

// fakeCluster simulates pods and the Eviction API. An evicted pod disappears, and a replacement may appear.
type fakeCluster struct {
	mu            sync.Mutex
	pods          map[string]*corev1.Pod
	changed       chan struct{}
	evictRequests int
	answer        error
	// takesEffect: the eviction takes effect even if the answer is an error.
	takesEffect bool
	// createReplacement is the node of the replacement, or "" for no replacement.
	createReplacement string
	notReady          bool
	// pending: the replacement is created but not bound to a node.
	pending bool
	// stays: the eviction is accepted, but the pod never ends.
	stays bool
	// onGet is called before the nth read of a pod, counting from 1, unless it is nil. If onGet
	// returns an error, the read fails with that error.
	onGet func(n int) error
	reads int
	// deletions are the options of each request to delete a pod.
	deletions []*metav1.DeleteOptions
	// reviews counts access reviews, and reviewed is the last one. mayNotEvict is their answer, and
	// reviewErr their error.
	reviews     int
	reviewed    plan.Removal
	mayNotEvict bool
	reviewErr   error
	// onList is called before the nth list, counting from 1, unless it is nil. If onList returns an
	// error, the list fails with that error.
	onList func(n int) error
	lists  int
	// onEvict is called for each eviction request, unless it is nil.
	onEvict func()
}

func newFakeCluster(pods ...*corev1.Pod) *fakeCluster {
	w := &fakeCluster{pods: map[string]*corev1.Pod{}, changed: make(chan struct{})}
	for _, p := range pods {
		w.pods[p.Name] = p
	}
	return w
}

func testPod(name, uid, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid),
		Labels: map[string]string{"app": "d"}}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

func (w *fakeCluster) get(_ context.Context, _, name string) (*corev1.Pod, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.onGet != nil {
		if err := w.onGet(w.reads); err != nil {
			return nil, err
		}
	}
	if p := w.pods[name]; p != nil {
		return p.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(pods, name)
}

// list returns one pod per page, in the order of the names.
func (w *fakeCluster) list(_ context.Context, _ string, opts metav1.ListOptions) (*corev1.PodList, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists++
	if w.onList != nil {
		if err := w.onList(w.lists); err != nil {
			return nil, err
		}
	}
	out := &corev1.PodList{}
	selector, err := labels.Parse(opts.LabelSelector)
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		switch p := w.pods[name]; {
		case name <= opts.Continue || !selector.Matches(labels.Set(p.Labels)):
		case len(out.Items) == 1:
			out.Continue = out.Items[0].Name
			return out, nil
		default:
			out.Items = append(out.Items, *p)
		}
	}
	return out, err
}

func (w *fakeCluster) evict(_ context.Context, e *policyv1.Eviction) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evictRequests++
	if w.onEvict != nil {
		w.onEvict()
	}
	if w.answer == nil || w.takesEffect {
		if !w.stays {
			delete(w.pods, e.Name)
		}
		if w.createReplacement != "" || w.pending {
			p := testPod(e.Name+"-new", "new-"+e.Name, w.createReplacement)
			if w.notReady {
				p.Status.Conditions = nil
			}
			w.pods[p.Name] = p
		}
		close(w.changed)
		w.changed = make(chan struct{})
	}
	return w.answer
}

// delete deletes the pod unless it has changed, or unless an answer is set. Nothing replaces the pod.
func (w *fakeCluster) delete(_ context.Context, _, name string, opts *metav1.DeleteOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deletions = append(w.deletions, opts)
	p := w.pods[name]
	switch {
	case w.answer != nil:
		return w.answer
	case p == nil:
		return apierrors.NewNotFound(pods, name)
	case *opts.Preconditions.UID != p.UID || *opts.Preconditions.ResourceVersion != p.ResourceVersion:
		return apierrors.NewConflict(pods, name, errors.New("the precondition does not match"))
	}
	if !w.stays {
		delete(w.pods, name)
	}
	close(w.changed)
	w.changed = make(chan struct{})
	return nil
}

func (w *fakeCluster) mayRemove(_ context.Context, _ string, how plan.Removal) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reviews++
	w.reviewed = how
	return !w.mayNotEvict, w.reviewErr
}

// add creates a pod.
func (w *fakeCluster) add(p *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[p.Name] = p
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *fakeCluster) Pods(string) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*corev1.Pod
	for _, p := range w.pods {
		out = append(out, p)
	}
	return out
}

func (w *fakeCluster) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}
