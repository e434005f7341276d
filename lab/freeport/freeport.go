// Package freeport finds ports for the programs of the lab. The package does not reserve ports: the caller must listen
// at once.
//
// The package returns ports below the ephemeral port range of Linux (32768 and up). Any outgoing connection could take
// a port from that range before the program listens on it.
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
