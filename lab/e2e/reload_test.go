package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// rotatingProxy is an HTTPS proxy in front of the API server that forwards the caller's token. A test can change the
// certificate and the certificate authority of the proxy.
type rotatingProxy struct {
	*httptest.Server
	cert atomic.Pointer[tls.Certificate]
}

func newRotatingProxy(t *testing.T) *rotatingProxy {
	t.Helper()
	anonymous := rest.AnonymousClientConfig(lab.Config)
	transport := must.Get(rest.TransportFor(anonymous))(t)
	target := must.Get(url.Parse(lab.Config.Host))(t)
	quiet := log.New(io.Discard, "", 0)
	p := &rotatingProxy{}
	p.Server = httptest.NewUnstartedServer(&httputil.ReverseProxy{Transport: transport, FlushInterval: -1, ErrorLog: quiet,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	p.Config.ErrorLog = quiet
	p.EnableHTTP2 = true
	p.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.cert.Load(), nil }}
	p.rotate(t)
	p.StartTLS()
	p.TLS.Certificates = nil
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// rotate switches to a certificate of a new authority and returns the authority's certificate in PEM.
func (p *rotatingProxy) rotate(t *testing.T) string {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(t)
	p.cert.Store(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// boundToken returns a token and a function that revokes it.
func boundToken(t *testing.T, ns, name string) (token string, revoke func()) {
	t.Helper()
	secrets := lab.Client.CoreV1().Secrets(ns)
	s := must.Get(secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))(t)
	bound := &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: name, UID: s.UID}
	request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{BoundObjectRef: bound}}
	r := must.Get(lab.Client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "default", request, metav1.CreateOptions{}))(t)
	return r.Status.Token, func() {
		must.Succeed(t, secrets.Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
}

// replaceFile replaces a file with a new file atomically, like a mounted volume.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(path+".new", []byte(text), 0o600))
	must.Succeed(t, os.Rename(path+".new", path))
}

// waitForReport waits up to two minutes for a matching report in a log, because the process makes one pass per minute.
func waitForReport(t *testing.T, log *testbed.Buffer, what string, is func(testbed.Report) bool) {
	t.Helper()
	if err := seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		return slices.ContainsFunc(testbed.Reports(log.String()), is), nil
	}); err != nil {
		t.Fatalf("no report %s: %v", what, err)
	}
}

func hasProblem(r testbed.Report, source string) bool {
	return slices.ContainsFunc(r.Spec.Inputs, func(in testbed.Input) bool { return in.Source == source && len(in.Problems) > 0 })
}

func goroutineCount(t *testing.T, url string) int {
	t.Helper()
	for line := range strings.Lines(metricsOf(url)) {
		if n, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			v := must.Get(strconv.Atoi(strings.TrimSpace(n)))(t)
			return v
		}
	}
	t.Fatal("the metrics lack go_goroutines")
	return 0
}

// TestFilesChangeWhileItRuns changes the certificate authority, the token and the configuration of the leader. The
// first change of each file is invalid. The process must keep its Lease, and finally evict according to the last
// configuration.
func TestFilesChangeWhileItRuns(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	createAccount(t, ns,
		leaseRule, stateRule,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"},
			Verbs: []string{"create", "patch", "update"}},
	)
	dir := t.TempDir()
	ca, token, kubeconfig := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token"), filepath.Join(dir, "kubeconfig")
	front := newRotatingProxy(t)
	replaceFile(t, ca, front.rotate(t))
	first, revoke := boundToken(t, ns, "first")
	replaceFile(t, token, first)
	k := clientcmdapi.NewConfig()
	k.Clusters["p"] = &clientcmdapi.Cluster{Server: front.URL, CertificateAuthority: ca}
	k.AuthInfos["p"] = &clientcmdapi.AuthInfo{TokenFile: token}
	k.Contexts["p"] = &clientcmdapi.Context{Cluster: "p", AuthInfo: "p"}
	k.CurrentContext = "p"
	must.Succeed(t, clientcmd.WriteToFile(*k, kubeconfig))
	const everyMinute = "namespaces: {exclude: [kube-system]}\nstrategies:\n  zones: {type: ZoneSpread, schedule: \"* * * * *\"}\n"
	config := testbed.ConfigFile(t, everyMinute+"dryRun: true\n")

	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), testbed.Evenkeel, append([]string{"run", "--config", config,
		"--kubeconfig", kubeconfig, "--lease-namespace", ns, "--bind-address", port}, testbed.ReportFlags...)...)
	var log testbed.Buffer
	cmd.Stderr = &log
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	at := "http://" + port
	waitForMetric(t, at, "evenkeel_leader 1")
	before := goroutineCount(t, at)

	// The process rejects and reports invalid files.
	replaceFile(t, ca, "-----BEGIN CERTIFICATE-----\ncut off")
	replaceFile(t, config, "dryRun: maybe\n")
	waitForMetric(t, at, `evenkeel_last_reload_successful{files="credentials"} 0`)
	waitForMetric(t, at, `evenkeel_last_reload_successful{files="config"} 0`)
	waitForReport(t, &log, "that names both files", func(r testbed.Report) bool {
		return hasProblem(r, "config") && hasProblem(r, "credentials") && r.Spec.Mode == "DryRun"
	})
	if code := httpStatus(at + "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz returns %d while the files are rejected, want 200", code)
	}

	// Change the authority and the token, revoke the old token, and close all connections.
	replaceFile(t, ca, front.rotate(t))
	front.CloseClientConnections()
	waitForMetric(t, at, `evenkeel_reloads_total{files="credentials",result="taken"} 1`)
	second, _ := boundToken(t, ns, "second")
	replaceFile(t, token, second)
	revoke()
	front.CloseClientConnections()
	waitForMetric(t, at, `evenkeel_reloads_total{files="credentials",result="taken"} 2`)
	waitForMetric(t, at, `evenkeel_last_reload_successful{files="credentials"} 1`)

	// The last configuration enables eviction.
	text := must.Get(os.ReadFile(testbed.ConfigFile(t, everyMinute)))(t)
	replaceFile(t, config, string(text))
	waitForMetric(t, at, `evenkeel_last_reload_successful{files="config"} 1`)
	waitForReport(t, &log, "of a live pass with two evictions", func(r testbed.Report) bool {
		return r.Spec.Mode == "Automatic" && len(r.Outcomes()) == 2 && !hasProblem(r, "config") && !hasProblem(r, "credentials")
	})
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
	if strings.Contains(log.String(), "lost the Lease") || !hasLine(metricsOf(at), "evenkeel_leader 1") {
		t.Error("the process lost its Lease")
	}
	few := func() (bool, error) { return goroutineCount(t, at) <= before+10, nil }
	if err := seed.WaitUntil(t.Context(), 2*time.Minute, few); err != nil {
		t.Errorf("%d goroutines after the changes, %d before; want at most 10 more", goroutineCount(t, at), before)
	}
	_ = cmd.Process.Signal(syscallTerm)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process did not exit cleanly: %v", err)
	}
}

func httpStatus(url string) int {
	r, err := http.Get(url)
	if err != nil {
		return 0
	}
	r.Body.Close()
	return r.StatusCode
}
