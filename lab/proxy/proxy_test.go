package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// startBehindProxy starts a server, a proxy in front of it, and a client of the proxy.
func startBehindProxy(t *testing.T, o Options, h http.HandlerFunc) (*Proxy, *http.Client) {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	o.Target = srv.URL
	o.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	p := must.Get(Start(o))(t)
	t.Cleanup(p.Close)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.CA())
	return p, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: o.HTTP2}}
}

func getComplete(c *http.Client, url string) (int, string, error) {
	r, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

func TestCredentialsAreTheClients(t *testing.T) {
	p, c := startBehindProxy(t, Options{}, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
	r, _ := http.NewRequest(http.MethodGet, p.URL()+"/api/v1/pods", nil)
	r.Header.Set("Authorization", "Bearer x")
	res := must.Get(c.Do(r))(t)
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); string(b) != "Bearer x" {
		t.Errorf("the server received Authorization %q, want the client's", b)
	}
}

// TestFaults checks, for each fault, what the client receives and whether the request reaches the server.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault   fault
		code    int
		reached int32
		broken  bool // the client gets no complete response
		retry   string
	}{
		{none, 200, 1, false, ""}, {delayed, 200, 1, false, ""}, {serverError, 500, 0, false, ""}, {serverErrorAfter, 500, 1, false, ""},
		{throttled, 429, 0, false, ""}, {throttledRetryAfter, 429, 0, false, "1"},
		{reset, 0, 0, true, ""}, {resetAfter, 0, 1, true, ""}, {truncated, 200, 1, true, ""},
		{noStreamingList, 400, 0, false, ""}, {watchExpired, 410, 0, false, ""},
	} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s h2=%t", c.fault, h2), func(t *testing.T) {
				var reached atomic.Int32
				p, client := startBehindProxy(t, Options{HTTP2: h2}, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					reached.Add(1)
					fmt.Fprint(w, strings.Repeat("x", 1000))
				})
				p.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					p.injectFault(&gatedWriter{ResponseWriter: w, proxy: p, ctx: r.Context(), answered: func() {}}, r, Eviction,
						c.fault, time.Millisecond)
				})
				r, err := client.Post(p.URL()+"/api/v1/namespaces/x/pods/y/eviction", "application/json", strings.NewReader("{}"))
				code, whole := 0, err == nil
				if err == nil {
					defer r.Body.Close()
					code = r.StatusCode
					_, err = io.ReadAll(r.Body)
					whole = err == nil
					if got := r.Header.Get("Retry-After"); got != c.retry {
						t.Errorf("Retry-After %q, want %q", got, c.retry)
					}
				}
				if code != c.code || whole == c.broken || reached.Load() != c.reached {
					t.Errorf("got code %d, complete %t, server reached %d times; want %d, %t, %d",
						code, whole, reached.Load(), c.code, !c.broken, c.reached)
				}
			})
		}
	}
}

func TestStaleLists(t *testing.T) {
	var n atomic.Int32
	p, c := startBehindProxy(t, Options{ListCache: NewListCache(), Faults: Faults{StaleFor: time.Minute}},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n.Add(1)) })
	list := p.URL() + "/api/v1/pods?resourceVersion=0"
	for _, want := range []string{"1", "2"} {
		if _, body, err := getComplete(c, list); body != want || err != nil {
			t.Fatalf("got %q, %v", body, err)
		}
	}
	r := httptest.NewRequest(http.MethodGet, list+"&limit=500", nil)
	r.Header.Set("Accept-Encoding", "gzip") // the client above sends this header
	w := httptest.NewRecorder()
	p.injectFault(&gatedWriter{ResponseWriter: w, proxy: p, ctx: r.Context(), answered: func() {}}, r, List, staleList, 0)
	if w.Body.String() != "1" {
		t.Errorf("got %q, want the first answer", w.Body)
	}
	for range 200 { // a list without a resource version must be current
		rnd, r := rand.New(rand.NewPCG(uint64(n.Add(1)), 0)), httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
		if f, _ := (Faults{Rate: 1}).pickFault(rnd, List, r); f == staleList {
			t.Fatal("got a stale list for a request without a resource version")
		}
	}
}

// TestALapsedWatchIsFollowedByAStaleList checks that the client must list after an expired watch, and gets an
// outdated list.
func TestALapsedWatchIsFollowedByAStaleList(t *testing.T) {
	var n atomic.Int32
	p, c := startBehindProxy(t, Options{ListCache: NewListCache(), Faults: Faults{StaleFor: time.Minute}},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n.Add(1)) })
	list := p.URL() + "/api/v1/pods?resourceVersion=0"
	if _, body, err := getComplete(c, list); body != "1" || err != nil {
		t.Fatalf("got %q, %v", body, err)
	}
	p.forceStaleList(watchExpired, Watch, httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=true&resourceVersion=7", nil))
	if code, _, err := getComplete(c, p.URL()+"/api/v1/pods?watch=true&sendInitialEvents=true"); code != 400 || err != nil {
		t.Errorf("the streaming list got status %d, error %v; want status 400", code, err)
	}
	for _, want := range []string{"1", "2"} { // stale once, then current
		if _, body, err := getComplete(c, list); body != want || err != nil {
			t.Errorf("got %q, %v, want %s", body, err, want)
		}
	}
}

func TestRate(t *testing.T) {
	rnd, f := rand.New(rand.NewPCG(1, 2)), Faults{Rate: 0.3, RateByClass: map[Class]float64{Event: 0}}
	r := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
	hits := 0
	for range 10000 {
		if x, _ := f.pickFault(rnd, Get, r); x != none {
			hits++
		}
		if x, _ := f.pickFault(rnd, Event, r); x != none {
			t.Fatal("got a fault for an event, whose rate is 0")
		}
	}
	if hits < 2800 || hits > 3200 {
		t.Errorf("%d of 10000 requests have a fault, want about 3000", hits)
	}
}

// TestCut checks that a proxy forwards no request and no response while it is cut, including a request in progress.
func TestCut(t *testing.T) {
	var reached atomic.Int32
	under, goOn := make(chan struct{}), make(chan struct{})
	p, c := startBehindProxy(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if r.URL.Path == "/slow" {
			close(under)
			<-goOn
		}
		fmt.Fprint(w, "yes")
	})
	type answer struct {
		body string
		err  error
	}
	slow, next := make(chan answer, 1), make(chan answer, 1)
	go func() { _, b, err := getComplete(c, p.URL()+"/slow"); slow <- answer{b, err} }()
	<-under
	p.Cut(false)
	close(goOn)
	go func() { _, b, err := getComplete(c, p.URL()+"/next"); next <- answer{b, err} }()
	select {
	case a := <-slow:
		t.Fatalf("a response passed the cut proxy: %+v", a)
	case a := <-next:
		t.Fatalf("a response passed the cut proxy: %+v", a)
	case <-time.After(100 * time.Millisecond): // the absence of traffic can only be observed by waiting
	}
	if reached.Load() != 1 {
		t.Errorf("%d requests reached the server, want 1", reached.Load())
	}
	p.Restore()
	if a, b := <-slow, <-next; a.body != "yes" || b.body != "yes" {
		t.Errorf("responses after Restore: %+v, %+v", a, b)
	}
	p.Cut(true)
	if _, _, err := getComplete(c, p.URL()+"/refused"); err == nil {
		t.Error("a request passed the proxy after Cut with refuse")
	}
}

func TestHooksSeeEveryRequestTwice(t *testing.T) {
	seen := make(chan string, 8)
	p, c := startBehindProxy(t, Options{Hook: func(c Class, n int, m Moment) { seen <- fmt.Sprint(c, n, m) }},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "yes") })
	for range 2 {
		if _, _, err := getComplete(c, p.URL()+"/api/v1/pods"); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"list1arrived", "list1answered", "list2arrived", "list2answered"} {
		if got := strings.ReplaceAll(<-seen, " ", ""); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		method, url string
		want        Class
	}{
		{"GET", "/api/v1/pods?resourceVersion=0", List},
		{"GET", "/api/v1/namespaces/shop/pods", List},
		{"GET", "/api/v1/namespaces/shop/pods/d0", Get},
		{"GET", "/api/v1/namespaces/kube-system", Get},
		{"GET", "/apis/apps/v1/deployments", List},
		{"GET", "/apis/apps/v1/namespaces/shop/deployments/d", Get},
		{"GET", "/version", Get},
		{"GET", "/api", Get},
		{"GET", "/apis/apps/v1", Get},
		{"GET", "/api/v1/pods?watch=true", Watch},
		{"POST", "/api/v1/namespaces/shop/pods/d0/eviction", Eviction},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/ek/leases/evenkeel", Lease},
		{"POST", "/apis/coordination.k8s.io/v1/namespaces/ek/leases", Lease},
		{"PUT", "/api/v1/namespaces/ek/configmaps/evenkeel-state", State},
		{"POST", "/apis/events.k8s.io/v1/namespaces/shop/events", Event},
		{"PATCH", "/api/v1/nodes/n1", Other},
	} {
		if got := classify(httptest.NewRequest(c.method, c.url, nil)); got != c.want {
			t.Errorf("%s %s has class %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

func TestNoTarget(t *testing.T) {
	if _, err := Start(Options{Target: "https://127.0.0.1:1", CA: []byte("no")}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v, want an error about the certificate authority", err)
	}
}
