package observe

import (
	"cmp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// poolSize limits one generation of a pool. A cluster has several hundred distinct resource
// lists and several thousand images. 4,096 resource lists take 3 MB.
const poolSize = 4096

// pool stores values that objects of different controllers have in common, each once. It has
// two generations. When the young one is full, it becomes the old one, and unused old values
// are dropped.
type pool[V any] struct {
	mu         sync.Mutex
	young, old map[string]V
	size       int // of a generation; 0 means poolSize
}

// find returns the value of a key.
func (p *pool[V]) find(key []byte) (V, bool) {
	if v, ok := p.young[string(key)]; ok {
		return v, true
	}
	v, ok := p.old[string(key)]
	if ok {
		p.put(string(key), v)
	}
	return v, ok
}

func (p *pool[V]) put(key string, v V) {
	if p.young == nil || len(p.young) >= cmp.Or(p.size, poolSize) {
		p.old, p.young = p.young, map[string]V{}
	}
	p.young[key] = v
}

// resourceListPool shares equal resource lists. A list is a map, which takes 700 bytes for two
// resources, and a pod has five lists.
type resourceListPool struct {
	lists pool[corev1.ResourceList]
	names []string
	key   []byte
}

// intern replaces each list by a shared list with the same quantities. Quantities are the same
// if they are written the same.
func (a *resourceListPool) intern(lists ...*corev1.ResourceList) {
	a.lists.mu.Lock()
	defer a.lists.mu.Unlock()
	for _, l := range lists {
		if len(*l) == 0 {
			continue
		}
		a.writeKey(*l)
		if same, ok := a.lists.find(a.key); ok {
			*l = same
		} else {
			a.lists.put(string(a.key), *l)
		}
	}
}

// writeKey builds the key of a list. Only equal lists have equal keys.
func (a *resourceListPool) writeKey(l corev1.ResourceList) {
	a.names, a.key = a.names[:0], a.key[:0]
	for name := range l {
		a.names = append(a.names, string(name))
	}
	slices.Sort(a.names)
	for _, name := range a.names {
		q := l[corev1.ResourceName(name)]
		a.key = append(append(append(a.key, name...), 0), q.Format...)
		a.key = append(append(append(a.key, 0), q.String()...), 0)
	}
}

// imagePool shares lists of image names. Every node lists the names of each image that it has.
type imagePool struct{ names pool[[]string] }

func (m *imagePool) intern(list []corev1.ContainerImage) {
	m.names.mu.Lock()
	defer m.names.mu.Unlock()
	for i := range list {
		names := list[i].Names
		if len(names) == 0 {
			continue
		}
		// Nodes may know different tags of the same image.
		same, ok := m.names.find([]byte(names[0]))
		switch {
		case !ok:
			m.names.put(names[0], names)
		case slices.Equal(same, names):
			list[i].Names = same
		}
	}
}
