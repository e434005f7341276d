package heap

import (
	"io/fs"
	"math"
	"runtime/debug"
	"testing"
)

// TestTune checks that Tune lowers GOGC and applies the memory limit of the container, unless environment
// variables set them.
func TestTune(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before); debug.SetMemoryLimit(math.MaxInt64) })
	for name, c := range map[string]struct {
		env     map[string]string
		files   map[string]string
		percent int
		limit   int64
	}{
		"a container of 1 GiB":           {files: map[string]string{v2: "1073741824\n"}, percent: 50, limit: 966367641},
		"cgroup v1":                      {files: map[string]string{v1: "1000000000\n"}, percent: 50, limit: 900000000},
		"no limit":                       {files: map[string]string{v2: "max\n"}, percent: 50, limit: math.MaxInt64},
		"no limit, cgroup v1":            {files: map[string]string{v1: "9223372036854771712\n"}, percent: 50, limit: math.MaxInt64},
		"no container":                   {percent: 50, limit: math.MaxInt64},
		"invalid":                        {files: map[string]string{v2: "-5", v1: "many"}, percent: 50, limit: math.MaxInt64},
		"GOGC is set":                    {env: map[string]string{"GOGC": "200"}, files: map[string]string{v2: "1000"}, percent: 100, limit: 900},
		"GOMEMLIMIT is set":              {env: map[string]string{"GOMEMLIMIT": "1GiB"}, files: map[string]string{v2: "1000"}, percent: 50, limit: math.MaxInt64},
		"GOGC is off, with a GOMEMLIMIT": {env: map[string]string{"GOGC": "off", "GOMEMLIMIT": "1GiB"}, percent: 100, limit: math.MaxInt64},
	} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		Tune(func(k string) string { return c.env[k] }, func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		})
		if percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); percent != c.percent || limit != c.limit {
			t.Errorf("%s: GOGC %d, limit %d; want %d, %d", name, percent, limit, c.percent, c.limit)
		}
	}
}
