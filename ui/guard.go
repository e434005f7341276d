package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxSessions bounds the browsers that are signed in. The oldest is signed out first.
const maxSessions = 16

// maxBodyBytes bounds a form.
const maxBodyBytes = 1 << 18

// guard decides which requests are answered: those of a browser that was opened with the printed address, and that
// come from the pages themselves.
type guard struct {
	hosts []string // 127.0.0.1 and localhost, with the port
	// base is the beginning of all paths. Browsers send a cookie to every port of a host, so the cookie is limited to
	// this path, which no page of another program knows.
	base   string
	cookie string // the name of the cookie
	key    []byte // of the tokens in forms

	mu       sync.Mutex
	secret   string   // of the printed address; it can be used once
	sessions []string // the oldest first
}

// secretBytes is the size of secrets.
const secretBytes = 32

func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func newGuard(port int) *guard {
	p := strconv.Itoa(port)
	return &guard{hosts: []string{"127.0.0.1:" + p, "localhost:" + p}, base: "/" + newSecret()[:16], cookie: "evenkeel-" + p,
		key: []byte(newSecret()), secret: newSecret()}
}

// address returns the address that signs one browser in.
func (g *guard) address() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "http://" + g.hosts[0] + g.base + "/start?secret=" + g.secret
}

// start exchanges the secret for a session. The next secret is another one.
func (g *guard) start(secret string) (session string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(secret), []byte(g.secret)) != 1 {
		return "", false
	}
	g.secret, session = newSecret(), newSecret()
	g.sessions = append(g.sessions, session)
	g.sessions = g.sessions[max(0, len(g.sessions)-maxSessions):]
	return session, true
}

// session returns the session of a request, or "".
func (g *guard) session(r *http.Request) string {
	c, err := r.Cookie(g.cookie)
	if err != nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if subtle.ConstantTimeCompare([]byte(s), []byte(c.Value)) == 1 {
			return s
		}
	}
	return ""
}

// token returns the token in the forms of a session.
func (g *guard) token(r *http.Request) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(g.session(r)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// refusal says why a request is not answered.
type refusal struct {
	status int
	text   string
}

var (
	noProxy    = &refusal{http.StatusBadRequest, "This is no proxy. It answers only its own pages."}
	otherHost  = &refusal{http.StatusMisdirectedRequest, "The host of the request is not this program. Open the address that evenkeel ui printed."}
	badMethod  = &refusal{http.StatusMethodNotAllowed, "This method is not answered."}
	otherSite  = &refusal{http.StatusForbidden, "The request comes from another site, so it was refused. Open the address that evenkeel ui printed."}
	unknown    = &refusal{http.StatusNotFound, "There is no such page. Open the address that evenkeel ui printed."}
	signedOut  = &refusal{http.StatusUnauthorized, "This browser is not signed in. Open the address that evenkeel ui printed last; each address works once."}
	badForm    = &refusal{http.StatusBadRequest, "The form is too large or cannot be read. Nothing was changed."}
	badToken   = &refusal{http.StatusForbidden, "The form is of another session. Load the page again. Nothing was changed."}
	usedSecret = &refusal{http.StatusForbidden, "This address was used already, or is wrong. Open the address that evenkeel ui printed last; each address works once."}
)

// check returns why a request is refused before its session is looked at, or nil.
func (g *guard) check(r *http.Request) *refusal {
	site := r.Header.Get("Sec-Fetch-Site")
	starts := r.URL.Path == g.base+"/start"
	switch {
	case r.Method == http.MethodConnect, !strings.HasPrefix(r.RequestURI, "/"), r.URL.Host != "":
		return noProxy
	case !slices.Contains(g.hosts, r.Host):
		return otherHost
	case !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method):
		return badMethod
	case !strings.HasPrefix(r.URL.Path, g.base+"/"):
		return unknown
	case site != "" && site != "same-origin" && site != "none" && !(starts && r.Method == http.MethodGet):
		return otherSite // also another port of this host, which browsers call the same site
	case r.Method == http.MethodPost && !g.ownOrigin(r, site):
		return otherSite
	}
	return nil
}

// ownOrigin reports whether a browser says that a page of this server sent the form.
func (g *guard) ownOrigin(r *http.Request, site string) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin == "http://"+r.Host
	}
	return site == "same-origin"
}

// checkForm reads the form of a request, and returns why it is refused, or nil.
func (g *guard) checkForm(w http.ResponseWriter, r *http.Request) *refusal {
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") || r.ParseForm() != nil {
		return badForm
	}
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(g.token(r))) != 1 {
		return badToken
	}
	return nil
}

// setHeaders forbids browsers to keep or frame the pages, and to load anything that this server does not serve.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "+
		"base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without a referrer, browsers send no Origin with forms
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	why := s.guard.check(r)
	switch {
	case why == nil && r.URL.Path == s.guard.base+"/start":
		s.start(w, r)
		return
	case why == nil && s.guard.session(r) == "":
		why = signedOut
	case why == nil && r.Method == http.MethodPost:
		why = s.guard.checkForm(w, r)
	}
	if why != nil {
		s.Log.Debug("a request was refused", "method", r.Method, "status", why.status, "why", why.text)
		http.Error(w, why.text, why.status)
		return
	}
	http.StripPrefix(s.guard.base, s.mux).ServeHTTP(w, r)
}

// start signs a browser in. Its answer is a page and no redirection, because a browser that follows a link of another
// site sends no SameSite=Strict cookie to a redirection.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	session, ok := "", false
	if r.Method == http.MethodGet {
		session, ok = s.guard.start(r.URL.Query().Get("secret"))
	}
	if !ok && s.guard.session(r) == "" {
		http.Error(w, usedSecret.text, usedSecret.status)
		return
	}
	if ok {
		http.SetCookie(w, &http.Cookie{Name: s.guard.cookie, Value: session, Path: s.guard.base + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		s.Announce(s.Address())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Evenkeel</title>"+
		"<meta http-equiv=\"refresh\" content=\"0;url=%s/\"><p><a href=\"%s/\">Open the pages</a></p></html>\n", s.guard.base, s.guard.base)
}
