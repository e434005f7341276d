package window

import "math"

// ring holds the newest values, oldest first from head on.
type ring[T any] struct {
	buf  []T
	head int
}

// push adds a value; the oldest goes where there are limit already.
func (r *ring[T]) push(v T, limit int) {
	if len(r.buf) >= limit {
		r.buf[r.head] = v
		r.head = (r.head + 1) % len(r.buf)
		return
	}
	if len(r.buf) == cap(r.buf) { // append alone would reserve more than is ever used
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

// first is the oldest of at least one.
func (r *ring[T]) first() T { return r.buf[r.head%len(r.buf)] }

// each goes through the values, oldest first.
func (r *ring[T]) each(f func(T)) {
	for i := range r.buf {
		f(r.buf[(r.head+i)%len(r.buf)])
	}
}

// series are the values of a resource of a node.
type series struct {
	ring[nodeSample]
	// sample is the number of the one that brought the newest.
	sample uint32
}

// nodeSample is a value of a node, at in Unix milliseconds.
type nodeSample struct{ at, v int64 }

// podSample is what a pod used: 12 bytes, for there are many pods. at is in tenths of
// seconds since the base, milliCPU as it is, and memory in pages of 4 KiB, in which
// kernels count it: up to 16 TiB.
type podSample struct{ at, milliCPU, pages uint32 }

const (
	pageBytes = 4096
	unknown   = math.MaxUint32
)

// pod is what is kept of one.
type pod struct {
	namespace, name, uid, node string
	used                       ring[podSample]
	// sample is the number of the last that measured it.
	sample uint32
	// left: it stands there no more. What it used is still in its node's window.
	left bool
}

// add takes a measurement in, unless it is the one before.
func (p *pod) add(at uint32, used map[string]int64, limit int) {
	if last, ok := p.used.last(); ok && at <= last.at {
		return
	}
	c := podSample{at, unknown, unknown}
	if v, ok := used["cpu"]; ok {
		c.milliCPU = packUnits(v, 1)
	}
	if v, ok := used["memory"]; ok {
		c.pages = packUnits(v, pageBytes)
	}
	if c.milliCPU != unknown || c.pages != unknown {
		p.used.push(c, limit)
	}
}

// packUnits counts in units, rounded up. What is less than nothing is unknown.
func packUnits(v, unit int64) uint32 {
	if v < 0 {
		return unknown
	}
	return uint32(min((v+unit-1)/unit, unknown-1))
}
