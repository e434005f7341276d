package prometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

func newTestAlerts(t *testing.T, h http.Handler, patterns ...string) *Alerts {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	client := must.Get(fetch.New(fetch.Options{MaxBytes: 1 << 20}))(t)
	a := must.Get(NewAlerts(Options{URL: s.URL, Timeout: 100 * time.Millisecond, Client: client}, patterns))(t)
	return a
}

func alertsJSON(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf(`{"metric":{"__name__":"ALERTS","alertname":%q,"alertstate":"firing"},"value":[1,"1"]}`, n))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(out, ",") + `]}}`
}

func TestFiringAlerts(t *testing.T) {
	var body string
	a := newTestAlerts(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.FormValue("query"), `ALERTS{alertstate="firing",alertname=~"(?:KubeAPIDown)|(?:etcd.*|a\"b)"}`; got != want {
			t.Errorf("query %s, want %s", got, want)
		}
		if _, err := promql.Parse(r.FormValue("query")); err != nil {
			t.Error(err)
		}
		if r.FormValue("time") != "" || r.FormValue("lookback_delta") != "" {
			t.Errorf("the query has a time of ours: %v", r.Form)
		}
		fmt.Fprint(w, body)
	}), "KubeAPIDown", `etcd.*|a"b`)
	for _, c := range []struct{ fire, want []string }{
		{nil, nil},
		{[]string{"etcdNoLeader", "KubeAPIDown", "etcdNoLeader"}, []string{"KubeAPIDown", "etcdNoLeader"}},
		{[]string{"etcd" + strings.Repeat("x", 100)}, []string{"etcd" + strings.Repeat("x", 76) + "..."}},
	} {
		body = alertsJSON(c.fire...)
		if got, err := a.Firing(t.Context()); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q fire: %q, %v, want %q", c.fire, got, err, c.want)
		}
	}
}

// TestAlertsAreUnknownWithoutAPlausibleAnswer checks that no bad answer means that nothing fires.
func TestAlertsAreUnknownWithoutAPlausibleAnswer(t *testing.T) {
	for want, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"no answer within 100ms": neverAnswer,
		"the server answers 503": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"set tokenFile":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
		"a redirect to example.com": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		},
		"a web page":                    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"the answer is empty":           func(http.ResponseWriter, *http.Request) {},
		"the answer is a matrix":        answerWith(strings.Replace(alertsJSON(), "vector", "matrix", 1)),
		"the answer may be partial":     answerWith(strings.Replace(alertsJSON(), `"data"`, `"warnings":["a store is down"],"data"`, 1)),
		"larger than 1 MiB":             answerWith(strings.Repeat(" ", 2<<20)),
		"the alert Watchdog, which":     answerWith(alertsJSON("Watchdog", "KubeAPIDown")),
		"the alert NotKubeAPIDown":      answerWith(alertsJSON("NotKubeAPIDown")),
		`the alert "", which the query`: answerWith(strings.Replace(alertsJSON("KubeAPIDown"), "alertname", "name", 1)),
		"a very long message":           answerWith(`{"status":"error","error":"a very long message` + strings.Repeat(" x", 5000) + `"}`),
	} {
		a := newTestAlerts(t, http.HandlerFunc(answer), "KubeAPIDown")
		got, err := a.Firing(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > maxAlertError+3 {
			t.Errorf("%q, error %.200q; want one with %q", got, fmt.Sprint(err), want)
		}
	}
}

// neverAnswer reads the query, because the server notices only then that the client has gone.
func neverAnswer(_ http.ResponseWriter, r *http.Request) {
	_ = r.FormValue("query")
	<-r.Context().Done()
}

func answerWith(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func TestAlertPatterns(t *testing.T) {
	for pattern, want := range map[string]string{"KubeAPIDown": "", "etcd.*|Kube.*": "", "": "is empty", " ": "is empty",
		"a(": "is not a regular expression", "a)|(b": "is not a regular expression"} {
		err := CheckAlertPattern(pattern)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", pattern, err, want)
		}
	}
	if _, err := NewAlerts(Options{URL: "http://me:hunter2@\x00"}, []string{"a"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
