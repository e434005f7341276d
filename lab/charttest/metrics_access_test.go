package charttest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/evenkeel-project/evenkeel/lab/podrunner"
)

// TestMissingPermissionForMetricsIsNamed removes the permissions with which the pods of a release check who reads their
// metrics.
func TestMissingPermissionForMetricsIsNamed(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-rules-access")
	r.attacked = true
	createNamespace(ctx, t, r.namespace)
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-tls"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}}
	if _, err := r.client.CoreV1().Secrets(r.namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.installChart(t, chart, "--set", "crds.keep=false,tls.secretName=evenkeel-tls,metrics.authorize=true")
	r.waitForLog(ctx, t, "leads=true")
	list := slices.DeleteFunc(r.permissions(ctx, t), func(p permission) bool { return isUsedInAPass(p) })
	if len(list) != 2 {
		t.Fatalf("the release has the permissions %v, want one for tokens and one for access", list)
	}
	pod := r.waitForPod(ctx, t, "ReplicaSet")
	address, err := podrunner.LocalAddress(ctx, lab, r.namespace, pod.Name, 8080)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	// ask returns the status for a token whose owner may not read metrics. The server keeps such answers for a while.
	token := r.tokenConfig(ctx, t).BearerToken
	ask := func() (int, string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		answer.Body.Close()
		return answer.StatusCode, answer.Status
	}
	eventually(ctx, t, "a client without access to be refused", func() (bool, string) {
		status, text := ask()
		return status == http.StatusForbidden, text
	})
	before, err := r.logs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.isNamedIn(before) {
			t.Errorf("with all permissions, the program says that %s is missing:\n%s", p, before)
		}
		restore := r.remove(ctx, t, p)
		eventually(ctx, t, "the program to say that "+p.String()+" is missing", func() (bool, string) {
			status, answer := ask()
			text, err := r.logs(ctx)
			if err != nil {
				return false, err.Error()
			}
			return status == http.StatusServiceUnavailable && p.isNamedIn(text), answer + "\n" + text
		})
		restore()
	}
	r.uninstall(ctx, t)
}
