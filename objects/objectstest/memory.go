// Package objectstest keeps the objects of evenkeel.io in memory, for tests. Like an API server, it refuses a write
// with an old resource version, changes either the status or the rest of an object, and counts generations.
package objectstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
)

// Server is the memory that several clients share.
type Server struct {
	Clock clock.PassiveClock
	// Fail returns the error of a call before it has any effect, or nil. After is like Fail, but after the effect, as
	// when the answer is lost.
	Fail, After func(verb, resource, name string) error
	// Definitions is the document with the schemas of the kinds. Those of this version are the default.
	Definitions []byte

	mu      sync.Mutex
	version int
	watches map[string][]*watch.FakeWatcher // by resource
	Calls   map[string]int                  // by verb and resource
}

// New returns a client of an empty server in namespace evenkeel.
func New(on clock.PassiveClock) (*objects.Client, *Server) {
	s := &Server{Clock: on, Calls: map[string]int{}, Definitions: Definitions()}
	plans := newKind("rebalanceplans", s, func(items []*v1alpha1.RebalancePlan) *v1alpha1.RebalancePlanList {
		return &v1alpha1.RebalancePlanList{Items: values(items)}
	})
	return &objects.Client{Namespace: "evenkeel",
		Plans: plans,
		PlanVersions: func(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
			page, err := plans.List(ctx, opts)
			if err != nil {
				return nil, err
			}
			out := &metav1.PartialObjectMetadataList{ListMeta: page.ListMeta}
			for i := range page.Items {
				out.Items = append(out.Items, metav1.PartialObjectMetadata{ObjectMeta: page.Items[i].ObjectMeta})
			}
			return out, nil
		},
		Rebalancers: newKind("rebalancers", s, func(items []*v1alpha1.Rebalancer) *v1alpha1.RebalancerList {
			return &v1alpha1.RebalancerList{Items: values(items)}
		}),
		Runs: newKind("rebalanceruns", s, func(items []*v1alpha1.RebalanceRun) *v1alpha1.RebalanceRunList {
			return &v1alpha1.RebalanceRunList{Items: values(items)}
		}),
		Histories: newKind("rebalancehistories", s, func(items []*v1alpha1.RebalanceHistory) *v1alpha1.RebalanceHistoryList {
			return &v1alpha1.RebalanceHistoryList{Items: values(items)}
		}),
		Definitions: s.definitions,
		Watch:       s.watch,
	}, s
}

// watchBuffer is the number of changes that a watcher may leave unread.
const watchBuffer = 1000

// watch implements objects.Client.Watch.
func (s *Server) watch(_ context.Context, resource string) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Calls["watch "+resource]++
	if s.Fail != nil {
		if err := s.Fail("watch", resource, ""); err != nil {
			return nil, err
		}
	}
	w := watch.NewFakeWithChanSize(watchBuffer, false)
	if s.watches == nil {
		s.watches = map[string][]*watch.FakeWatcher{}
	}
	s.watches[resource] = append(s.watches[resource], w)
	return w, nil
}

// definitions implements objects.Client.Definitions.
func (s *Server) definitions(context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Calls["get definitions"]++
	return s.Definitions, nil
}

func values[T any](in []*T) []T {
	var out []T
	for _, o := range in {
		out = append(out, *v1alpha1.DeepCopy(o))
	}
	return out
}

func newKind[T, L any, P interface {
	*T
	metav1.Object
}](resource string, s *Server, list func([]*T) *L) *kind[T, L, P] {
	return &kind[T, L, P]{resource: resource, server: s, list: list, stored: map[string]*T{}}
}

type kind[T, L any, P interface {
	*T
	metav1.Object
}] struct {
	resource string
	server   *Server
	list     func([]*T) *L
	stored   map[string]*T
}

func (k *kind[T, L, P]) group() schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: k.resource}
}

// call runs one call between the errors of the server.
func (k *kind[T, L, P]) call(verb, name string, do func() (*T, error)) (*T, error) {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Calls[verb+" "+k.resource]++
	if s.Fail != nil {
		if err := s.Fail(verb, k.resource, name); err != nil {
			return nil, err
		}
	}
	o, err := do()
	if err == nil && s.After != nil {
		err = s.After(verb, k.resource, name)
	}
	if err != nil {
		return nil, err
	}
	return v1alpha1.DeepCopy(o), nil
}

// Create implements objects.Kind.
func (k *kind[T, L, P]) Create(_ context.Context, o *T, _ metav1.CreateOptions) (*T, error) {
	name := P(o).GetName()
	return k.call("create", name, func() (*T, error) {
		c := v1alpha1.DeepCopy(o)
		if name == "" {
			name = P(o).GetGenerateName() + strconv.Itoa(k.server.version+1)
			P(c).SetName(name)
		}
		if k.stored[name] != nil {
			return nil, apierrors.NewAlreadyExists(k.group(), name)
		}
		setField(c, "Status", reflect.Value{})
		P(c).SetNamespace("evenkeel")
		P(c).SetGeneration(1)
		P(c).SetCreationTimestamp(metav1.NewTime(k.server.Clock.Now().Truncate(time.Second)))
		k.put(c)
		P(c).SetUID(types.UID(fmt.Sprintf("uid-%s-%s", name, P(c).GetResourceVersion())))
		return c, nil
	})
}

func (k *kind[T, L, P]) put(o *T) {
	k.server.version++
	P(o).SetResourceVersion(strconv.Itoa(k.server.version))
	k.stored[P(o).GetName()] = o
	for _, w := range k.server.watches[k.resource] {
		w.Modify(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: P(o).GetName()}})
	}
}

// setField sets a field, to zero without a value, if the object has the field.
func setField(o any, name string, to reflect.Value) {
	f := reflect.ValueOf(o).Elem().FieldByName(name)
	if !f.IsValid() {
		return
	}
	if !to.IsValid() {
		to = reflect.Zero(f.Type())
	}
	f.Set(to)
}

func (k *kind[T, L, P]) write(verb string, o *T, status bool) (*T, error) {
	name := P(o).GetName()
	return k.call(verb, name, func() (*T, error) { return k.replace(o, status) })
}

func (k *kind[T, L, P]) replace(o *T, status bool) (*T, error) {
	name := P(o).GetName()
	before := k.stored[name]
	switch {
	case before == nil:
		return nil, apierrors.NewNotFound(k.group(), name)
	case P(o).GetResourceVersion() != "" && P(o).GetResourceVersion() != P(before).GetResourceVersion():
		return nil, apierrors.NewConflict(k.group(), name, errors.New("the object has been modified"))
	}
	c := v1alpha1.DeepCopy(before)
	if status {
		setField(c, "Status", reflect.ValueOf(v1alpha1.DeepCopy(o)).Elem().FieldByName("Status"))
	} else {
		c = v1alpha1.DeepCopy(o)
		setField(c, "Status", reflect.ValueOf(v1alpha1.DeepCopy(before)).Elem().FieldByName("Status"))
		P(c).SetUID(P(before).GetUID())
		P(c).SetGeneration(P(before).GetGeneration())
		for _, f := range []string{"Spec", "Decision"} {
			if a, b := field(before, f), field(c, f); !reflect.DeepEqual(a, b) {
				P(c).SetGeneration(P(before).GetGeneration() + 1)
			}
		}
	}
	k.put(c)
	return c, nil
}

func field(o any, name string) any {
	if f := reflect.ValueOf(o).Elem().FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

// Update implements objects.Kind.
func (k *kind[T, L, P]) Update(_ context.Context, o *T, _ metav1.UpdateOptions) (*T, error) {
	return k.write("update", o, false)
}

// UpdateStatus implements objects.Kind.
func (k *kind[T, L, P]) UpdateStatus(_ context.Context, o *T, _ metav1.UpdateOptions) (*T, error) {
	return k.write("update/status", o, true)
}

// Delete implements objects.Kind.
func (k *kind[T, L, P]) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := k.call("delete", name, func() (*T, error) {
		o := k.stored[name]
		switch p := opts.Preconditions; {
		case o == nil:
			return nil, apierrors.NewNotFound(k.group(), name)
		case p != nil && p.UID != nil && *p.UID != P(o).GetUID(),
			p != nil && p.ResourceVersion != nil && *p.ResourceVersion != P(o).GetResourceVersion():
			return nil, apierrors.NewConflict(k.group(), name, errors.New("precondition"))
		}
		delete(k.stored, name)
		return o, nil
	})
	return err
}

// Get implements objects.Kind.
func (k *kind[T, L, P]) Get(_ context.Context, name string, _ metav1.GetOptions) (*T, error) {
	return k.call("get", name, func() (*T, error) {
		if o := k.stored[name]; o != nil {
			return o, nil
		}
		return nil, apierrors.NewNotFound(k.group(), name)
	})
}

// List implements objects.Kind.
func (k *kind[T, L, P]) List(_ context.Context, opts metav1.ListOptions) (*L, error) {
	var out *L
	_, err := k.call("list", "", func() (*T, error) {
		all := slices.SortedFunc(maps.Values(k.stored), func(a, b *T) int { return cmp.Compare(P(a).GetName(), P(b).GetName()) })
		all = slices.DeleteFunc(all, func(o *T) bool { return P(o).GetName() <= opts.Continue || !isSelected(o, opts.FieldSelector) })
		next := ""
		if n := int(opts.Limit); n > 0 && len(all) > n {
			all, next = all[:n], P(all[n-1]).GetName()
		}
		out = k.list(all)
		any(out).(metav1.ListInterface).SetContinue(next)
		return new(T), nil
	})
	return out, err
}

// isSelected reports whether the fields of an object, such as status.phase, have the values of a selector.
func isSelected(o any, selector string) bool {
	values := fields.Set{}
	parsed := fields.ParseSelectorOrDie(selector)
	for _, r := range parsed.Requirements() {
		v := reflect.ValueOf(o).Elem()
		for name := range strings.SplitSeq(r.Field, ".") {
			v = v.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, name) })
		}
		values[r.Field] = fmt.Sprint(v.Interface())
	}
	return parsed.Matches(values)
}
