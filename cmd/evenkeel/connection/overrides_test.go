package connection

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestFlagsInAPod checks the flags that client-go ignores together with the pod's own account.
func TestFlagsInAPod(t *testing.T) {
	f := &Flags{}
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Add(fl)
	must.Succeed(t, fl.Parse([]string{"--as", "alice", "--as-group", "ops", "--as-user-extra", "scopes=a,b",
		"--as-user-extra", "scopes=c", "--as-user-extra", "team=", "--request-timeout", "7s", "--insecure-skip-tls-verify",
		"--tls-server-name", "kubernetes", "--proxy-url", "http://proxy:3128"}))
	c := &rest.Config{Host: "https://10.0.0.1", BearerTokenFile: "/var/run/token", TLSClientConfig: rest.TLSClientConfig{CAFile: "/var/run/ca.crt"}}
	must.Succeed(t, f.applyOverrides(c))
	if c.Impersonate.UserName != "alice" || len(c.Impersonate.Groups) != 1 || c.Timeout != 7*time.Second || !c.Insecure || c.CAFile != "" ||
		c.ServerName != "kubernetes" || c.BearerTokenFile == "" {
		t.Errorf("the configuration is %+v", c)
	}
	if want := map[string][]string{"scopes": {"a,b", "c"}, "team": {""}}; !reflect.DeepEqual(c.Impersonate.Extra, want) {
		t.Errorf("extras %v, want %v", c.Impersonate.Extra, want)
	}
	if err := fl.Parse([]string{"--as-user-extra", "scopes"}); err == nil || !strings.Contains(err.Error(), "want KEY=VALUE") {
		t.Errorf("an extra without a value: error %v", err)
	}
	proxy, err := c.Proxy(&http.Request{})
	if err != nil || proxy.Host != "proxy:3128" {
		t.Errorf("proxy %v, %v", proxy, err)
	}
	before := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "/var/run/ca.crt"}, Timeout: time.Second}
	if err := new(Flags).applyOverrides(before); err != nil || before.CAFile == "" || before.Timeout != time.Second {
		t.Errorf("without flags: %+v, %v", before, err)
	}
}
