//go:build linux

package imagetest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// startPrometheus runs a real Prometheus that serves HTTPS with a certificate of a new authority. It returns
// its address and the authority's certificate. It scrapes nothing: the queries of the tests have the values.
func startPrometheus(t *testing.T) (url string, authority []byte) {
	t.Helper()
	ca, err := controlplane.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := ca.IssueCertificate("prometheus", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"server.crt": string(cert), "server.key": string(key), "prometheus.yml": "{}\n",
		"web.yml": "tls_server_config: {cert_file: server.crt, key_file: server.key}\n"} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	port, err := freeport.Get()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := exec.Command(os.Getenv("EVENKEEL_PROMETHEUS"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.config.file="+filepath.Join(dir, "web.yml"), "--web.listen-address="+address)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus:\n%s", output.String())
		}
	})
	url = "https://" + address
	waitForPrometheus(t, url, ca.PEM())
	return url, ca.PEM()
}

func waitForPrometheus(t *testing.T, url string, authority []byte) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	err := seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		answer, err := client.Get(url + "/-/ready")
		if err != nil {
			return false, err
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		t.Fatalf("waiting for Prometheus: %v", err)
	}
}
