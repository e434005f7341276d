package observe

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// poolSize bounds what a pool holds of one generation. A cluster has some hundred
// distinct amounts and some thousand images; 4096 lists of amounts are 3 MB.
const poolSize = 4096

// pool holds values that many objects have, whatever controller they are of, so
// that each is stored once. It forgets what was not asked for while as many others
// as it holds have come: first all that is young grows old, then what is old and
// was not asked for again goes.
type pool[V any] struct {
	mu         sync.Mutex
	young, old map[string]V
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
	if p.young == nil || len(p.young) >= poolSize {
		p.old, p.young = p.young, map[string]V{}
	}
	p.young[key] = v
}

// resourceListPool are lists of resources. A list is a map, which takes 700 bytes for two
// resources, and a pod has five of them.
type resourceListPool struct {
	lists pool[corev1.ResourceList]
	names []string
	key   []byte
}

// intern makes *l the list that all objects with the same amounts have. Amounts are
// the same when they are written the same.
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

// writeKey makes the key of a list: equal for equal lists only.
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

// imagePool are names of images, of which every node that has the image has a list.
type imagePool struct{ names pool[[]string] }

func (m *imagePool) intern(list []corev1.ContainerImage) {
	m.names.mu.Lock()
	defer m.names.mu.Unlock()
	for i := range list {
		names := list[i].Names
		if len(names) == 0 {
			continue
		}
		// Names differ where an image has several tags, of which nodes know some.
		same, ok := m.names.find([]byte(names[0]))
		switch {
		case !ok:
			m.names.put(names[0], names)
		case slices.Equal(same, names):
			list[i].Names = same
		}
	}
}
