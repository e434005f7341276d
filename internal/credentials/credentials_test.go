package credentials_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel-project/evenkeel/internal/credentials"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers requests with the right token. Its certificate can change.
type server struct {
	*httptest.Server
	token atomic.Pointer[string]
	cert  atomic.Pointer[tls.Certificate]
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+*s.token.Load() {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/watch" {
			fmt.Fprintln(w, "event")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.cert.Load(), nil }}
	s.TLS.NextProtos = []string{"h2", "http/1.1"}
	s.EnableHTTP2 = true
	s.requireToken("old-token")
	s.rotateCertificate(t)
	s.StartTLS()
	s.TLS.Certificates = nil // logs of the test server
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *server) requireToken(token string) { s.token.Store(&token) }

// rotateCertificate gives the server a certificate from a new authority. It returns the
// authority's certificate.
func (s *server) rotateCertificate(t *testing.T) (ca string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(t)
	s.cert.Store(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

type testClient struct {
	*server
	t      *testing.T
	dir    string
	source credentials.Source
	now    *credentials.Transport
}

// newTestClient returns a client that reads its credentials from the files "ca" and "token".
func newTestClient(t *testing.T) *testClient {
	b := &testClient{server: newServer(t), t: t, dir: t.TempDir()}
	b.write("ca", b.rotateCertificate(t))
	b.write("token", "old-token\n")
	b.source.Load = func() (*rest.Config, error) {
		return &rest.Config{Host: b.URL, BearerTokenFile: b.path("token"), TLSClientConfig: rest.TLSClientConfig{CAFile: b.path("ca")}}, nil
	}
	b.start()
	return b
}

func (b *testClient) start() {
	b.t.Helper()
	set, _, err := b.source.Read()
	if err != nil {
		b.t.Fatal(err)
	}
	b.now = credentials.NewTransport(set)
	b.t.Cleanup(b.now.CloseIdleConnections)
}

func (b *testClient) path(name string) string { return filepath.Join(b.dir, name) }

func (b *testClient) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// reload reads, checks and replaces the credentials, like the program after a change.
func (b *testClient) reload() error {
	set, _, err := b.source.Read()
	if err == nil {
		err = b.now.Check(set)
	}
	if err == nil {
		b.now.Replace(set)
	}
	return err
}

// request sends a request on a new connection.
func (b *testClient) request() error {
	b.now.CloseIdleConnections()
	client, err := rest.HTTPClientFor(b.now.Config())
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := client.Get(b.URL)
	if err != nil {
		return err
	}
	r.Body.Close()
	if r.StatusCode != 200 {
		return fmt.Errorf("answered %s", r.Status)
	}
	return nil
}

func TestChangedFilesAreUsed(t *testing.T) {
	b := newTestClient(t)
	must.Succeed(t, b.request())
	b.write("ca", b.rotateCertificate(t))
	if err := b.request(); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("before the new authority is loaded: %v", err)
	}
	must.Succeed(t, b.reload())
	if err := b.request(); err != nil {
		t.Errorf("with the new authority: %v", err)
	}
	b.requireToken("new-token")
	b.write("token", "new-token")
	if err := b.request(); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("before the new token is loaded: %v", err)
	}
	must.Succeed(t, b.reload())
	if err := b.request(); err != nil {
		t.Errorf("with the new token: %v", err)
	}
}

func TestContentThatCannotBeUsedIsRefused(t *testing.T) {
	b := newTestClient(t)
	whole := b.rotateCertificate(t)
	b.write("ca", whole)
	must.Succeed(t, b.reload())
	for _, c := range []struct{ file, text, want string }{
		{"ca", "", "is empty"},
		{"ca", "not a certificate", "contains no certificate"},
		{"ca", whole[:len(whole)/2], "contains no certificate"},
		{"ca", whole + "-----BEGIN CERTIF", "is truncated"},
		{"ca", whole + whole[:len(whole)/2], "is truncated"},
		{"ca", whole[:len(whole)/2] + whole, "certificate authority"},
		{"ca", "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n", "x509: malformed certificate"},
		{"ca", strings.Repeat("x", 1<<20+1), "larger than"},
		{"token", " \n", "is empty"},
		{"token", "two words", "not contain a token"},
		{"token", "\x00\x01", "not contain a token"},
	} {
		good, err := os.ReadFile(b.path(c.file))
		if err != nil {
			t.Fatal(err)
		}
		b.write(c.file, c.text)
		err = b.reload()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), b.path(c.file)) {
			t.Errorf("%s %.20q: got %v, want %q and the file name", c.file, c.text, err, c.want)
		}
		if strings.Contains(fmt.Sprint(err), "two words") {
			t.Errorf("the error contains the token: %v", err)
		}
		if err := b.request(); err != nil {
			t.Errorf("after the rejection of %s %.20q: %v", c.file, c.text, err)
		}
		b.write(c.file, string(good))
	}
	for _, file := range []string{"ca", "token"} {
		must.Succeed(t, os.Rename(b.path(file), b.path("backup")))
		if err := b.reload(); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("after the removal of %s: %v", file, err)
		}
		if err := b.request(); err != nil {
			t.Errorf("after %s was restored: %v", file, err)
		}
		must.Succeed(t, os.Rename(b.path("backup"), b.path(file)))
	}
}

// The client rejects another server address, because it may belong to another cluster. The client also
// rejects credentials without a certificate authority.
func TestRejectsAnotherServer(t *testing.T) {
	b := newTestClient(t)
	load := b.source.Load
	change := func(f func(*rest.Config)) {
		b.source.Load = func() (*rest.Config, error) {
			c, err := load()
			f(c)
			return c, err
		}
	}
	change(func(c *rest.Config) { c.Host = "https://127.0.0.1:1" })
	if err := b.reload(); err == nil || !strings.Contains(err.Error(), "restart") {
		t.Errorf("another server: %v", err)
	}
	change(func(c *rest.Config) { c.CAFile = "" })
	if err := b.reload(); err == nil || !strings.Contains(err.Error(), "no certificate authority") {
		t.Errorf("no authority: %v", err)
	}
	if err := b.request(); err != nil {
		t.Error(err)
	}
}

// The kubeconfig may contain the certificate authority and the token itself.
func TestRereadsKubeconfig(t *testing.T) {
	b := newTestClient(t)
	write := func(ca, token string) {
		k := clientcmdapi.NewConfig()
		k.Clusters["c"] = &clientcmdapi.Cluster{Server: b.URL, CertificateAuthorityData: []byte(ca)}
		k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
		k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
		k.CurrentContext = "x"
		must.Succeed(t, clientcmd.WriteToFile(*k, b.path("kubeconfig")))
	}
	b.source = credentials.Source{Kubeconfigs: []string{b.path("kubeconfig")}, Load: func() (*rest.Config, error) {
		return clientcmd.BuildConfigFromFlags("", b.path("kubeconfig"))
	}}
	write(b.rotateCertificate(t), "old-token")
	b.start()
	must.Succeed(t, b.request())
	b.requireToken("new-token")
	write(b.rotateCertificate(t), "new-token")
	must.Succeed(t, b.reload())
	if err := b.request(); err != nil {
		t.Error(err)
	}
	write("garbage", "new-token")
	if err := b.reload(); err == nil || !strings.Contains(err.Error(), "kubeconfig") {
		t.Errorf("with invalid data as the authority: %v", err)
	}
	if err := b.request(); err != nil {
		t.Error(err)
	}
}

// A watch in progress continues after a reload, and the next watch uses the new credentials.
func TestAWatchUnderWayGoesOn(t *testing.T) {
	b := newTestClient(t)
	client := must.Get(rest.HTTPClientFor(b.now.Config()))(t)
	watch := func() (io.ReadCloser, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/watch", nil))(t)
		r := must.Get(client.Do(req))(t)
		if r.StatusCode != 200 {
			t.Fatalf("watching: %s", r.Status)
		}
		return r.Body, cancel
	}
	first, cancel := watch()
	b.requireToken("new-token")
	b.write("ca", b.rotateCertificate(t))
	b.write("token", "new-token")
	must.Succeed(t, b.reload())
	if n, err := first.Read(make([]byte, 8)); n == 0 {
		t.Errorf("the reload ended the watch: %v", err)
	}
	second, cancel2 := watch()
	cancel()
	cancel2()
	first.Close()
	second.Close()
	b.now.CloseIdleConnections()
}
