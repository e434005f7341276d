package web_test

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/web"
)

// The expected texts are those of https://kubernetes.io/docs/reference/using-api/health-checks/, except that the reason
// of a failure is shown.
func TestHealthChecks(t *testing.T) {
	fails := func() error { return errors.New("no progress") }
	server := &web.Server{Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Health: web.Health{
		Live:  []web.Check{{Name: "leader-election", Check: works}, {Name: "progress", Check: fails}},
		Ready: []web.Check{{Name: "informer-sync", Check: works}},
	}}
	h := server.Handler()
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/readyz":                       {200, "ok\n"},
		"/readyz?verbose":               {200, "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n"},
		"/readyz?verbose=true":          {200, "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n"},
		"/readyz/informer-sync":         {200, "ok\n"},
		"/readyz/ping":                  {200, "ok\n"},
		"/readyz/ping?verbose":          {200, "[+]ping ok\nreadyz check passed\n"},
		"/readyz/progress":              {404, "404 page not found\n"},
		"/livez":                        {503, "[+]ping ok\n[+]leader-election ok\n[-]progress failed: no progress\nlivez check failed\n"},
		"/livez?verbose":                {503, "[+]ping ok\n[+]leader-election ok\n[-]progress failed: no progress\nlivez check failed\n"},
		"/livez?exclude=progress":       {200, "ok\n"},
		"/livez/progress":               {503, "[-]progress failed: no progress\nlivez check failed\n"},
		"/livez/leader-election":        {200, "ok\n"},
		"/readyz?exclude=x%0Ay&verbose": {200, "[+]ping ok\n[+]informer-sync ok\nwarn: there is no check \"x\\ny\" to exclude\nreadyz check passed\n"},
		"/livez?verbose&exclude=progress&exclude=ping": {200,
			"[+]ping excluded: ok\n[+]leader-election ok\n[+]progress excluded: ok\nlivez check passed\n"},
	} {
		if code, text := getPage(t, h, http.MethodGet, path); code != want.code || text != want.text {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want.code, want.text)
		}
	}
}
