package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// writeCertificate writes tls.crt and tls.key of a new certificate to a folder, and returns the certificate.
func writeCertificate(t *testing.T, dir string) []byte {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	cert := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	keyDER := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, b := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: cert}, "tls.key": {Type: "PRIVATE KEY", Bytes: keyDER}} {
		must.Succeed(t, os.MkdirAll(dir, 0o700))
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600))
	}
	return cert
}

// TestARotatedCertificateIsServed replaces a mounted Secret as the kubelet does: the files are links into the folder
// ..data, which is a link that is renamed. A certificate with the key of another one is not served.
func TestARotatedCertificateIsServed(t *testing.T) {
	mount := t.TempDir()
	publish := func(version string) {
		t.Helper()
		tmp := filepath.Join(mount, "..data_tmp")
		must.Succeed(t, os.Symlink(version, tmp))
		must.Succeed(t, os.Rename(tmp, filepath.Join(mount, "..data")))
	}
	first := writeCertificate(t, filepath.Join(mount, "..v1"))
	publish("..v1")
	for _, name := range []string{"tls.crt", "tls.key"} {
		must.Succeed(t, os.Symlink(filepath.Join("..data", name), filepath.Join(mount, name)))
	}
	var files watchedFiles
	m := metrics.New("v1", "")
	served := must.Get(files.loadAndWatchCertificate(filepath.Join(mount, "tls.crt"), filepath.Join(mount, "tls.key"), m, slog.New(slog.NewTextHandler(io.Discard, nil))))(t)
	check := func(when string, want []byte) {
		t.Helper()
		for range 3 {
			files.watchers[0].checkNow()
		}
		if got := served.Load().Certificate[0]; !bytes.Equal(got, want) {
			t.Errorf("%s: another certificate is served", when)
		}
	}
	check("at the start", first)
	second := writeCertificate(t, filepath.Join(mount, "..v2"))
	publish("..v2")
	check("after a rotation", second)
	writeCertificate(t, filepath.Join(mount, "..v3"))
	other := filepath.Join(mount, "..v4")
	writeCertificate(t, other)
	must.Succeed(t, os.Rename(filepath.Join(other, "tls.key"), filepath.Join(mount, "..v3", "tls.key")))
	publish("..v3")
	check("with the key of another certificate", second)
	if in := files.rejectedFiles(); len(in) != 1 || in[0].Source != "certificate" || !strings.Contains(in[0].Problems[0], "--tls-private-key-file") {
		t.Errorf("rejected files: %+v", in)
	}
	fourth := writeCertificate(t, filepath.Join(mount, "..v5"))
	publish("..v5")
	check("after the mistake", fourth)
	if in := files.rejectedFiles(); len(in) != 0 {
		t.Errorf("rejected files: %+v", in)
	}
}

// notSecret are keys that only sound like a secret.
var notSecret = map[string]string{
	"config.Load.Prometheus.BasicAuth.Username": "the password is in a file",
	"config.Load.Prometheus.OAuth2.TokenURL":    "an address with a password is rejected",
	"config.Load.Prometheus.Headers":            "headers whose name sounds like a secret are rejected",
}

// TestConfigPageHasNoSecrets: keys of the configuration that sound like a secret must name a file.
func TestConfigPageHasNoSecrets(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(x reflect.Type, path string)
	walk = func(x reflect.Type, path string) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			walk(x.Elem(), path)
		case reflect.Struct:
			if seen[x] {
				return
			}
			seen[x] = true
			for f := range x.Fields() {
				if !f.IsExported() {
					continue
				}
				name := path + "." + f.Name
				for _, word := range []string{"token", "secret", "password", "credential", "header", "bearer", "auth", "username"} {
					if strings.Contains(strings.ToLower(f.Name), word) && !strings.HasSuffix(f.Name, "File") && f.Type.Kind() != reflect.Struct &&
						notSecret[name] == "" {
						t.Errorf("%s may be a secret, and /configz would show it (want the name of a file)", name)
					}
				}
				walk(f.Type, name)
			}
		}
	}
	walk(reflect.TypeFor[config.Config](), "config")
	if !seen[reflect.TypeFor[config.Prometheus]()] || !seen[reflect.TypeFor[config.NotifyReceiver]()] {
		t.Error("the types with files of tokens were not checked")
	}
}

// TestConfigPage: the page has the newest configuration with its defaults.
func TestConfigPage(t *testing.T) {
	conf := must.Get(config.Load("config.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"+
		"strategies: {zones: {type: Duplicates, schedule: \"0 * * * *\", args: {ownerKinds: {exclude: [Job]}}}}\n")))(t)
	r := &runCommand{}
	r.newest.Store(conf)
	text := must.Get(json.Marshal(r.effectiveConfig()))(t)
	for _, want := range []string{`"hash":"` + conf.Hash() + `"`, `"configHash":"` + conf.PlanHash() + `"`, `"dryRun":true`, `"strategies":{"zones":`, `"exclude":["Job"]`, `"verifyTimeout":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not contain %s: %s", want, text)
		}
	}
}
