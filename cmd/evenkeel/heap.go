package main

import (
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// gcPercent is the value of GOGC if the environment does not set it: the heap may grow by this many percent between
	// two garbage collections. Go's default is 100. With 5,000 nodes and 100,000 pods, 50 lowers the peak memory from
	// 690 MB to 550 MB. It costs 40 % more CPU time for reading the cluster, and 10 % more for a pass.
	gcPercent = 50
	// memoryLimitFraction is the share of the container's memory that Go may use. The rest is for memory that Go does not
	// count, such as the pages of the program itself.
	memoryLimitFraction = 0.9
)

// cgroupLimitFiles contain the memory limit of the container in bytes, for cgroup v2 and v1.
var cgroupLimitFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// tuneHeap lowers the memory of the program at the cost of some CPU time. Near the container's limit, Go then collects
// garbage more often, and the kernel does not kill the program. The variables GOGC and GOMEMLIMIT override tuneHeap.
func tuneHeap(getenv func(string) string, readFile func(string) ([]byte, error)) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := containerLimit(readFile); limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
}

// containerLimit returns memoryLimitFraction of the container's memory limit in bytes, or math.MaxInt64 if there is no
// limit or it cannot be read.
func containerLimit(readFile func(string) ([]byte, error)) int64 {
	for _, name := range cgroupLimitFiles {
		text, err := readFile(name)
		if err != nil {
			continue
		}
		// Without a limit, cgroup v2 has "max" and cgroup v1 a number near 2^63.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < 1<<60 {
			return int64(float64(n) * memoryLimitFraction)
		}
	}
	return math.MaxInt64
}
