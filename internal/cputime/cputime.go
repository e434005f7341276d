// Package cputime tells tests and benchmarks what their process has used of the
// processors: on a machine that others use too it says more than the clock.
//
// It is for tests alone. It decides nothing about how much is too much.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used is what the process has used so far, garbage collection and servers inside of it
// included.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
