// Package credentials connects to an API server with the current content of the kubeconfig,
// the service account and the files they name. The content may change while the program runs.
//
// It decides whether new content is valid, and it uses all of the new content or none. It
// never changes the server's address, because another address may be another cluster.
//
// client-go rereads tokens every minute and CA files every five minutes. It only logs a CA or
// token that it cannot use. An invalid client certificate breaks new connections, and
// client-go never rereads the kubeconfig itself. This package reads and checks everything
// together.
package credentials

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Source locates the credentials.
type Source struct {
	// Load returns the server's address and the credentials, as at program start.
	Load func() (*rest.Config, error)
	// Kubeconfigs are the paths that Load reads. The list is empty in a pod that uses its
	// service account.
	Kubeconfigs []string
}

// Credentials is a complete and valid set of credentials.
type Credentials struct {
	serverURL    string
	hasCA        bool // whether the set names certificate authorities
	transport    http.RoundTripper
	clientConfig *rest.Config
}

// Read reads and checks the credentials. It returns the paths of the files that it read, also
// with an error.
func (s Source) Read() (*Credentials, []string, error) {
	files := s.Kubeconfigs
	conf, err := s.Load()
	if err != nil {
		return nil, files, err
	}
	conf, named, err := loadFiles(conf)
	files = append(files[:len(files):len(files)], named...)
	if err != nil {
		return nil, files, fmt.Errorf("reading the credentials: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(conf)
	if err != nil {
		return nil, files, err
	}
	transport, err := rest.TransportFor(conf)
	if err != nil {
		return nil, files, err
	}
	return &Credentials{serverURL: server.String(), hasCA: len(conf.CAData) > 0, transport: transport, clientConfig: &rest.Config{
		Host: server.String(), UserAgent: conf.UserAgent, QPS: conf.QPS, Burst: conf.Burst, Timeout: conf.Timeout,
		ContentConfig: conf.ContentConfig,
	}}, files, nil
}

// Transport sends each new request with the current credentials. Requests in progress,
// including watches, keep the credentials with which they started.
type Transport struct {
	current atomic.Pointer[Credentials]
}

// New returns a transport that uses s.
func New(s *Credentials) *Transport {
	c := &Transport{}
	c.current.Store(s)
	return c
}

// Config returns a client configuration whose requests go through c.
func (c *Transport) Config() *rest.Config {
	conf := rest.CopyConfig(c.current.Load().clientConfig)
	conf.Transport = c
	return conf
}

// Check returns an error if s cannot replace the current set. If the service account's CA file
// is unreadable, client-go trusts the system's authorities; Check rejects that.
func (c *Transport) Check(s *Credentials) error {
	now := c.current.Load()
	switch {
	case s.serverURL != now.serverURL:
		return errors.New("the server's address changed; restart to use the new address")
	case now.hasCA && !s.hasCA:
		return errors.New("the new credentials name no certificate authority; restart to continue without one")
	}
	return nil
}

// Replace makes s the current set.
func (c *Transport) Replace(s *Credentials) {
	old := c.current.Swap(s)
	utilnet.CloseIdleConnectionsFor(old.transport)
}

// RoundTrip implements http.RoundTripper.
func (c *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.current.Load().transport.RoundTrip(r)
}

// CloseIdleConnections closes idle connections. client-go calls it when a connection seems
// broken.
func (c *Transport) CloseIdleConnections() {
	utilnet.CloseIdleConnectionsFor(c.current.Load().transport)
}
