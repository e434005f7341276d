package ui

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// refused checks the answer to a request, and that a refusal has no cookie and no page.
func refused(t *testing.T, name string, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	r := w.Result()
	text := string(must.Get(io.ReadAll(r.Body))(t))
	if r.StatusCode != want || want >= 400 && (len(r.Cookies()) > 0 || strings.Contains(text, "<html")) {
		t.Errorf("%s: %d %.200s, want %d", name, r.StatusCode, text, want)
	}
}

// status checks the status of an answer.
func status(t *testing.T, name string, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("%s: %d %.400s, want %d", name, w.Code, w.Body, want)
	}
}

// TestOnlyLoopback: the server refuses to begin on another address.
func TestOnlyLoopback(t *testing.T) {
	for _, ip := range []net.IP{net.IPv4zero, net.IPv4(10, 0, 0, 1), net.IPv6zero} {
		if _, err := New(Options{}, &net.TCPAddr{IP: ip, Port: 1}); err == nil {
			t.Errorf("the server begins on %s", ip)
		}
	}
}

// TestDNSRebinding: a page whose name leads to 127.0.0.1 names another host, also with the right port and a cookie.
func TestDNSRebinding(t *testing.T) {
	x := newSite(t)
	for _, h := range []string{"evil.example", "evil.example:8443", "127.0.0.1", "127.0.0.1:80", "[::1]:8443", "127.0.0.1.evil.example:8443", ""} {
		for _, path := range []string{"/", "/version", "/start?secret=" + x.guard.secret} {
			refused(t, h+path, x.do("GET", x.guard.base+path, nil, func(r *http.Request) { r.Host = h }), http.StatusMisdirectedRequest)
		}
	}
	refused(t, "localhost", x.do("GET", x.guard.base+"/", nil, func(r *http.Request) { r.Host = "localhost:8443" }), http.StatusOK)
}

// TestForeignOrigin: a form of another site, of another port, or without an origin changes nothing, even if it has the
// cookie and the token. Pages of other sites cannot read or embed a page either.
func TestForeignOrigin(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	r := func(change func(http.Header)) func(*http.Request) {
		return func(r *http.Request) { change(r.Header) }
	}
	token := x.send("/pause", url.Values{"until": {"1h"}})
	refused(t, "own form", token, http.StatusSeeOther)
	x.stored.Calls = map[string]int{}
	form := func() url.Values { return url.Values{"until": {"1h"}, "token": {x.tokenOf()}} }
	for name, change := range map[string]func(http.Header){
		"another site": func(h http.Header) { h.Set("Origin", "https://evil.example") },
		"another port": func(h http.Header) { h.Set("Origin", "http://127.0.0.1:9999"); h.Set("Sec-Fetch-Site", "same-site") },
		"no name":      func(h http.Header) { h.Set("Origin", "null") },
		"nothing":      func(h http.Header) { h.Del("Origin"); h.Del("Sec-Fetch-Site") },
		"cross-site":   func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") },
		"https":        func(h http.Header) { h.Set("Origin", "https://"+host) },
		"localhost":    func(h http.Header) { h.Set("Origin", "http://localhost:8443") },
	} {
		refused(t, name, x.do("POST", x.guard.base+"/pause", form(), r(change)), http.StatusForbidden)
	}
	refused(t, "no token", x.do("POST", x.guard.base+"/pause", url.Values{"until": {"1h"}}), http.StatusForbidden)
	refused(t, "JSON", x.do("POST", x.guard.base+"/pause", form(), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }), http.StatusBadRequest)
	refused(t, "an embedded page", x.do("GET", x.guard.base+"/", nil, r(func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") })), http.StatusForbidden)
	if n := x.stored.Calls["update rebalancers"]; n != 0 {
		t.Errorf("%d writes, want none", n)
	}
}

func (x *site) tokenOf() string {
	r := must2(http.NewRequest("GET", "/", nil))
	r.AddCookie(x.cookie)
	return x.guard.token(r)
}

func must2(r *http.Request, err error) *http.Request {
	if err != nil {
		panic(err)
	}
	return r
}

// TestAnotherLocalUser: without the cookie there is no page, no file and no answer, and paths outside of the secret
// beginning do not exist.
func TestAnotherLocalUser(t *testing.T) {
	x := newSite(t)
	session := x.cookie
	x.cookie = nil
	for _, path := range []string{"/", "/plans", "/version", "/static/ui.js", "/cluster"} {
		refused(t, path, x.do("GET", x.guard.base+path, nil), http.StatusUnauthorized)
		refused(t, path, x.do("GET", path, nil), http.StatusNotFound)
	}
	refused(t, "a form", x.do("POST", x.guard.base+"/pause", url.Values{"until": {"1h"}}), http.StatusUnauthorized)
	x.cookie = &http.Cookie{Name: session.Name, Value: session.Value + "x"}
	refused(t, "a wrong cookie", x.do("GET", x.guard.base+"/", nil), http.StatusUnauthorized)
	if !session.HttpOnly || session.SameSite != http.SameSiteStrictMode || session.Path != x.guard.base+"/" {
		t.Errorf("the cookie is %v, want HttpOnly, SameSite=Strict, and the path of the pages", session)
	}
}

// TestReusedSecret: the printed address signs in one browser. The next address is another one.
func TestReusedSecret(t *testing.T) {
	x := newSite(t)
	first := must.Get(url.Parse(x.Address()))(t).RequestURI()
	x.cookie = nil
	refused(t, "the second address", x.do("GET", first, nil), http.StatusOK)
	refused(t, "the same again", x.do("GET", first, nil), http.StatusForbidden)
	for _, secret := range []string{"", "x", x.guard.secret + "x"} {
		refused(t, "secret "+secret, x.do("GET", x.guard.base+"/start?secret="+secret, nil), http.StatusForbidden)
	}
	refused(t, "a form", x.do("POST", x.guard.base+"/start?secret="+x.guard.secret, url.Values{}), http.StatusForbidden)
	if len(x.printed) != 2 || x.printed[0] == x.printed[1] || strings.Contains(x.printed[1], first) {
		t.Errorf("printed %q, want one new address after each use", x.printed)
	}
}

// TestNoProxy: no request reaches the API server with a path, a host or a verb that the client chose.
func TestNoProxy(t *testing.T) {
	x := newSite(t)
	x.read(t, "/")
	x.client.ClearActions()
	for _, path := range []string{"/api/v1/secrets", "/apis/apps/v1/deployments", "/api/v1/namespaces/shop/pods/web/exec", "/static/../../etc/passwd", "/static/ui.go",
		"/plans/a/b", "//evil.example/", "/openapi/v2", "/static/%2e%2e%2fui.go"} {
		for _, at := range []string{path, x.guard.base + path} {
			w := x.do("GET", at, nil)
			if w.Code == http.StatusOK {
				t.Errorf("GET %s is answered: %s", at, w.Body)
			}
		}
	}
	for _, name := range []string{"..%2f..%2fapi", "a%20b", "none"} {
		status(t, name, x.do("GET", x.guard.base+"/plans/"+name, nil), http.StatusNotFound)
	}
	absolute := func(r *http.Request) {
		r.RequestURI = "http://kubernetes.default/api/v1/secrets"
		r.URL = must2(http.NewRequest("GET", r.RequestURI, nil)).URL
	}
	refused(t, "absolute form", x.do("GET", "/", nil, absolute), http.StatusBadRequest)
	refused(t, "own absolute form", x.do("GET", "/", nil, func(r *http.Request) {
		r.RequestURI = "http://" + host + x.guard.base + "/"
	}), http.StatusBadRequest)
	refused(t, "CONNECT", x.do("GET", "/", nil, func(r *http.Request) { r.Method, r.RequestURI = "CONNECT", "kubernetes.default:443" }), http.StatusBadRequest)
	for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
		refused(t, method, x.do(method, x.guard.base+"/plans/a", nil), http.StatusMethodNotAllowed)
	}
	for _, a := range x.client.Actions() {
		if a.GetResource().Resource != "selfsubjectaccessreviews" {
			t.Errorf("the API server got %s %s", a.GetVerb(), a.GetResource().Resource)
		}
	}
}

// TestHeaders: browsers keep, frame and guess nothing, and load only what this server serves.
func TestHeaders(t *testing.T) {
	x := newSite(t)
	for _, path := range []string{"/", "/nothing", "/static/ui.js", "/version"} {
		h := x.do("GET", x.guard.base+path, nil).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	page := x.read(t, "/")
	for _, inline := range []string{" style=", "<style", " onclick=", "javascript:", "<script>"} {
		if strings.Contains(page, inline) {
			t.Errorf("the page has %q, which its policy forbids", inline)
		}
	}
}

// TestLargeForm: a form is read up to its bound.
func TestLargeForm(t *testing.T) {
	x := newSite(t)
	w := x.send("/pause", url.Values{"reason": {strings.Repeat("x", maxBodyBytes)}})
	refused(t, "a large form", w, http.StatusBadRequest)
}
