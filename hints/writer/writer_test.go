package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var nodes = schema.GroupResource{Resource: "nodes"}

// server is a fake API server that checks resource versions.
type server struct {
	*fake.Clientset
	t       *testing.T
	mu      sync.Mutex
	patches int
	// before is called before each patch is applied.
	before      func(patch int)
	rejectWrite error
}

func newServer(t *testing.T, names ...string) *server {
	t.Helper()
	var list []runtime.Object
	for _, name := range names {
		list = append(list, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}})
	}
	s := &server{Clientset: fake.NewClientset(list...), t: t, before: func(int) {}}
	s.PrependReactor("patch", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		p := a.(clienttesting.PatchAction)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.patches++
		s.before(s.patches)
		if s.rejectWrite != nil {
			return true, nil, s.rejectWrite
		}
		var doc corev1.Node
		if err := json.Unmarshal(p.GetPatch(), &doc); err != nil {
			t.Error(err)
		}
		if now := s.node(p.GetName()); doc.ResourceVersion == "" || doc.ResourceVersion != now.ResourceVersion {
			return true, nil, apierrors.NewConflict(nodes, p.GetName(), errors.New("the object has been modified"))
		}
		return false, nil, nil
	})
	// Every write assigns a new resourceVersion.
	s.PrependReactor("update", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		n := a.(clienttesting.UpdateAction).GetObject().(*corev1.Node)
		v, _ := strconv.Atoi(n.ResourceVersion)
		n.ResourceVersion = strconv.Itoa(v + 1)
		return false, nil, nil
	})
	return s
}

func (s *server) node(name string) *corev1.Node {
	o, err := s.Tracker().Get(corev1.SchemeGroupVersion.WithResource("nodes"), "", name)
	if err != nil {
		return nil
	}
	return o.(*corev1.Node)
}

// addTaint adds a taint as another client would.
func (s *server) addTaint(name, key string) {
	s.t.Helper()
	s.edit(name, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	})
}

func (s *server) edit(name string, f func(*corev1.Node)) {
	s.t.Helper()
	n := s.node(name).DeepCopy()
	f(n)
	v, _ := strconv.Atoi(n.ResourceVersion)
	n.ResourceVersion = strconv.Itoa(v + 1)
	if err := s.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), n, ""); err != nil {
		s.t.Error(err)
	}
}

func taintKeys(n *corev1.Node) (out []string) {
	for _, t := range n.Spec.Taints {
		out = append(out, t.Key)
	}
	slices.Sort(out)
	return out
}

var expires = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newHints(kind hints.Kind, names ...string) (out []hints.Hint) {
	for _, n := range names {
		out = append(out, hints.Hint{Node: n, Kind: kind, Run: "r1", Expires: expires})
	}
	return out
}

func anyHint(hints.Hint) bool { return true }

// Another client adds a taint between the read and the write of Put, and between those of Remove.
func TestForeignTaintsSurviveConcurrentWrites(t *testing.T) {
	s := newServer(t, "n1")
	s.before = func(n int) {
		if n == 1 || n == 3 {
			s.addTaint("n1", fmt.Sprintf("other-%d", n))
		}
	}
	w := New(s, clock.RealClock{}, s.node)
	must.Succeed(t, w.Put(t.Context(), newHints(hints.Taint, "n1")))
	if got := taintKeys(s.node("n1")); !slices.Equal(got, []string{hints.Key, "other-1"}) || s.patches != 2 {
		t.Errorf("got taints %v after %d writes", got, s.patches)
	}
	if taken, err := w.Remove(t.Context(), []string{"n1"}, anyHint); err != nil || !slices.Equal(taken, []string{"n1"}) {
		t.Errorf("%v, %v", taken, err)
	}
	n := s.node("n1")
	if got := taintKeys(n); !slices.Equal(got, []string{"other-1", "other-3"}) || s.patches != 4 || len(n.Annotations) != 0 {
		t.Errorf("got taints %v, annotations %v after %d writes", got, n.Annotations, s.patches)
	}
}

// An existing hint is not written again. Remove writes nothing if the hint is missing or does not match.
func TestNothingIsWrittenTwice(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		s := newServer(t, "n1", "n2")
		w := New(s, clock.RealClock{}, s.node)
		for range 2 {
			must.Succeed(t, w.Put(t.Context(), newHints(kind, "n1", "n2")))
		}
		if list, err := w.List(t.Context()); err != nil || !slices.Equal(list, newHints(kind, "n1", "n2")) || s.patches != 2 {
			t.Errorf("got %v, error %v after %d writes", list, err, s.patches)
		}
		taken, err := w.Remove(t.Context(), []string{"n1", "n2", "gone"}, func(h hints.Hint) bool { return h.Node == "n2" })
		if err != nil || !slices.Equal(taken, []string{"n2"}) || s.patches != 3 {
			t.Errorf("got %v, error %v after %d writes", taken, err, s.patches)
		}
		if n := s.node("n2"); hints.HasTaint(n) || hints.HasLabel(n) || len(n.Annotations) != 0 {
			t.Errorf("n2 still has taints %v, labels %v, annotations %v", n.Spec.Taints, n.Labels, n.Annotations)
		}
	}
}

// If another client always writes first, Put gives up after six attempts.
func TestTriesAreBounded(t *testing.T) {
	s := newServer(t, "n1")
	s.before = func(n int) { s.addTaint("n1", fmt.Sprint("other-", n)) }
	err := New(s, clock.RealClock{}, nil).Put(t.Context(), newHints(hints.Taint, "n1"))
	if err == nil || !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "hinting node n1: gave up after 6 tries") || s.patches != 6 {
		t.Errorf("got error %v after %d writes", err, s.patches)
	}
}

// A missing permission or a deleted node is not retried.
func TestWhatCannotGetBetterIsNotTriedAgain(t *testing.T) {
	s := newServer(t, "n1")
	s.rejectWrite = apierrors.NewForbidden(nodes, "n1", errors.New("no"))
	w := New(s, clock.RealClock{}, nil)
	if err := w.Put(t.Context(), newHints(hints.Taint, "n1")); !apierrors.IsForbidden(err) || s.patches != 1 {
		t.Errorf("got error %v after %d writes", err, s.patches)
	}
	if err := w.Put(t.Context(), newHints(hints.Taint, "n9")); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	s.edit("n1", func(n *corev1.Node) { n.Labels = map[string]string{hints.Key: "by-hand"} })
	if err := w.Put(t.Context(), newHints(hints.Label, "n1")); !errors.Is(err, errNotHintable) || s.patches != 1 {
		t.Errorf("got error %v after %d writes", err, s.patches)
	}
}

// Put fails if the watch never shows the hint.
func TestPutWaitsForTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "n1")
		shown := 0
		late := func(name string) *corev1.Node {
			if shown++; shown < 5 {
				return &corev1.Node{}
			}
			return s.node(name)
		}
		if err := New(s, clock.RealClock{}, late).Put(t.Context(), newHints(hints.Taint, "n1")); err != nil || shown < 5 {
			t.Errorf("got error %v after %d reads of the watch", err, shown)
		}
		never := func(string) *corev1.Node { return &corev1.Node{} }
		start := time.Now()
		if err := New(s, clock.RealClock{}, never).Put(t.Context(), newHints(hints.Taint, "n1")); !errors.Is(err, ErrNotObserved) ||
			time.Since(start) != observeTimeout {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// After the context has ended, no node gets a hint.
func TestAnEndedContextBeginsNoWrite(t *testing.T) {
	s := newServer(t, "n1", "n2")
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(int) { cancel() }
	if err := New(s, clock.RealClock{}, nil).Put(ctx, newHints(hints.Taint, "n1")); err == nil || s.patches != 1 {
		t.Errorf("got error %v after %d writes", err, s.patches)
	}
	if err := New(s, clock.RealClock{}, nil).Put(ctx, newHints(hints.Taint, "n2")); !errors.Is(err, context.Canceled) || s.patches != 1 {
		t.Errorf("got error %v after %d writes", err, s.patches)
	}
}

// A node that cannot be written does not stop the removal of other hints.
func TestOneBadNodeDoesNotKeepTheOthers(t *testing.T) {
	s := newServer(t, "n1", "n2", "n3")
	w := New(s, clock.RealClock{}, nil)
	must.Succeed(t, w.Put(t.Context(), newHints(hints.Taint, "n1", "n2", "n3")))
	s.PrependReactor("get", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		name := a.(clienttesting.GetAction).GetName()
		return name == "n1", nil, apierrors.NewForbidden(nodes, name, errors.New("no"))
	})
	taken, err := w.Remove(t.Context(), []string{"n1", "n2", "n3"}, anyHint)
	if !apierrors.IsForbidden(err) || !slices.Equal(taken, []string{"n2", "n3"}) {
		t.Errorf("%v, %v", taken, err)
	}
}

// Remove writes all nodes before it waits for the watch, and it waits only once.
func TestALaggingWatchLeavesNoHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprintf("n%02d", i))
		}
		s := newServer(t, names...)
		must.Succeed(t, New(s, clock.RealClock{}, nil).Put(t.Context(), newHints(hints.Taint, names...)))
		stale := map[string]*corev1.Node{}
		for _, name := range names {
			stale[name] = s.node(name).DeepCopy()
		}
		w := New(s, clock.RealClock{}, func(name string) *corev1.Node { return stale[name] })
		start := time.Now()
		taken, err := w.Remove(t.Context(), names, anyHint)
		took := time.Since(start)
		left, _ := w.List(t.Context())
		if err != nil || !slices.Equal(taken, names) || len(left) > 0 || took != observeTimeout {
			t.Errorf("got error %v after %s, removed %v, %d hints remain", err, took, taken, len(left))
		}
	})
}

// If the time is over, the error names each node that was not written.
func TestWhatIsLeftIsNamed(t *testing.T) {
	s := newServer(t, "n1", "n2")
	w := New(s, clock.RealClock{}, nil)
	must.Succeed(t, w.Put(t.Context(), newHints(hints.Taint, "n1", "n2")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	taken, err := w.Remove(ctx, []string{"n1", "n2"}, anyHint)
	if len(taken) > 0 || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "node n1") ||
		!strings.Contains(err.Error(), "node n2") {
		t.Errorf("%v, %v", taken, err)
	}
}

// A taint of another owner stays next to a label that we put and remove through the API.
func TestAForeignTaintOutlivesALabel(t *testing.T) {
	s := newServer(t, "n1")
	s.edit("n1", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{hints.NewTaint()} })
	w := New(s, clock.RealClock{}, s.node)
	if err := w.Put(t.Context(), newHints(hints.Label, "n1")); err != nil || !hints.HasLabel(s.node("n1")) {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), []string{"n1"}, anyHint); err != nil {
		t.Fatal(err)
	}
	if n := s.node("n1"); !hints.HasTaint(n) || hints.HasLabel(n) || len(n.Annotations) != 0 {
		t.Errorf("got taints %v, labels %v, annotations %v", n.Spec.Taints, n.Labels, n.Annotations)
	}
}

// If another owner has already set the same taint or label, Put writes nothing.
func TestAHintByHandServesToo(t *testing.T) {
	for kind, byHand := range map[hints.Kind]func(*corev1.Node){
		hints.Taint: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{hints.NewTaint()} },
		hints.Label: func(n *corev1.Node) { n.Labels = map[string]string{hints.Key: hints.Value} },
	} {
		s := newServer(t, "n1")
		s.edit("n1", byHand)
		if err := New(s, clock.RealClock{}, s.node).Put(t.Context(), newHints(kind, "n1")); err != nil || s.patches != 0 {
			t.Errorf("%s: got error %v after %d writes", kind, err, s.patches)
		}
	}
}
