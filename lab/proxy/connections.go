package proxy

import (
	"net"
	"sync"
)

// connTracker is a listener that can close all its connections at once, without a TLS alert, as a lost network does.
type connTracker struct {
	net.Listener
	mu   sync.Mutex
	open map[net.Conn]bool
}

// Accept waits for the next connection.
func (l *connTracker) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := &trackedConn{c, l}
	l.open[k] = true
	return k, nil
}

func (l *connTracker) closeAll() {
	l.mu.Lock()
	var all []net.Conn
	for c := range l.open {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

type trackedConn struct {
	net.Conn
	tracker *connTracker
}

// Close closes the connection.
func (c *trackedConn) Close() error {
	c.tracker.mu.Lock()
	delete(c.tracker.open, c)
	c.tracker.mu.Unlock()
	return c.Conn.Close()
}
