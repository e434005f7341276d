package window

import (
	"math"
	"strings"
	"time"
)

// ring is a ring buffer of the newest values. The oldest value is at head.
type ring[T any] struct {
	buf  []T
	head int
}

// push adds a value. If the ring already holds limit values, push replaces the oldest.
func (r *ring[T]) push(v T, limit int) {
	if len(r.buf) >= limit {
		r.buf[r.head] = v
		r.head = (r.head + 1) % len(r.buf)
		return
	}
	if len(r.buf) == cap(r.buf) { // append would reserve more than is ever used
		grown := make([]T, len(r.buf), min(max(2*len(r.buf), 4), limit))
		copy(grown, r.buf)
		r.buf = grown
	}
	r.buf = append(r.buf, v)
}

func (r *ring[T]) last() (T, bool) {
	if len(r.buf) == 0 {
		var none T
		return none, false
	}
	return r.buf[(r.head+len(r.buf)-1)%len(r.buf)], true
}

// first returns the oldest value. The ring must not be empty.
func (r *ring[T]) first() T { return r.buf[r.head%len(r.buf)] }

// each calls f for the values, oldest first.
func (r *ring[T]) each(f func(T)) {
	for i := range r.buf {
		f(r.buf[(r.head+i)%len(r.buf)])
	}
}

// series holds the values of one resource of a node.
type series struct {
	ring[nodeSample]
	// sample is the number of the sample that added the newest value.
	sample uint32
}

// nodeSample is a value of a node. at is in Unix milliseconds.
type nodeSample struct{ at, v int64 }

// podSample is the usage of a pod. A podSample takes only 12 bytes, because there are many pods. at is in tenths
// of a second since the base of tenthsClock. Memory is in pages of 4 KiB, as kernels count it, up to 16 TiB.
type podSample struct{ at, milliCPU, pages uint32 }

const (
	pageBytes = 4096
	unknown   = math.MaxUint32
)

// podRatio is a ratio of the node that a pod uses of another resource, in millionths. at is as in podSample.
type podRatio struct{ at, millionths uint32 }

// pod holds the samples of a pod on one node.
type pod struct {
	namespace, name, uid, node string
	used                       ring[podSample]
	// ratios holds the samples of resources other than cpu and memory. Nil means that there are none.
	ratios map[string]*ring[podRatio]
	// newest is the time of the newest sample of any resource, in tenths of a second since the base of tenthsClock.
	newest uint32
	// sample is the number of the last sample that measured the pod.
	sample uint32
	// left means that the pod is no longer on the node. The node's window still includes its usage.
	left bool
}

// isEmpty reports whether the pod has no sample.
func (p *pod) isEmpty() bool { return len(p.used.buf) == 0 && len(p.ratios) == 0 }

// add adds a measurement if it is newer than the last.
func (p *pod) add(at uint32, used map[string]int64, limit int) {
	if !p.isEmpty() && at <= p.newest {
		return
	}
	p.addRatios(at, used, limit)
	c := podSample{at, unknown, unknown}
	if v, ok := used["cpu"]; ok {
		c.milliCPU = packUnits(v, 1)
	}
	if v, ok := used["memory"]; ok {
		c.pages = packUnits(v, pageBytes)
	}
	if c.milliCPU != unknown || c.pages != unknown {
		p.used.push(c, limit)
		p.newest = at
	}
}

// addRatios adds the resources other than cpu and memory.
func (p *pod) addRatios(at uint32, used map[string]int64, limit int) {
	for name, v := range used {
		if name == "cpu" || name == "memory" || v < 0 {
			continue
		}
		if p.ratios == nil {
			p.ratios = map[string]*ring[podRatio]{}
		}
		if p.ratios[name] == nil {
			p.ratios[strings.Clone(name)] = &ring[podRatio]{}
		}
		p.ratios[name].push(podRatio{at, packUnits(v, 1)}, limit)
		p.newest = at
	}
}

// packUnits converts a value to units, rounded up. A negative value is unknown.
func packUnits(v, unit int64) uint32 {
	if v < 0 {
		return unknown
	}
	return uint32(min((v+unit-1)/unit, unknown-1))
}

// tenthsClock converts times of pods to tenths of a second since its base. Tenths are precise
// enough to distinguish samples and take half the space.
type tenthsClock struct{ base time.Time }

func (c tenthsClock) tenths(t time.Time) uint32 {
	return uint32(max(t.Sub(c.base)/(100*time.Millisecond), 0))
}

func (c tenthsClock) time(tenths uint32) time.Time {
	return c.base.Add(time.Duration(tenths) * 100 * time.Millisecond).UTC()
}
