// Package cputime measures the CPU time of the current process for tests and benchmarks. Other
// programs on the same machine affect CPU time less than elapsed time.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns the CPU time of the process so far, including garbage collection.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
