package freeport

import "testing"

// TestPortsAreNotThoseOfConnections checks that ports are outside of the ephemeral port range.
func TestPortsAreNotThoseOfConnections(t *testing.T) {
	for range 50 {
		port, err := Get()
		if err != nil {
			t.Fatal(err)
		}
		if port < lowest || port >= beyond {
			t.Fatalf("got port %d, want one in [%d, %d)", port, lowest, beyond)
		}
	}
}
