package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func parseServing(t *testing.T, args ...string) *servingFlags {
	t.Helper()
	f := &servingFlags{}
	fl := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.add(fl)
	must.Succeed(t, fl.Parse(args))
	return f
}

const tlsFlags = "--tls-cert-file=a.crt --tls-private-key-file=a.key "

func TestServingFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                               "",
		tlsFlags:                         "",
		"--tls-private-key-file=a.key":   "belong together",
		"--authorize-metrics":            "without encryption",
		tlsFlags + "--authorize-metrics": "",
		"--authorize-metrics --bind-address=127.0.0.1:8080":      "",
		"--authorize-metrics --bind-address=[::1]:8080":          "",
		"--authorize-metrics --bind-address=localhost:0":         "",
		"--authorize-metrics --bind-address=10.0.0.1:8080":       "without encryption",
		"--authorize-metrics --bind-address=0.0.0.0:8080":        "without encryption",
		"--bind-address=nowhere":                                 "--bind-address: \"nowhere\" is not an address",
		"--metrics-audiences=a":                                  "no tokens are checked",
		tlsFlags + "--authorize-metrics --metrics-audiences=a,b": "",
		"--debug-address=127.0.0.1:6060":                         "",
		"--debug-address=[::1]:0":                                "",
		"--debug-address=:6060":                                  "not a loopback address",
		"--debug-address=192.168.1.1:6060":                       "not a loopback address",
		"--debug-address=127.0.0.1.example.com:6060":             "not a loopback address",
		"--debug-address=127.0.0.1:99999":                        "is not a port",
	} {
		err := parseServing(t, strings.Fields(args)...).check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

func testPages() statusPages {
	return statusPages{Metrics: prometheus.NewRegistry(), Client: fake.NewClientset(), Log: slog.New(slog.DiscardHandler),
		Config: func() any { return map[string]string{"a": "b"} }}
}

// usedAddress returns an address on which a listener exists.
func usedAddress(t *testing.T) string {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestAddressesInUse(t *testing.T) {
	used := usedAddress(t)
	for arg, want := range map[string]string{"--bind-address=" + used: "set --bind-address", "--debug-address=" + used: "set --debug-address"} {
		if _, err := parseServing(t, "--bind-address=127.0.0.1:0", arg).listen(testPages()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}

// TestListen: both servers answer while work runs, and end with it. Only clients with a token get the metrics.
func TestListen(t *testing.T) {
	first, second := freeAddress(t), freeAddress(t)
	s := must.Get(parseServing(t, "--bind-address="+first, "--debug-address="+second, "--authorize-metrics").listen(testPages()))(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	failure := errors.New("work failed")
	if err := s.runBeside(t.Context(), func(context.Context) error {
		for url, want := range map[string]int{first + "/livez": 200, first + "/metrics": 401, first + "/configz": 404, first + "/debug/pprof/": 404,
			second + "/configz": 200, second + "/debug/pprof/heap": 200, second + "/metrics": 404} {
			r, err := client.Get("http://" + url)
			if err != nil {
				t.Error(err)
				continue
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			if r.StatusCode != want {
				t.Errorf("%s: %d, want %d", url, r.StatusCode, want)
			}
		}
		return failure
	}); !errors.Is(err, failure) {
		t.Errorf("got %v, want the error of work", err)
	}
	if _, err := client.Get("http://" + first + "/livez"); err == nil {
		t.Error("the server answers after work has ended")
	}
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// TestAServerThatFailsStopsTheOthers checks that the program ends if one of its servers fails, because it must not
// continue without its health checks.
func TestAServerThatFailsStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("accept failed")
		untilStopped := func(ctx context.Context) error { <-ctx.Done(); return nil }
		s := &servers{runs: []func(context.Context) error{untilStopped, func(context.Context) error { return failure }}}
		if err := s.runBeside(t.Context(), untilStopped); !errors.Is(err, failure) {
			t.Errorf("got %v, want the error of the server", err)
		}
	})
}
