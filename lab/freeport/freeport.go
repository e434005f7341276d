// Package freeport finds ports for the programs of the lab. It decides which; it never
// holds one: whoever asked listens on it a moment later.
//
// Ports come from below the range out of which Linux gives ports to whoever connects or
// names none (32768 and up). A port of that range may be taken by anybody's connection
// between the asking and the listening.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
)

const (
	lowest, beyond = 15000, 32768
	mostTries      = 100
)

// Listen listens on a free port of 127.0.0.1. The error names the last port tried.
func Listen() (net.Listener, error) {
	var last error
	for range mostTries {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", lowest+rand.IntN(beyond-lowest)))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, fmt.Errorf("looking for a free port below %d: %w", beyond, last)
}

// Get is a port that nobody has.
func Get() (int, error) {
	l, err := Listen()
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
