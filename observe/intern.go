package observe

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"weak"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// internCache makes objects of one controller share equal parts in memory. The decoder gives each
// pod its own copy of the pod template. Stored objects are read-only, so sharing is safe.
type internCache struct {
	pods ownerCache[corev1.Pod, *corev1.Pod]
	sets ownerCache[appsv1.ReplicaSet, *appsv1.ReplicaSet]
	resourceListPool
	imagePool
}

func newInternCache() *internCache {
	return &internCache{
		pods: ownerCache[corev1.Pod, *corev1.Pod]{byOwner: map[types.UID]*internEntry[corev1.Pod]{}, copyShared: sharePodFields},
		sets: ownerCache[appsv1.ReplicaSet, *appsv1.ReplicaSet]{byOwner: map[types.UID]*internEntry[appsv1.ReplicaSet]{},
			copyShared: shareReplicaSetFields},
		resourceListPool: resourceListPool{lists: lru.New(poolSize)},
		imagePool:        imagePool{lru.New(poolSize)},
	}
}

// internEntry holds two objects of a controller, whose parts later objects share. The second is
// needed if the first is deleted. The pointers are weak, so the cache does not keep deleted
// objects alive.
type internEntry[T any] [2]weak.Pointer[T]

// ownerCache maps the UID of each controller to its intern entry.
type ownerCache[T any, P interface {
	*T
	metav1.Object
}] struct {
	mu         sync.Mutex
	byOwner    map[types.UID]*internEntry[T]
	sweepAt    int
	copyShared func(from, to P)
}

func (c *ownerCache[T, P]) intern(p P) {
	controller := metav1.GetControllerOfNoCopy(p)
	if controller == nil || controller.UID == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeDead()
	e := c.byOwner[controller.UID]
	if e == nil {
		e = &internEntry[T]{}
		c.byOwner[controller.UID] = e
	}
	free := -1
	for i := range e {
		switch entry := P(e[i].Value()); {
		case entry == p: // the object is already an entry
			return
		case entry == nil:
			free = i
		default:
			c.copyShared(entry, p)
			if entry.GetDeletionTimestamp() != nil || entry.GetUID() == p.GetUID() {
				free = i
			}
		}
	}
	if free >= 0 && p.GetDeletionTimestamp() == nil {
		e[free] = weak.Make((*T)(p))
	}
}

// removeDead removes the entries of controllers whose objects were deleted. It does so each time
// the number of controllers has doubled.
func (c *ownerCache[T, P]) removeDead() {
	if len(c.byOwner) < max(c.sweepAt, 1024) {
		return
	}
	maps.DeleteFunc(c.byOwner, func(_ types.UID, e *internEntry[T]) bool { return e[0].Value() == nil && e[1].Value() == nil })
	c.sweepAt = 2 * len(c.byOwner)
}

// shareEqual makes *to use the memory of from if both are equal.
func shareEqual[T any](from T, to *T) {
	if reflect.DeepEqual(from, *to) {
		*to = from
	}
}

// shareEqualFields makes each field of *to use the memory of the same field of *from if both are
// equal.
func shareEqualFields[T any](from, to *T) {
	source, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for i := range target.NumField() {
		f, t := source.Field(i), target.Field(i)
		if !t.IsZero() && reflect.DeepEqual(f.Interface(), t.Interface()) {
			t.Set(f)
		}
	}
}

func sharePodFields(from, to *corev1.Pod) {
	shareEqualFields(&from.ObjectMeta, &to.ObjectMeta)
	shareEqualFields(&from.Spec, &to.Spec)
	shareEqualFields(&from.Status, &to.Status)
}

func shareReplicaSetFields(from, to *appsv1.ReplicaSet) {
	shareEqualFields(&from.ObjectMeta, &to.ObjectMeta)
	shareEqualFields(&from.Spec.Template.Spec, &to.Spec.Template.Spec)
}

// poolSize limits how many values a pool remembers. A cluster has several hundred distinct
// resource lists and several thousand images. 4,096 resource lists take 3 MB.
const poolSize = 4096

// resourceListPool makes equal resource lists share memory. A list of two resources takes 700
// bytes, and a pod has five lists.
type resourceListPool struct {
	lists *lru.Cache // corev1.ResourceList by key

	mu    sync.Mutex // guards the buffers below
	names []string
	key   []byte
}

// intern replaces each list by a shared list whose quantities are written in the same way.
func (p *resourceListPool) intern(lists ...*corev1.ResourceList) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range lists {
		if len(*l) == 0 {
			continue
		}
		p.writeKey(*l)
		key := string(p.key)
		if same, ok := p.lists.Get(key); ok {
			*l = same.(corev1.ResourceList)
		} else {
			p.lists.Add(key, *l)
		}
	}
}

// writeKey builds the key of a list. Only equal lists have equal keys.
func (p *resourceListPool) writeKey(l corev1.ResourceList) {
	p.names, p.key = p.names[:0], p.key[:0]
	for name := range l {
		p.names = append(p.names, string(name))
	}
	slices.Sort(p.names)
	for _, name := range p.names {
		q := l[corev1.ResourceName(name)]
		p.key = append(append(append(p.key, name...), 0), q.Format...)
		p.key = append(append(append(p.key, 0), q.String()...), 0)
	}
}

// imagePool makes nodes share the names of the images that they have.
type imagePool struct {
	names *lru.Cache // all names of an image, by its first name
}

func (p *imagePool) intern(list []corev1.ContainerImage) {
	for i := range list {
		names := list[i].Names
		if len(names) == 0 {
			continue
		}
		if same, ok := p.names.Get(names[0]); !ok {
			p.names.Add(names[0], names)
		} else if slices.Equal(same.([]string), names) { // nodes may know different tags of one image
			list[i].Names = same.([]string)
		}
	}
}
