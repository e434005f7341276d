package freeport

import "testing"

// TestPortsAreNotThoseOfConnections: nobody who connects can take one.
func TestPortsAreNotThoseOfConnections(t *testing.T) {
	for range 50 {
		port, err := Get()
		if err != nil {
			t.Fatal(err)
		}
		if port < lowest || port >= beyond {
			t.Fatalf("port %d", port)
		}
	}
}
