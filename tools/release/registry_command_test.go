package main

import (
	"strings"
	"testing"
)

// TestTheRegistryIsNotPublic checks that the registry, which has no access control, listens on the loopback
// interface only.
func TestTheRegistryIsNotPublic(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "192.0.2.1:0", "example.com:0"} {
		if l, err := listenOnLoopback(t.Context(), address); err == nil || !strings.Contains(err.Error(), "not on the loopback interface") {
			t.Errorf("%s: listener %v, error %v", address, l, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := listenOnLoopback(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		l.Close()
	}
}
