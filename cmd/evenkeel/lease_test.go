package main

import (
	"os"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestLeaseIdentity checks that the identity names the pod, or else the host, and that two identities differ.
func TestLeaseIdentity(t *testing.T) {
	host := must.Get(os.Hostname())(t)
	for podName, want := range map[string]string{"evenkeel-7d9c-x2x9k": "evenkeel-7d9c-x2x9k", "": host} {
		t.Setenv("POD_NAME", podName)
		first, second := leaseIdentity(), leaseIdentity()
		name, random, _ := strings.Cut(first, "_")
		if name != want || random == "" || first == second {
			t.Errorf("POD_NAME=%q: identities %s and %s, want %s_RANDOM, and two that differ", podName, first, second, want)
		}
	}
}
