package freeport

import "testing"

// TestPortsAreNotThoseOfConnections checks that ports are outside of the ephemeral port range.
func TestPortsAreNotThoseOfConnections(t *testing.T) {
	for range 50 {
		port, err := Get()
		if err != nil {
			t.Fatal(err)
		}
		if port < minPort || port >= endPort {
			t.Fatalf("got port %d, want one in [%d, %d)", port, minPort, endPort)
		}
	}
}
