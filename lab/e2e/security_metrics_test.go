package e2e

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityMetrics serves metrics over HTTPS to clients whose token the API server reviews: an allowed
// ServiceAccount, another one, an expired token, a token for another audience, and none. Then the certificate is
// rotated, and the API server disappears.
func TestSecurityMetrics(t *testing.T) {
	ns := seedApps(t, nil)
	var cut atomic.Bool
	kubeconfig := kubeconfigWithProxy(t, func(http.ResponseWriter, *http.Request) bool {
		if cut.Load() {
			panic(http.ErrAbortHandler) // closes the connection
		}
		return false
	})
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	client := writeServingCertificate(t, certFile, keyFile)
	address, debug := freePort(t), freePort(t)
	p := startRun(t, kubeconfig, testbed.ConfigFile(t, strings.ReplaceAll(zonesConfig, "0 * * * *", "0 0 29 2 *")+"dryRun: true\n"), ns, address,
		"--tls-cert-file", certFile, "--tls-private-key-file", keyFile, "--authorize-metrics", "--debug-address", debug,
		"--log-level", "debug")
	waitForStatus(t, client, "https://"+address+"/readyz", http.StatusOK)

	allowed, other := createTokenAccount(t, ns, "prometheus"), createTokenAccount(t, ns, "other")
	allowMetrics(t, ns, "prometheus")
	expired := accountToken(t, ns, "prometheus", -3600)
	for name, c := range map[string]struct {
		path, token string
		want        int
	}{
		"an allowed account":          {"/metrics", allowed, 200},
		"the allowed account, nodes":  {"/nodes", allowed, 403},
		"another account":             {"/metrics", other, 403},
		"no token":                    {"/metrics", "", 401},
		"an expired token":            {"/metrics", expired, 401},
		"the same token, not expired": {"/metrics", accountToken(t, ns, "prometheus", 3600), 200},
		"a token of nobody":           {"/metrics", "nobody", 401},
		"another audience":            {"/metrics", audienceToken(t, ns, "prometheus", "elsewhere"), 401},
		"readiness without a token":   {"/readyz?verbose", "", 200},
		"liveness without a token":    {"/livez/leader-election", "", 200},
		"usage without a token":       {"/watcher", "", 401},
	} {
		code, text := get(client, "https://"+address+c.path, c.token)
		if code != c.want || strings.Contains(text, "evenkeel_build_info") != (c.want == 200 && c.path == "/metrics") {
			t.Errorf("%s: status %d, want %d: %.200s", name, code, c.want, text)
		}
	}
	checkDebugPages(t, debug)

	rotated := writeServingCertificate(t, certFile, keyFile)
	waitForStatus(t, rotated, "https://"+address+"/readyz", http.StatusOK)
	if code, _ := get(client, "https://"+address+"/readyz", ""); code == 200 {
		t.Error("new connections still get the former certificate")
	}
	unknown := audienceToken(t, ns, "prometheus", "")
	cut.Store(true)
	if code, text := get(rotated, "https://"+address+"/metrics", allowed); code != 200 {
		t.Errorf("without an API server, a client that was allowed gets status %d: %s", code, text)
	}
	if code, text := get(rotated, "https://"+address+"/metrics", unknown); code != 503 || strings.Contains(text, "evenkeel_") {
		t.Errorf("without an API server, an unknown client gets status %d, want 503: %.200s", code, text)
	}
	p.kill()
	checkLog(t, p.log.String(), allowed, other, expired, unknown)
}

// writeServingCertificate replaces a certificate and its key, and returns a client that trusts only the new one.
func writeServingCertificate(t *testing.T, certFile, keyFile string) *http.Client {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	keyDER := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	replaceFile(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	replaceFile(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	cert := must.Get(x509.ParseCertificate(der))(t)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

// get returns the status and the body; 0 if there is no answer.
func get(c *http.Client, url, token string) (int, string) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	return answer.StatusCode, string(body)
}

func waitForStatus(t *testing.T, c *http.Client, url string, want int) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		code, text := get(c, url, "")
		if code != want {
			return false, fmt.Errorf("%s answers %d: %s", url, code, text)
		}
		return true, nil
	}))
}

// createTokenAccount creates a ServiceAccount and returns a token for it.
func createTokenAccount(t *testing.T, ns, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := lab.Client.CoreV1().ServiceAccounts(ns).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return audienceToken(t, ns, name, "")
}

// audienceToken returns a new token. Without an audience, it is for the API server.
func audienceToken(t *testing.T, ns, name, audience string) string {
	t.Helper()
	request := &authv1.TokenRequest{}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	r := must.Get(lab.Client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), name, request, metav1.CreateOptions{}))(t)
	return r.Status.Token
}

// accountToken signs a token that expires after that many seconds, with the key of the API server. The API server
// itself signs no tokens that expire within ten minutes.
func accountToken(t *testing.T, ns, name string, seconds int64) string {
	t.Helper()
	account, err := lab.Client.CoreV1().ServiceAccounts(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyutil.PrivateKeyFromFile(filepath.Join(filepath.Dir(lab.Kubeconfig), "sa.key"))
	if err != nil {
		t.Fatal(err)
	}
	const issuer = "https://lab.evenkeel.io"
	signer, err := serviceaccount.JWTTokenGenerator(issuer, key)
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := serviceaccount.Claims(core.ServiceAccount{ObjectMeta: account.ObjectMeta}, nil, nil, nil, nil, nil, seconds, 0,
		[]string{issuer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signer.GenerateToken(t.Context(), public, private)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// allowMetrics lets a ServiceAccount read /metrics, as docs/reference/running.md describes it.
func allowMetrics(t *testing.T, ns, account string) {
	t.Helper()
	rules := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	roles := lab.Client.RbacV1().ClusterRoles()
	if _, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: ns}, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: ns},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: account}}}
	if _, err := lab.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The authorizer of the API server learns of new rules by a watch. Evenkeel keeps negative answers for 10 s.
	waitUntilMayGet(t, "system:serviceaccount:"+ns+":"+account, "/metrics")
}

func waitUntilMayGet(t *testing.T, user, path string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"}}}
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		r, err := lab.Client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		return err == nil && r.Status.Allowed, err
	}); err != nil {
		t.Fatalf("%s may not get %s: %v", user, path, err)
	}
}

// checkDebugPages checks the pages of --debug-address.
func checkDebugPages(t *testing.T, address string) {
	t.Helper()
	code, text := get(http.DefaultClient, "http://"+address+"/configz", "")
	var page struct {
		ConfigHash string
		Config     struct{ DryRun bool }
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil || code != 200 || page.ConfigHash == "" || !page.Config.DryRun {
		t.Errorf("/configz: status %d, %v: %.300s", code, err, text)
	}
	if code, text := get(http.DefaultClient, "http://"+address+"/debug/pprof/goroutine?debug=1", ""); code != 200 || !strings.Contains(text, "goroutine profile") {
		t.Errorf("/debug/pprof/goroutine: status %d: %.200s", code, text)
	}
}

// checkLog checks that every line is a JSON object, has each key once, and contains no token.
func checkLog(t *testing.T, log string, tokens ...string) {
	t.Helper()
	lines := 0
	for s := bufio.NewScanner(strings.NewReader(log)); s.Scan(); lines++ {
		keys := map[string]int{}
		d := json.NewDecoder(strings.NewReader(s.Text()))
		for depth, atKey := 0, true; ; {
			tok, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%v in the line %.200s", err, s.Text())
				break
			}
			if delim, ok := tok.(json.Delim); ok {
				if depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[delim]; depth == 1 {
					atKey = true
				}
			} else if depth == 1 {
				if atKey {
					keys[tok.(string)]++
				}
				atKey = !atKey
			}
		}
		for key, n := range keys {
			if n > 1 {
				t.Errorf("the key %s is %d times in the line %s", key, n, s.Text())
			}
		}
		if keys["time"] != 1 || keys["level"] != 1 || keys["msg"] != 1 {
			t.Errorf("time, level or msg is missing in the line %s", s.Text())
		}
	}
	if lines < 5 || !strings.Contains(log, `"level":"DEBUG"`) {
		t.Errorf("%d lines, want several, also of level debug", lines)
	}
	for _, token := range append(tokens, lab.Config.BearerToken) {
		if token != "" && strings.Contains(log, token) {
			t.Error("the log contains a token")
		}
	}
}
