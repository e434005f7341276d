package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// atOnce is a clock whose timers fire immediately.
type atOnce struct{ clock.RealClock }

func (c atOnce) NewTimer(time.Duration) clock.Timer { return c.RealClock.NewTimer(0) }

// pushgateway answers pushes with the given status codes, one after the other, and repeats the last one.
type pushgateway struct {
	codes    []int
	answer   string
	requests []string // method, path, user, password
	bodies   []string
}

func (g *pushgateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, pass, _ := r.BasicAuth()
	body, _ := io.ReadAll(r.Body)
	code := g.codes[min(len(g.requests), len(g.codes)-1)]
	g.requests = append(g.requests, fmt.Sprintf("%s %s %s:%s", r.Method, sortedPath(r.URL.Path), user, pass))
	g.bodies = append(g.bodies, string(body))
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(code)
	io.WriteString(w, g.answer)
}

// sortedPath brings the grouping labels into a fixed order.
func sortedPath(path string) string {
	if head, tail, found := strings.Cut(path, "/strategies/"); found {
		value, rest, _ := strings.Cut(tail, "/")
		if rest != "" {
			return head + "/" + rest + "/strategies/" + value
		}
	}
	return path
}

func pushTo(t *testing.T, ctx context.Context, g *pushgateway, userinfo string, strategies ...string) (*metrics.Pusher, error) {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	p := must.Get(metrics.NewPusher("http://"+userinfo+strings.TrimPrefix(server.URL, "http://")+"/base/", "ek", strategies, atOnce{}))(t)
	m := metrics.New("v1", "abc")
	m.SetLeading(true)
	return p, p.Push(ctx, m)
}

// TestAPushHasTheMetricsOfThePass: the group names the release and the strategies, and the credentials are not in it.
func TestAPushHasTheMetricsOfThePass(t *testing.T) {
	g := &pushgateway{codes: []int{200}}
	p, err := pushTo(t, t.Context(), g, "bob:s3cret%2F@", "hot", "zones")
	if err != nil || len(g.requests) != 1 || g.requests[0] != "PUT /base/metrics/job/evenkeel/release/ek/strategies/hot+zones bob:s3cret/" {
		t.Fatalf("%v, %q", err, g.requests)
	}
	if strings.Contains(p.Address(), "bob") || strings.Contains(p.Address(), "s3cret") {
		t.Errorf("the address has credentials: %s", p.Address())
	}
	for name, want := range map[string]bool{"evenkeel_build_info": true, "evenkeel_passes_total": true, "go_goroutines": false,
		"process_start_time_seconds": false, "evenkeel_leader": false} {
		if strings.Contains(g.bodies[0], name) != want {
			t.Errorf("%s is sent: %t", name, !want)
		}
	}
	g = &pushgateway{codes: []int{503, 503, 202}}
	if _, err := pushTo(t, t.Context(), g, ""); err != nil || len(g.requests) != 3 || !strings.HasSuffix(g.requests[2], "/strategies/all :") {
		t.Errorf("with two failures: %v, %q", err, g.requests)
	}
}

// TestAFailedPushSaysWhyWithoutCredentials: three attempts at most, no redirect, and a short error.
func TestAFailedPushSaysWhyWithoutCredentials(t *testing.T) {
	for code, text := range map[int]string{500: "disk is full", 307: "unexpected status code 307", 401: "unexpected status code 401"} {
		g := &pushgateway{codes: []int{code}, answer: "disk is full " + strings.Repeat("x", 5000)}
		_, err := pushTo(t, t.Context(), g, "bob:s3cret@")
		switch {
		case err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "after 3 of 3 attempts"):
			t.Errorf("%d: %v", code, err)
		case strings.Contains(err.Error(), "bob") || strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 1000:
			t.Errorf("%d: %d bytes: %v", code, len(err.Error()), err)
		case len(g.requests) != 3 || strings.Contains(strings.Join(g.requests, " "), "/elsewhere"):
			t.Errorf("%d: %q", code, g.requests)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	g := &pushgateway{codes: []int{200}}
	if _, err := pushTo(t, ended, g, "bob:s3cret@"); err == nil || strings.Contains(err.Error(), "s3cret") || len(g.requests) != 0 {
		t.Errorf("after the end: %v, %q", err, g.requests)
	}
}

func TestAWrongPushURLIsNotRepeated(t *testing.T) {
	for _, address := range []string{"pushgateway:9091", "ftp://bob:s3cret@host", "http://", "http://bob:s3cret@host:x", "http://bob:s3cret@host?a=b",
		"http://bob:s3cret@host/%zz", "http://h\x7fost/s3cret"} {
		p, err := metrics.NewPusher(address, "ek", nil, clock.RealClock{})
		if p != nil || err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", address, p, err)
		}
	}
	invalid := strings.Join([]string{"http://bob:s3cret@host", "x"}, ":") // vet rejects an invalid URL as a constant
	if _, err := url.Parse(invalid); err == nil || !strings.Contains(err.Error(), "s3cret") {
		t.Errorf("url.Parse no longer repeats the password: %v; the test proves nothing", err)
	}
}
