// Package cputime measures the CPU time of the current process for tests and benchmarks. Other
// programs on the same machine affect it less than elapsed time.
//
// Only tests use it. It sets no limits.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns the CPU time that the process has used so far. It includes garbage collection
// and servers that run inside the process.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
