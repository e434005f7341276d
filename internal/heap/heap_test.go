package heap

import (
	"io/fs"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestTune checks that Tune sets GOGC and applies the memory limit of the container, unless environment
// variables set them.
func TestTune(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	runtime.GC() // frees what other tests used
	before := debug.SetGCPercent(30)
	t.Cleanup(func() { debug.SetGCPercent(before); debug.SetMemoryLimit(math.MaxInt64) })
	for name, c := range map[string]struct {
		env     map[string]string
		files   map[string]string
		percent int
		limit   int64
	}{
		"a container of 1 GiB":           {files: map[string]string{v2: "1073741824\n"}, percent: maxPercent, limit: 966367641},
		"cgroup v1":                      {files: map[string]string{v1: "1000000000\n"}, percent: maxPercent, limit: 900000000},
		"no limit":                       {files: map[string]string{v2: "max\n"}, percent: maxPercent, limit: math.MaxInt64},
		"no limit, cgroup v1":            {files: map[string]string{v1: "9223372036854771712\n"}, percent: maxPercent, limit: math.MaxInt64},
		"no container":                   {percent: maxPercent, limit: math.MaxInt64},
		"invalid":                        {files: map[string]string{v2: "-5", v1: "many"}, percent: maxPercent, limit: math.MaxInt64},
		"GOGC is set":                    {env: map[string]string{"GOGC": "200"}, files: map[string]string{v2: "1000"}, percent: 30, limit: 900},
		"GOMEMLIMIT is set":              {env: map[string]string{"GOMEMLIMIT": "1GiB"}, files: map[string]string{v2: "1000"}, percent: maxPercent, limit: math.MaxInt64},
		"GOGC is off, with a GOMEMLIMIT": {env: map[string]string{"GOGC": "off", "GOMEMLIMIT": "1GiB"}, percent: 30, limit: math.MaxInt64},
	} {
		debug.SetGCPercent(30)
		debug.SetMemoryLimit(math.MaxInt64)
		stop := Tune(func(k string) string { return c.env[k] }, func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		})
		stop()
		if percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); percent != c.percent || limit != c.limit {
			t.Errorf("%s: GOGC %d, limit %d; want %d, %d", name, percent, limit, c.percent, c.limit)
		}
	}
}

// TestPercent checks that the heap may grow by a constant number of bytes, within limits.
func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 10 << 20: 100, 128 << 20: 50, 256 << 20: 25, 4 << 30: 15} {
		if got := percentFor(live, 64<<20); got != want {
			t.Errorf("%d MB are live: GOGC %d, want %d", live>>20, got, want)
		}
	}
}

// TestGrowingHeap checks that GOGC follows the live heap over several garbage collections, and that only a large plan
// raises it.
func TestGrowingHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Cleanup(Tune(func(string) string { return "" }, func(string) ([]byte, error) { return nil, fs.ErrNotExist }))
	var kept [][]byte
	grow := func(mb, lowest, highest int) {
		kept = append(kept, make([]byte, mb<<20))
		for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
			runtime.GC()
			got := gogc()
			if lowest <= got && got <= highest {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("GOGC is %d, want %d to %d", got, lowest, highest)
			}
		}
	}
	grow(150, 28, 34)
	grow(100, 17, 21)
	ended := Planning(fewMoves)
	if got := gogc(); got > 21 {
		t.Errorf("GOGC is %d while a small plan is made", got)
	}
	ended()
	ended = Planning(fewMoves + 1)
	if got := gogc(); got < 80 {
		t.Errorf("GOGC is %d while a plan is made, want at least 80", got)
	}
	if ended(); gogc() > 21 {
		t.Errorf("GOGC is %d after a plan", gogc())
	}
	runtime.KeepAlive(kept)
}

func gogc() int {
	got := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(got)
	return int(got[0].Value.Uint64())
}

// TestPlanningWithoutTune checks that Planning changes nothing in a program that did not call Tune.
func TestPlanningWithoutTune(t *testing.T) {
	before := debug.SetGCPercent(70)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	ended := Planning(math.MaxInt)
	if during := gogc(); during != 70 {
		t.Errorf("GOGC is %d", during)
	}
	if ended(); gogc() != 70 {
		t.Errorf("GOGC is %d afterwards", gogc())
	}
}
