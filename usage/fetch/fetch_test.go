package fetch

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage"
)

func getURL(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func newTestClient(t *testing.T, o Options) *http.Client {
	t.Helper()
	c := must.Get(New(o))(t)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestAnswersAreBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := strings.Repeat("a", 1000)
		switch r.URL.Path {
		case "/more":
			body += "a"
		case "/chunked":
			body += "a"
			w.(http.Flusher).Flush()
		case "/zipped":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			_, _ = z.Write([]byte(strings.Repeat("a", 100000)))
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	c := newTestClient(t, Options{MaxBytes: 1000})
	for path, fits := range map[string]bool{"/just": true, "/more": false, "/chunked": false, "/zipped": false} {
		body, err := getURL(t, c, s.URL+path)
		if fits && (err != nil || len(body) != 1000) {
			t.Errorf("%s: %d bytes, %v", path, len(body), err)
		}
		if !fits && (err == nil || ProblemOf(err, time.Second).Kind != usage.BadAnswer) {
			t.Errorf("%s: %d bytes, %v", path, len(body), err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	asked := 0
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, s.URL+"/login?state=hunter2", http.StatusFound)
	}))
	defer s.Close()
	_, err := getURL(t, newTestClient(t, Options{}), s.URL)
	if err == nil {
		t.Fatal("no error")
	}
	p := ProblemOf(err, time.Second)
	want := "the server answers 302, a redirect to " + strings.TrimPrefix(s.URL, "http://") + "; redirects are not followed"
	if p.Kind != usage.BadAnswer || p.Detail != want || asked != 1 {
		t.Errorf("%+v after %d requests", p, asked)
	}
}

func TestTheTokenIsReadAnew(t *testing.T) {
	got := ""
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	}
	if _, err := New(Options{TokenFile: file}); err == nil {
		t.Error("ReadFiles accepted a missing file")
	}
	write("one\n")
	c := newTestClient(t, Options{TokenFile: file})
	for _, token := range []string{"one", "two"} {
		write(token + "\n")
		if _, err := getURL(t, c, s.URL); err != nil || got != "Bearer "+token {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, bad := range []string{"", "\n", "a b", "a\nb"} {
		write(bad)
		if _, err := getURL(t, c, s.URL); err == nil || strings.Contains(err.Error(), "a b") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTheAuthoritiesAreReadAnew(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	s := httptest.NewTLSServer(ok)
	defer s.Close()
	s.Config.ErrorLog = nil
	file := filepath.Join(t.TempDir(), "ca")
	must.Succeed(t, os.WriteFile(file, []byte("nothing"), 0o600))
	if _, err := New(Options{CAFile: file}); err == nil || !strings.Contains(err.Error(), "contains no certificate") {
		t.Errorf("%v", err)
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	must.Succeed(t, os.WriteFile(file, authority, 0o600))
	c := newTestClient(t, Options{CAFile: file})
	if body, err := getURL(t, c, s.URL); err != nil || body != "ok" {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := getURL(t, newTestClient(t, Options{}), s.URL); err == nil || ProblemOf(err, time.Second).Kind != usage.Unreachable {
		t.Errorf("an unknown authority: %v", err)
	}
	must.Succeed(t, os.WriteFile(file, []byte("nothing"), 0o600))
	if _, err := getURL(t, c, s.URL); err == nil {
		t.Error("an emptied file is still used")
	}
}

func TestWhyThereIsNoAnswer(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short" {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("short"))
			return
		}
		<-done
	}))
	defer s.Close()
	defer close(done)
	c := newTestClient(t, Options{})
	_, err := getURL(t, c, s.URL+"/short")
	if p := ProblemOf(err, time.Second); p.Kind != usage.BadAnswer || p.Detail != "the answer is truncated" {
		t.Errorf("%+v", p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if _, err = c.Do(r); err == nil {
		t.Fatal("an answer")
	}
	if p := ProblemOf(err, 50*time.Millisecond); p.Kind != usage.Unreachable || p.Detail != "no answer within 50ms" {
		t.Errorf("%+v", p)
	}
	_, err = getURL(t, c, "http://me:hunter2@127.0.0.1:1/x")
	if p := ProblemOf(err, time.Second); p.Kind != usage.Unreachable || strings.Contains(p.Detail, "hunter2") ||
		!strings.Contains(p.Detail, "refused") {
		t.Errorf("%+v", p)
	}
}
