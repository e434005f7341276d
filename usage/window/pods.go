package window

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

func (w *Windows) addPods(s usage.Sample, place func(string) (PodPlace, bool)) {
	limit := w.opts.maxSamples(w.opts.Window)
	for key, r := range s.Pods {
		if r.At.IsZero() || r.At.After(s.Taken.Add(cluster.MaxClockSkew)) {
			continue
		}
		p := w.pods[key]
		at, here := place(key)
		if !here || r.At.Before(at.Created) || p != nil && p.uid != at.UID && r.At.Add(-s.PodDelay).Before(at.Created) {
			continue // the pod is gone, or the measurement may be of an earlier pod of that name
		}
		if p == nil || p.uid != at.UID || p.node != at.Node {
			p = w.startPod(p, key, at)
		}
		p.add(w.podClock.tenths(r.At), r.Used, limit)
		p.sample = w.sampleCount
	}
	w.removeExpiredPods(place)
}

// startPod starts the samples of a pod. startPod marks an earlier pod of that name, or the same pod on another
// node, as left.
func (w *Windows) startPod(before *pod, key string, at PodPlace) *pod {
	key = strings.Clone(key) // the key may share memory with a whole answer
	if before != nil {
		before.left = true
		w.pods[key+" "+before.uid+" "+before.node] = before
	}
	namespace, name, _ := strings.Cut(key, "/")
	p := &pod{namespace: namespace, name: name, uid: at.UID, node: at.Node}
	w.pods[key], w.sortedPods = p, nil
	return p
}

// removeExpiredPods drops pods that have not been measured for a long time. removeExpiredPods marks a pod as left
// if the last sample lacks it and it is no longer on its node.
func (w *Windows) removeExpiredPods(place func(string) (PodPlace, bool)) {
	oldest := w.podClock.tenths(w.lastSampleTime.Add(-max(w.opts.Window, w.opts.MaxAge)))
	for key, p := range w.pods {
		if p.isEmpty() || p.newest < oldest {
			delete(w.pods, key)
			w.sortedPods = nil
			continue
		}
		if !p.left && p.sample != w.sampleCount {
			at, here := place(key)
			p.left = !here || at.UID != p.uid || at.Node != p.node
		}
	}
}

// podsInOrder returns the pods sorted by namespace and name.
func (w *Windows) podsInOrder() []*pod {
	if w.sortedPods == nil {
		w.sortedPods = slices.SortedFunc(maps.Values(w.pods), func(a, b *pod) int {
			return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.uid, b.uid),
				strings.Compare(a.node, b.node))
		})
	}
	return w.sortedPods
}

// maxResourceLag limits how much older than the newest sample of a pod a resource of it may be, in tenths of a second.
const maxResourceLag = 600

func (w *Windows) podUsage(now time.Time) []cluster.PodUsage {
	pods := w.podsInOrder()
	out := make([]cluster.PodUsage, 0, len(pods))
	expired, oldest := w.podClock.tenths(now.Add(-w.opts.MaxAge)), w.podClock.tenths(w.lastSampleTime.Add(-w.opts.Window))
	latest := w.podClock.tenths(now.Add(cluster.MaxClockSkew))
	var values podValues
	for _, p := range pods {
		if p.isEmpty() || p.newest > latest || p.newest < expired && !(p.left && p.newest > oldest) {
			continue
		}
		used := make(map[string]int64, 2+len(p.ratios))
		if last, ok := p.used.last(); ok && p.newest-last.at <= maxResourceLag {
			values.read(p, oldest, last.at)
			if len(values.cpu) > 0 && last.milliCPU != unknown {
				used["cpu"] = w.opts.Statistic.compute(values.cpu)
			}
			if len(values.pages) > 0 && last.pages != unknown {
				used["memory"] = w.opts.Statistic.compute(values.pages) * pageBytes
			}
		}
		for name, of := range p.ratios {
			if last, ok := of.last(); ok && p.newest-last.at <= maxResourceLag {
				used[name] = w.opts.Statistic.compute(ratiosWithin(of, oldest, last.at))
			}
		}
		out = append(out, cluster.PodUsage{Namespace: p.namespace, Name: p.name, UID: p.uid, Node: p.node, At: w.podClock.time(p.newest),
			Used: used})
	}
	return out
}

// podValues holds the values of cpu and memory of one pod. Its memory is used again for the next pod.
type podValues struct{ cpu, pages []int64 }

// read reads the values after the time oldest, and those at the time last.
func (v *podValues) read(p *pod, oldest, last uint32) {
	v.cpu, v.pages = v.cpu[:0], v.pages[:0]
	p.used.each(func(c podSample) {
		if c.at <= oldest && c.at != last {
			return
		}
		if c.milliCPU != unknown {
			v.cpu = append(v.cpu, int64(c.milliCPU))
		}
		if c.pages != unknown {
			v.pages = append(v.pages, int64(c.pages))
		}
	})
}

// ratiosWithin returns the values after the time oldest, and the one at the time last.
func ratiosWithin(of *ring[podRatio], oldest, last uint32) (values []int64) {
	of.each(func(c podRatio) {
		if c.at > oldest || c.at == last {
			values = append(values, int64(c.millionths))
		}
	})
	return values
}
