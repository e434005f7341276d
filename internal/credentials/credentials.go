// Package credentials connects to an API server with what the kubeconfig, the
// account of the pod, and the files that these name say now, while those files
// change.
//
// It decides whether new content can be used: as a whole or not at all. It never
// changes the server that is talked to: another address may be another cluster,
// of which nothing has been seen.
//
// The client library reads tokens anew every minute and CA files every five, a
// CA or token that cannot be used being passed over in a log that nobody reads;
// a client certificate that cannot be used breaks new connections; what stands
// in the kubeconfig itself is never read again. Here all of it is read into
// memory together, checked together, and used together.
package credentials

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Source says where credentials come from.
type Source struct {
	// Load finds the server and what to show it, as at the start of the program.
	Load func() (*rest.Config, error)
	// Kubeconfigs are the files that Load looks into; none in a pod that uses its
	// own account.
	Kubeconfigs []string
}

// Credentials is one whole of credentials that can be used.
type Credentials struct {
	serverURL    string
	hasCA        bool // against authorities that were named
	transport    http.RoundTripper
	clientConfig *rest.Config
}

// Read reads and checks everything, and names the files.
func (s Source) Read() (*Credentials, []string, error) {
	files := s.Kubeconfigs
	conf, err := s.Load()
	if err != nil {
		return nil, files, err
	}
	conf, named, err := loadFiles(conf)
	files = append(files[:len(files):len(files)], named...)
	if err != nil {
		return nil, files, fmt.Errorf("reading what to show the cluster: %w", err)
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
		Host: server.String(), UserAgent: conf.UserAgent, QPS: conf.QPS, Burst: conf.Burst, Timeout: conf.Timeout, ContentConfig: conf.ContentConfig,
	}}, files, nil
}

// Transport sends every request with the credentials that were taken last. Those
// that are under way, watches among them, end as they began.
type Transport struct {
	current atomic.Pointer[Credentials]
}

// New begins with a set.
func New(s *Credentials) *Transport {
	c := &Transport{}
	c.current.Store(s)
	return c
}

// Config is for clients whose requests go through c.
func (c *Transport) Config() *rest.Config {
	conf := rest.CopyConfig(c.current.Load().clientConfig)
	conf.Transport = c
	return conf
}

// Check says why a set cannot take the place of the current one. An account's
// own authorities that cannot be read are none to the client library, which then
// trusts those of the system.
func (c *Transport) Check(s *Credentials) error {
	now := c.current.Load()
	switch {
	case s.serverURL != now.serverURL:
		return errors.New("the address of the server is another one; restart to use it")
	case now.hasCA && !s.hasCA:
		return errors.New("there is no certificate authority any more; restart to go on without one")
	}
	return nil
}

// Replace uses s from now on.
func (c *Transport) Replace(s *Credentials) {
	old := c.current.Swap(s)
	utilnet.CloseIdleConnectionsFor(old.transport)
}

// RoundTrip implements http.RoundTripper.
func (c *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.current.Load().transport.RoundTrip(r)
}

// CloseIdleConnections is asked for when a connection seems broken.
func (c *Transport) CloseIdleConnections() {
	utilnet.CloseIdleConnectionsFor(c.current.Load().transport)
}
