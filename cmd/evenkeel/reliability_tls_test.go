package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
)

func startUnknownAuthorityServer(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, _ := startTLSServer(t, h, func(*x509.Certificate) {})
	return s, `server: "` + s.URL + `"`
}

func startOtherHostServer(t *testing.T, h http.Handler) (*httptest.Server, string) {
	return startTLSServer(t, h, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"elsewhere.example"} })
}

func startExpiredServer(t *testing.T, h http.Handler) (*httptest.Server, string) {
	return startTLSServer(t, h, func(c *x509.Certificate) { c.NotAfter = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) })
}

// startTLSServer serves TLS with a certificate of its own authority, which the kubeconfig trusts.
func startTLSServer(t *testing.T, h http.Handler, change func(*x509.Certificate)) (*httptest.Server, string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	change(c)
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(t)
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return s, `server: "` + s.URL + `", certificate-authority-data: ` + base64.StdEncoding.EncodeToString(ca)
}

func startPlainServerForHTTPSClient(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, _ := startPlainServer(t, h)
	return s, `server: "` + strings.Replace(s.URL, "http:", "https:", 1) + `"`
}

func startTLSServerForHTTPClient(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, _ := startTLSServer(t, h, func(*x509.Certificate) {})
	return s, `server: "` + strings.Replace(s.URL, "https:", "http:", 1) + `"`
}

// startSMTPServer answers every connection with the greeting of a mail server.
func startSMTPServer(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, _ := startPlainServer(t, h)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the row has ended
			}
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			c.Close()
		}
	}()
	return s, `server: "https://` + l.Addr().String() + `"`
}

func unreachableServer(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, cluster := startPlainServer(t, h)
	s.Close()
	return s, cluster
}

func unreachableProxy(t *testing.T, h http.Handler) (*httptest.Server, string) {
	s, cluster := startPlainServer(t, h)
	return s, cluster + `, proxy-url: "http://127.0.0.1:1"`
}

// TestTheMetricsKnowTheCertificate checks that the metrics say when the served certificate expires.
func TestTheMetricsKnowTheCertificate(t *testing.T) {
	until := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	s, _ := startTLSServer(t, http.NotFoundHandler(), func(c *x509.Certificate) { c.NotAfter = until })
	defer s.Close()
	pair := s.TLS.Certificates[0]
	key := must.Get(x509.MarshalPKCS8PrivateKey(pair.PrivateKey))(t)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	m := metrics.New("v1", "h")
	if _, err := (&watchedFiles{}).loadAndWatchCertificate(write("tls.crt", "CERTIFICATE", pair.Certificate[0]),
		write("tls.key", "PRIVATE KEY", key), m, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	families := must.Get(m.Registry.Gather())(t)
	for _, f := range families {
		if f.GetName() == "evenkeel_certificate_not_after_timestamp_seconds" {
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != float64(until.Unix()) {
				t.Errorf("the certificate expires at %v, want %v", got, until.Unix())
			}
			return
		}
	}
	t.Error("the metrics do not say when the certificate expires")
}
