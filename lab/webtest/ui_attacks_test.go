package webtest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// rebound is a name of an attacker that the browser resolves to this machine, as after DNS rebinding.
const rebound = "rebound.example"

// raw sends a request line and headers as they are, and returns the status and the body.
func raw(t *testing.T, address, requestLine string, headers ...string) (status int, body string) {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	c := must.Get(net.DialTimeout("tcp", u.Host, 5*time.Second))(t)
	defer c.Close()
	must.Succeed(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	_ = must.Get(fmt.Fprintf(c, "%s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", requestLine, strings.Join(headers, "\r\n")))(t)
	r := must.Get(http.ReadResponse(bufio.NewReader(c), nil))(t)
	defer r.Body.Close()
	b := make([]byte, 1<<16)
	n, _ := r.Body.Read(b)
	return r.StatusCode, string(b[:n])
}

// TestAttacksOnUIAreRefused sends what another program, another user of this machine and a page of another site can
// send. Nothing of the cluster is shown, and nothing is changed.
func TestAttacksOnUIAreRefused(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 4}, 1)
	startRelease(t, ns, rareZones)
	ui, address := startUI(t, lab.Kubeconfig, ns)
	p, base := openUI(t, views[0], address)
	host := strings.TrimPrefix(origin(address), "http://")
	path := strings.TrimPrefix(base, origin(address))
	own := "Host: " + host
	cookie := must.Get(chromedp.Run(p.ctx, cookies()))(t)

	if status, body := raw(t, address, "GET "+path+"/", own, cookie); status != http.StatusOK || !strings.Contains(body, "Evenkeel") {
		t.Fatalf("the right request is answered with %d, so this test proves nothing", status)
	}
	for name, request := range map[string][]string{
		"DNS rebinding":                  {"GET " + path + "/", "Host: " + rebound, cookie},
		"DNS rebinding with the port":    {"GET " + path + "/", "Host: " + rebound + host[strings.Index(host, ":"):], cookie},
		"another user":                   {"GET " + path + "/", own},
		"another user who guesses":       {"GET " + path + "/", own, cookie[:len(cookie)-4] + "AAAA"},
		"the secret again":               {"GET " + strings.TrimPrefix(address, origin(address)), own},
		"another user's form":            {"POST " + path + "/pause", own, "Content-Length: 0"},
		"a form of another site":         {"POST " + path + "/pause", own, cookie, "Origin: http://" + rebound, "Content-Length: 0"},
		"a form of another port":         {"POST " + path + "/pause", own, cookie, "Origin: http://127.0.0.1:1", "Content-Length: 0"},
		"a form of no origin":            {"POST " + path + "/pause", own, cookie, "Origin: null", "Content-Length: 0"},
		"a form without the token":       {"POST " + path + "/pause", own, cookie, "Origin: " + origin(address), "Content-Type: application/x-www-form-urlencoded", "Content-Length: 0"},
		"JSON":                           {"POST " + path + "/pause", own, cookie, "Origin: " + origin(address), "Content-Type: application/json", "Content-Length: 0"},
		"a script of another site":       {"GET " + path + "/", own, cookie, "Sec-Fetch-Site: cross-site"},
		"another method":                 {"DELETE " + path + "/", own, cookie},
		"a proxy":                        {"CONNECT " + strings.TrimPrefix(lab.Config.Host, "https://"), own, cookie},
		"a proxy by address":             {"GET " + lab.Config.Host + "/api/v1/pods", own, cookie},
		"a path of the API":              {"GET /api/v1/pods", own, cookie},
		"a path of the API in the pages": {"GET " + path + "/api/v1/pods", own, cookie},
		"a path upwards":                 {"GET " + path + "/plans/..%2f..%2f..%2fapi%2fv1%2fpods", own, cookie},
		"a path upwards as it is":        {"GET " + path + "/../api/v1/pods", own, cookie},
		"the first page without path":    {"GET /", own, cookie},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := raw(t, address, request[0], request[1:]...)
			if status < 300 && !strings.Contains(body, "The plan cannot be read.") || strings.Contains(body, "d-seed") {
				t.Errorf("%q is answered with %d:\n%s", request[0], status, body)
			}
		})
	}
	t.Run("pages of another site", func(t *testing.T) { attackFromAnotherSite(t, p, base) })
	t.Run("DNS rebinding in a browser", func(t *testing.T) {
		q := open(t, views[0], strings.Replace(address, "127.0.0.1", rebound, 1))
		q.checkShown("body", "The host of the request is not this program.")
	})
	next := ui.waitFor(t, `http://127\.0\.0\.1:\d+/\S+`)
	if next == address {
		t.Error("after the address was used, no other one was printed")
	}
	if r := must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objects, ns, "rebalancers").DoRaw(t.Context()))(t); strings.Contains(string(r), `"pause":{`) {
		t.Errorf("somebody paused the release: %s", r)
	}
}

// attackFromAnotherSite opens a page of another site in the browser that is signed in. The page knows the address of
// every page of `evenkeel ui`.
func attackFromAnotherSite(t *testing.T, signedIn *page, base string) {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/form" {
			fmt.Fprintf(w, `<form method="post" action="%s/pause"><input name="reason" value="attack"><input name="until" value=""></form><script>document.forms[0].submit()</script>`, base)
			return
		}
		fmt.Fprint(w, `<title>Another site</title>`)
	}))
	defer site.Close()
	p := signedIn.newTab()
	p.do(chromedp.Navigate(site.URL))
	for name, attempt := range map[string]string{
		"reads":             `fetch(%q, {credentials: "include"}).then(r => r.text(), e => "refused")`,
		"posts":             `fetch(%q + "pause", {method: "POST", credentials: "include", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "reason=attack"}).then(r => r.text(), e => "refused")`,
		"loads as a script": `new Promise(done => { const s = document.createElement("script"); s.src = %q + "static/ui.js"; s.onload = () => done("loaded"); s.onerror = () => done("refused"); document.head.append(s) })`,
		"frames":            `new Promise(done => { const f = document.createElement("iframe"); f.src = %q; f.onload = () => { try { done(f.contentDocument ? f.contentDocument.body.innerText || "refused" : "refused") } catch { done("refused") } }; document.documentElement.append(f) })`,
	} {
		got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf(attempt, base+"/"), chromedp.EvalAwaitPromise))
		if err != nil || got != "refused" {
			t.Errorf("another site %s the pages: %v, %s", name, err, got)
		}
	}
	p.do(chromedp.Navigate(site.URL + "/form"))
	p.waitForText("refused")
}
