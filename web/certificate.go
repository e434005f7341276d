package web

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/reload"
)

// maxCertificateBytes bounds the files of a certificate and its key.
const maxCertificateBytes = 1 << 20

// Certificate is the certificate with which Serve answers. It may be replaced while Serve runs; connections that are
// open keep the former one.
type Certificate struct {
	atomic.Pointer[tls.Certificate]
}

// config returns the settings of TLS: version 1.2 or later with the cipher suites of Go, and HTTP/1.1. HTTP/2 is off,
// because clients can make a server of HTTP/2 work much more than one of HTTP/1.1 (CVE-2023-44487), and nobody needs
// it here.
func (c *Certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.Load(), nil },
	}
}

// LoadCertificate reads a certificate, perhaps with intermediate ones, and its key, both as PEM. The error names the
// flag of the wrong file.
func LoadCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	cert, err := reload.ReadFile(certFile, maxCertificateBytes)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert-file: %w", err)
	}
	key, err := reload.ReadFile(keyFile, maxCertificateBytes)
	if err != nil {
		return nil, fmt.Errorf("--tls-private-key-file: %w", err)
	}
	block, _ := pem.Decode(cert)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("--tls-cert-file: %s does not begin with a certificate (want PEM with BEGIN CERTIFICATE)", certFile)
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("--tls-cert-file: %s: %w", certFile, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-private-key-file: %s is not the key of the certificate in %s: %w", keyFile, certFile, err)
	}
	return &pair, nil
}

// CertificateWarning says that a certificate is not valid at a time. It returns "" if the certificate is valid.
func CertificateWarning(c *tls.Certificate, now time.Time) string {
	switch leaf := c.Leaf; {
	case now.After(leaf.NotAfter):
		return "the certificate expired at " + leaf.NotAfter.UTC().Format(time.RFC3339) + "; clients reject it until it is renewed"
	case now.Before(leaf.NotBefore):
		return "the certificate is not valid before " + leaf.NotBefore.UTC().Format(time.RFC3339) + "; clients reject it until then"
	}
	return ""
}
