package observe

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"
)

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
