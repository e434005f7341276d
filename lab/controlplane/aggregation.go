package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

func addAggregationFiles(files map[string][]byte) error {
	clients, err := newAuthority("lab-clients")
	if err != nil {
		return err
	}
	proxies, err := newAuthority("lab-front-proxy")
	if err != nil {
		return err
	}
	files["client-ca.crt"], files["proxy-ca.crt"] = clients.PEM(), proxies.PEM()
	files["proxy.crt"], files["proxy.key"], err = proxies.IssueCertificate(proxyName)
	return err
}

// Authority is a certificate authority of the lab.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority creates a self-signed certificate authority.
func newAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	return &Authority{c, key}, err
}

// NewAuthority creates a certificate authority for servers beside the API server.
func NewAuthority() (*Authority, error) { return newAuthority("lab-servers") }

// PEM returns the authority's own certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: a.cert.Raw})
}

// IssueCertificate creates a certificate and its key for a client name and, optionally, names and IP addresses
// of servers.
func (a *Authority) IssueCertificate(name string, servers ...string) (certPEM, keyPEM []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: servers,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	for _, s := range servers {
		if ip := net.ParseIP(s); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &k.PublicKey, a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("signing the certificate of %s: %w", name, err)
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(k)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM, err
}
