// Package freeport finds ports for the programs of the lab. It does not reserve a port: the caller must listen on it
// at once.
//
// Ports come from below the ephemeral port range of Linux (32768 and up). A port of that range could be taken by any
// outgoing connection between the search and the listening.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
)

const (
	minPort, endPort = 15000, 32768
	maxTries         = 100
)

// Listen listens on a free port of 127.0.0.1.
func Listen() (net.Listener, error) {
	var last error
	for range maxTries {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", minPort+rand.IntN(endPort-minPort)))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, fmt.Errorf("finding a free port below %d: %w", endPort, last)
}

// Get returns a port that is not in use.
func Get() (int, error) {
	l, err := Listen()
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
