// Package heap limits the memory that the Go runtime uses. It changes only settings of the runtime.
package heap

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
)

const (
	// planningHeadroom and headroom are how many bytes the heap may grow between two garbage collections: while a plan
	// of more than fewMoves is made, and otherwise. A plan without limits for 5,000 nodes allocates as much as
	// planningHeadroom, most of which is garbage soon. A smaller plan, and the evictions afterwards, take a low peak
	// rather than few collections.
	planningHeadroom, headroom = 400 << 20, 48 << 20
	fewMoves                   = 1000
	// maxPercent and minPercent limit GOGC, so that a small heap stays small, and a huge one is not always collected.
	maxPercent, minPercent = 100, 15
	// memoryLimitFraction is the share of the container's memory limit that the Go runtime may use. The remaining
	// share covers memory that the Go runtime does not count, such as the pages of the executable.
	memoryLimitFraction = 0.9
)

// cgroupLimitFiles contain the memory limit of the container in bytes, for cgroup v2 and for cgroup v1.
var cgroupLimitFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// Tune limits the growth of the heap between two garbage collections. Near the memory limit of the container, Go
// collects garbage more often, so the kernel does not kill the program. The environment variables GOGC and GOMEMLIMIT
// take precedence. The result ends the adaptation of GOGC.
func Tune(getenv func(string) string, readFile func(string) ([]byte, error)) (stop func()) {
	if getenv("GOGC") == "" {
		process.start()
	}
	if getenv("GOMEMLIMIT") == "" {
		if limit := containerLimit(readFile); limit < math.MaxInt64 {
			debug.SetMemoryLimit(limit)
		}
	}
	return process.stop
}

// Planning tells that the program makes a plan of at most so many moves until it calls the result. Without Tune, it
// does nothing. If plans overlap, the first that ends ends it for all.
func Planning(moves int) (ended func()) {
	if moves <= fewMoves {
		return func() {}
	}
	process.allow(planningHeadroom)
	return func() { process.allow(headroom) }
}

// process sets GOGC after each garbage collection.
var process adaptation

type adaptation struct {
	mu       sync.Mutex
	active   bool
	headroom uint64
}

func (a *adaptation) allow(headroom uint64) {
	a.mu.Lock()
	a.headroom = headroom
	a.mu.Unlock()
	a.set()
}

func (a *adaptation) start() {
	a.mu.Lock()
	a.active, a.headroom = true, headroom
	a.mu.Unlock()
	a.set()
	a.repeat()
}

func (a *adaptation) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active = false
}

// repeat sets GOGC after the next garbage collection, which finds an object without references, and repeats.
func (a *adaptation) repeat() {
	runtime.AddCleanup(new(*byte), func(a *adaptation) {
		if a.set() {
			a.repeat()
		}
	}, a)
}

// set sets GOGC for the live heap that the last garbage collection found. It returns false if Tune has not started
// the adaptation, or if it has ended.
func (a *adaptation) set() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.active {
		return false
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	debug.SetGCPercent(percentFor(sample[0].Value.Uint64(), a.headroom))
	return true
}

// percentFor returns the GOGC with which a heap grows by a number of bytes, within the limits.
func percentFor(live, growth uint64) int {
	return int(min(max(growth*100/max(live, 1), minPercent), maxPercent))
}

// containerLimit returns memoryLimitFraction of the container's memory limit in bytes. It returns math.MaxInt64 if
// there is no limit, or if the limit is unreadable.
func containerLimit(readFile func(string) ([]byte, error)) int64 {
	for _, name := range cgroupLimitFiles {
		text, err := readFile(name)
		if err != nil {
			continue
		}
		// If there is no limit, cgroup v2 contains "max", and cgroup v1 contains a number near 2^63.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < 1<<60 {
			return int64(float64(n) * memoryLimitFraction)
		}
	}
	return math.MaxInt64
}
