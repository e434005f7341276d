package web_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/web"
)

// writePair writes a self-signed certificate and its key, and returns the paths and the certificate.
func writePair(t *testing.T, name string, notBefore, notAfter time.Time) (certFile, keyFile string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: notBefore, NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	certFile = writeFile(t, name+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	keyFile = writeFile(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	return certFile, keyFile, cert
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func newPair(t *testing.T, name string) (certFile, keyFile string, cert *x509.Certificate) {
	return writePair(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

func TestMistakesInCertificatesAreNamed(t *testing.T) {
	cert, key, _ := newPair(t, "a")
	_, otherKey, _ := newPair(t, "b")
	for name, c := range map[string]struct{ cert, key, want string }{
		"no certificate":  {"/nowhere/tls.crt", key, "--tls-cert-file: stat /nowhere/tls.crt: no such file"},
		"no key":          {cert, "/nowhere/tls.key", "--tls-private-key-file: stat /nowhere/tls.key: no such file"},
		"a folder":        {t.TempDir(), key, "is not a regular file"},
		"empty":           {writeFile(t, "empty", ""), key, "--tls-cert-file: "},
		"no PEM":          {writeFile(t, "text", "hello"), key, "want PEM with BEGIN CERTIFICATE"},
		"files exchanged": {key, cert, "want PEM with BEGIN CERTIFICATE"},
		"the key of another certificate": {cert, otherKey,
			"--tls-private-key-file: " + otherKey + " is not the key of the certificate in " + cert},
		"no key in the file":   {cert, cert, "--tls-private-key-file: "},
		"a broken certificate": {writeFile(t, "broken", "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"), key, "--tls-cert-file: "},
	} {
		if _, err := web.LoadCertificate(c.cert, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		} else if strings.Contains(err.Error(), "BEGIN PRIVATE") {
			t.Errorf("%s: the error contains the key: %v", name, err)
		}
	}
}

func TestWarningsAboutCertificates(t *testing.T) {
	for want, at := range map[string]time.Duration{"": 0, "expired at": 2 * time.Hour, "not valid before": -2 * time.Hour} {
		cert, key, _ := newPair(t, "a")
		pair := must.Get(web.LoadCertificate(cert, key))(t)
		if got := web.CertificateWarning(pair, time.Now().Add(at)); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("after %s: %q, want %q", at, got, want)
		}
	}
}

// clientFor returns a client that trusts the certificate.
func clientFor(t *testing.T, cert *x509.Certificate, settings *tls.Config) *http.Client {
	settings.RootCAs = x509.NewCertPool()
	settings.RootCAs.AddCert(cert)
	transport := &http.Transport{TLSClientConfig: settings, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestTLS: HTTPS with TLS 1.2 or later and HTTP/1.1, with a certificate that is replaced.
func TestTLS(t *testing.T) {
	load := func(name string) (*tls.Certificate, *x509.Certificate) {
		certFile, keyFile, cert := newPair(t, name)
		pair := must.Get(web.LoadCertificate(certFile, keyFile))(t)
		return pair, cert
	}
	first, firstCert := load("first")
	second, secondCert := load("second")
	served := &web.Certificate{}
	served.Store(first)
	address, stop := startServer(t, &web.Server{Health: healthOf(works, works), Metrics: prometheus.NewRegistry(), Certificate: served})
	page := "https://" + address + "/livez"
	r := fetchPage(t, clientFor(t, firstCert, &tls.Config{}), page)
	if r.ProtoMajor != 1 || r.TLS.Version != tls.VersionTLS13 {
		t.Errorf("protocol %s over TLS %x, want HTTP/1.1 over TLS 1.3", r.Proto, r.TLS.Version)
	}
	if r := fetchPage(t, clientFor(t, firstCert, &tls.Config{MaxVersion: tls.VersionTLS12}), page); r.StatusCode != 200 {
		t.Errorf("TLS 1.2: status %d", r.StatusCode)
	}
	if _, err := clientFor(t, firstCert, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).Get(page); err == nil {
		t.Error("the server accepts TLS 1.1")
	}
	served.Store(second)
	if _, err := clientFor(t, firstCert, &tls.Config{}).Get(page); err == nil {
		t.Error("new connections use the former certificate")
	}
	if r := fetchPage(t, clientFor(t, secondCert, &tls.Config{}), page); r.StatusCode != 200 {
		t.Errorf("status %d", r.StatusCode)
	}
	plain := must.Get(http.Get("http://" + address + "/livez"))(t)
	text, _ := io.ReadAll(plain.Body)
	plain.Body.Close()
	if plain.StatusCode != 400 || !strings.Contains(string(text), "HTTPS server") {
		t.Errorf("plain HTTP: %d %q, want 400 that names HTTPS", plain.StatusCode, text)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
}
