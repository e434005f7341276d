package fetch

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestBasicAuthAndHeaders(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprint(w, user, "/", password, "/", r.Header.Get("X-Scope-OrgID"), "/", r.Header.Get("User-Agent"))
	}))
	t.Cleanup(s.Close)
	file := writeFile(t, "password", "s3cret\n")
	c := newTestClient(t, Options{Username: "me", PasswordFile: file, Headers: map[string]string{"X-Scope-OrgID": "team-a"}})
	if got, err := getURL(t, c, s.URL); err != nil || got != "me/s3cret/team-a/evenkeel" {
		t.Errorf("the server sees %q (%v)", got, err)
	}
	overwrite(t, file, "other")
	if got, err := getURL(t, c, s.URL); err != nil || got != "me/other/team-a/evenkeel" {
		t.Errorf("with a new password the server sees %q (%v)", got, err)
	}
	overwrite(t, file, "")
	if _, err := getURL(t, c, s.URL); err == nil || !strings.Contains(err.Error(), "does not contain the password") {
		t.Errorf("with an empty file: %v", err)
	}
}

// tokenServer gives numbered tokens to the client me.
func tokenServer(t *testing.T, given *atomic.Int32) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" || r.FormValue("grant_type") != "client_credentials" ||
			r.FormValue("scope") != "read" {
			http.Error(w, "no: "+password, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "bearer", "expires_in": 3600}`, given.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestOAuth2 checks that a token is used until the server rejects it.
func TestOAuth2(t *testing.T) {
	var given atomic.Int32
	var rejected atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rejected.Swap(false) {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(s.Close)
	c := newTestClient(t, Options{OAuth2: &OAuth2{ClientID: "me", ClientSecretFile: writeFile(t, "secret", "s3cret"),
		TokenURL: tokenServer(t, &given).URL, Scopes: []string{"read"}}})
	for i, want := range []string{"Bearer token-1", "Bearer token-1", "\n", "Bearer token-2"} {
		rejected.Store(i == 2)
		if got, err := getURL(t, c, s.URL); err != nil || got != want {
			t.Errorf("request %d: the server sees %q (%v), want %q", i+1, got, err, want)
		}
	}
}

// TestTheTokenServerIsVerified checks that no unknown token server gets the client secret,
// and that a private authority is accepted beside those of the system.
func TestTheTokenServerIsVerified(t *testing.T) {
	var asked atomic.Int32
	tokens := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "a", "token_type": "bearer", "expires_in": 3600}`)
	}))
	t.Cleanup(tokens.Close)
	tokens.Config.ErrorLog = log.New(io.Discard, "", 0)
	o := Options{OAuth2: &OAuth2{ClientID: "me", ClientSecretFile: writeFile(t, "secret", "s3cret"), TokenURL: tokens.URL}}
	if _, err := getURL(t, newTestClient(t, o), tokens.URL); err == nil || asked.Load() != 0 {
		t.Errorf("a token server that nobody vouches for was asked %d times: %v", asked.Load(), err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tokens.Certificate().Raw})
	o.CAFile = writeFile(t, "ca", string(authority))
	if _, err := getURL(t, newTestClient(t, o), tokens.URL); err != nil || asked.Load() != 2 {
		t.Errorf("with its authority in caFile: %d requests, %v", asked.Load(), err)
	}
	want, err := x509.SystemCertPool()
	if err != nil {
		t.Skip("there are no authorities of the system: ", err)
	}
	want.AppendCertsFromPEM(authority)
	conf, err := (&transport{opts: o}).tlsConfig(authority, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := verifying(conf, authority); !got.RootCAs.Equal(want) {
		t.Error("the authorities for the token server are not those of the system and those of caFile")
	}
	if conf.RootCAs.Equal(want) {
		t.Error("the server of the metrics may use the authorities of the system too")
	}
}

// TestOAuth2ErrorsShowNoSecrets checks that the answer of the token server is not in the error.
func TestOAuth2ErrorsShowNoSecrets(t *testing.T) {
	var given atomic.Int32
	c := newTestClient(t, Options{OAuth2: &OAuth2{ClientID: "me", ClientSecretFile: writeFile(t, "secret", "wr0ng"),
		TokenURL: tokenServer(t, &given).URL}})
	_, err := getURL(t, c, "http://127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "the token server answers 401; check load.prometheus.oauth2") || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("the error is %v", err)
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	overwrite(t, file, text)
	return file
}

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
}
