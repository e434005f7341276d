// Package credentials connects to an API server with the kubeconfig, the service account and the
// files that they name. Their content may change while the program runs.
//
// The package checks new content and uses either all of it or none of it. It never changes the
// server's address, because another address may be another cluster.
//
// client-go alone does not suffice. It rereads token and CA files, but only logs that a file is
// invalid. An invalid client certificate breaks new connections. client-go never rereads the
// kubeconfig itself.
package credentials

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/internal/reload"
)

// Source locates the credentials.
type Source struct {
	// Load returns the server's address and the credentials, as at program start.
	Load func() (*rest.Config, error)
	// Kubeconfigs lists the paths of the kubeconfig files that Load reads. The list is empty in a
	// pod that uses its service account.
	Kubeconfigs []string
}

// Credentials is a complete set of valid credentials.
type Credentials struct {
	hasCA        bool // whether the set names certificate authorities
	transport    http.RoundTripper
	clientConfig *rest.Config // contains no credentials
}

// Read reads and checks the credentials. It returns the paths of the files that it read, even if
// it also returns an error.
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
	return &Credentials{len(conf.CAData) > 0, transport, &rest.Config{
		Host: server.String(), UserAgent: conf.UserAgent, QPS: conf.QPS, Burst: conf.Burst, Timeout: conf.Timeout,
		ContentConfig: conf.ContentConfig,
	}}, files, nil
}

// Transport sends each new request with the current credentials. Requests in progress,
// including watches, keep the credentials with which they started.
type Transport struct {
	current atomic.Pointer[Credentials]
}

// NewTransport returns a transport that uses s.
func NewTransport(s *Credentials) *Transport {
	t := &Transport{}
	t.current.Store(s)
	return t
}

// Config returns a client configuration whose requests go through t.
func (t *Transport) Config() *rest.Config {
	conf := rest.CopyConfig(t.current.Load().clientConfig)
	conf.Transport = t
	return conf
}

// Check returns an error if s cannot replace the current credentials. Without a certificate
// authority, client-go would trust the system's authorities instead.
func (t *Transport) Check(s *Credentials) error {
	now := t.current.Load()
	switch {
	case s.clientConfig.Host != now.clientConfig.Host:
		return errors.New("the server's address changed; restart to use the new address")
	case now.hasCA && !s.hasCA:
		return errors.New("the new credentials name no certificate authority; restart to continue without one")
	}
	return nil
}

// Replace makes t use s for new requests.
func (t *Transport) Replace(s *Credentials) {
	old := t.current.Swap(s)
	utilnet.CloseIdleConnectionsFor(old.transport)
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.current.Load().transport.RoundTrip(r)
}

// CloseIdleConnections closes idle connections. client-go calls it if a connection may be broken.
func (t *Transport) CloseIdleConnections() {
	utilnet.CloseIdleConnectionsFor(t.current.Load().transport)
}

// maxBytes limits the size of a file. A bundle of all public authorities has about 250 kB.
const maxBytes = 1 << 20

// loadFiles returns a copy of conf that contains the data of the files it names, and the names
// of these files.
func loadFiles(conf *rest.Config) (*rest.Config, []string, error) {
	c := rest.CopyConfig(conf)
	var files []string
	var errs []error
	read := func(what, file string, data []byte) []byte {
		if len(data) > 0 || file == "" {
			return data
		}
		files = append(files, file)
		data, err := reload.ReadFile(file, maxBytes)
		if err == nil && len(bytes.TrimSpace(data)) == 0 {
			err = fmt.Errorf("%s is empty", file)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
		return data
	}
	c.CAData = read("certificate authority", c.CAFile, c.CAData)
	c.CertData = read("client certificate", c.CertFile, c.CertData)
	c.KeyData = read("client key", c.KeyFile, c.KeyData)
	if c.BearerTokenFile != "" { // client-go prefers the file to an inline token
		c.BearerToken = strings.TrimSpace(string(read("token", c.BearerTokenFile, nil)))
	}
	if len(errs) == 0 {
		errs = append(errs, checkCA(c.CAData, conf.CAFile), checkKeyPair(c, conf), checkToken(c.BearerToken, conf.BearerTokenFile))
	}
	c.CAFile, c.CertFile, c.KeyFile, c.BearerTokenFile = "", "", "", ""
	return c, files, errors.Join(errs...)
}

func describeFile(file string) string { return cmp.Or(file, "the kubeconfig") }

// checkCA returns an error unless every certificate in the bundle is complete. client-go skips
// a truncated certificate without an error.
func checkCA(data []byte, file string) error {
	if len(data) == 0 {
		return nil
	}
	begun, found := bytes.Count(data, []byte("-----BEGIN")), 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		begun--
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("certificate authority: a certificate in %s cannot be parsed: %w", describeFile(file), err)
		}
		found++
	}
	switch {
	case found == 0:
		return fmt.Errorf("certificate authority: %s contains no certificate (want PEM)", describeFile(file))
	case begun != 0:
		return fmt.Errorf("certificate authority: a certificate in %s is truncated", describeFile(file))
	}
	return nil
}

func checkKeyPair(c, conf *rest.Config) error {
	if len(c.CertData) == 0 && len(c.KeyData) == 0 {
		return nil
	}
	if _, err := tls.X509KeyPair(c.CertData, c.KeyData); err != nil {
		return fmt.Errorf("client certificate %s and key %s: %w", describeFile(conf.CertFile), describeFile(conf.KeyFile), err)
	}
	return nil
}

// checkToken returns an error unless text can be a header value (RFC 6750: visible ASCII).
func checkToken(text, file string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("token: %s does not contain a token (want visible ASCII)", describeFile(file))
	}
	return nil
}
