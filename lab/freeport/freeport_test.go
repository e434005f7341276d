package freeport

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestPortsAreNotThoseOfConnections checks that ports are outside of the ephemeral port range.
func TestPortsAreNotThoseOfConnections(t *testing.T) {
	for range 50 {
		port := must.Get(Get())(t)
		if port < minPort || port >= endPort {
			t.Fatalf("got port %d, want one in [%d, %d)", port, minPort, endPort)
		}
	}
}
