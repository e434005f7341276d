package connection_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// parse returns the flags of a command line, with a kubeconfig whose context has the namespace shop.
func parse(t *testing.T, server string, args ...string) *connection.Flags {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\n" +
		"contexts: [{name: a, context: {cluster: a, user: a, namespace: shop}}, {name: b, context: {cluster: a, user: b}}]\n" +
		"clusters: [{name: a, cluster: {insecure-skip-tls-verify: true, server: \"" + server + "\"}}]\nusers: [{name: a, user: {token: token-a}}, {name: b, user: {token: token-b}}]\n"
	must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	f := &connection.Flags{}
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Add(fl)
	must.Succeed(t, fl.Parse(append([]string{"--kubeconfig", file}, args...)))
	must.Succeed(t, f.Check())
	return f
}

// TestFlagsOfKubectl checks that every flag of kubectl about the connection exists.
func TestFlagsOfKubectl(t *testing.T) {
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(connection.Flags).Add(fl)
	for _, want := range strings.Fields(`as as-group as-uid as-user-extra certificate-authority client-certificate client-key cluster context
		disable-compression insecure-skip-tls-verify kubeconfig namespace password proxy-url request-timeout server
		tls-server-name token user username`) {
		if fl.Lookup(want) == nil {
			t.Errorf("there is no flag --%s", want)
		}
	}
}

// TestOverrides checks what the server receives.
func TestOverrides(t *testing.T) {
	headers := make(chan http.Header, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1"}`)
	}))
	defer server.Close()
	for _, c := range []struct {
		args         []string
		header, want string
	}{
		{nil, "Authorization", "Bearer token-a"},
		{[]string{"--context", "b"}, "Authorization", "Bearer token-b"},
		{[]string{"--user", "b"}, "Authorization", "Bearer token-b"},
		{[]string{"--token", "other"}, "Authorization", "Bearer other"},
		{[]string{"--as", "ann"}, "Impersonate-User", "ann"},
		{[]string{"--as", "ann", "--as-group", "ops"}, "Impersonate-Group", "ops"},
		{[]string{"--as", "ann", "--as-uid", "7"}, "Impersonate-Uid", "7"},
		{[]string{"--as", "ann", "--as-user-extra", "scopes=a=b"}, "Impersonate-Extra-Scopes", "a=b"},
		{[]string{"-s", server.URL}, "Authorization", "Bearer token-a"},
	} {
		address := server.URL
		if slices.Contains(c.args, "-s") {
			address = "https://127.0.0.1:1"
		}
		listNodes(t, parse(t, address, c.args...), nil)
		if got := (<-headers).Get(c.header); got != c.want {
			t.Errorf("%v: %s is %q, want %q", c.args, c.header, got, c.want)
		}
	}
}

// listNodes lists nodes, and checks the error: nil for none.
func listNodes(t *testing.T, f *connection.Flags, want error) {
	t.Helper()
	conf := must.Get(f.RESTConfig())(t)
	client := must.Get(kubernetes.NewForConfig(conf))(t)
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// TestRequestTimeout checks that --request-timeout ends a request that the server does not answer, also in the middle
// of its body, and that it does not end a watch.
func TestRequestTimeout(t *testing.T) {
	done := make(chan struct{})
	begun := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	const event = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}}`
	const timeout = 200 * time.Millisecond
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			begun(w, event)
			select {
			case <-r.Context().Done(): // the client ended the watch
				return
			case <-time.After(3 * timeout):
			}
			begun(w, event)
		case strings.HasSuffix(r.URL.Path, "nodes"):
			begun(w, `{"kind":"NodeList",`)
		}
		<-done
	}))
	defer server.Close()
	defer close(done)
	listNodes(t, parse(t, server.URL, "--request-timeout", timeout.String()), context.DeadlineExceeded)

	conf := must.Get(parse(t, server.URL, "--request-timeout", timeout.String()).RESTConfig())(t)
	client := must.Get(kubernetes.NewForConfig(conf))(t)
	if _, err := client.CoreV1().Pods("a").Get(t.Context(), "p", metav1.GetOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request without an answer: %v, want a deadline", err)
	}
	watch := must.Get(client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{}))(t)
	defer watch.Stop()
	for i := range 2 {
		if e, open := <-watch.ResultChan(); !open || e.Type != "ADDED" {
			t.Fatalf("event %d of the watch: %v %v, want an added node", i+1, e, open)
		}
	}
}

func TestNamespace(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "shop"},
		{[]string{"-n", "ops"}, "ops"},
		{[]string{"--namespace", "ns/ops"}, "ops"}, // as kubectl
		{[]string{"--context", "b"}, "default"},
		{[]string{"--kubeconfig", "/nowhere"}, "default"},
	} {
		if got := parse(t, "https://127.0.0.1:1", c.args...).Namespace(); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
}

func TestInvalidFlags(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"namespace", "My_Space", "is not a namespace"},
		{"request-timeout", "soon", "cannot be read"},
	} {
		f := &connection.Flags{}
		fl := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.Add(fl)
		must.Succeed(t, fl.Set(c.flag, c.value))
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--%s %s: %v, want %q", c.flag, c.value, err, c.want)
		}
	}
}
