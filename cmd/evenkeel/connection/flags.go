// Package connection connects to the cluster that a command line names, as kubectl does.
//
// The package decides which server, credentials and namespace the kubeconfig, its overrides and the pod's own account
// select, and how long one request may take. The only request that it sends asks for the name of its user.
package connection

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are kubectl's flags about the connection. The zero value selects what the kubeconfig says.
type Flags struct {
	Kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// names are the names of the flags, with the short names that kubectl gives them.
func names() clientcmd.ConfigOverrideFlags {
	f := clientcmd.RecommendedConfigOverrideFlags("")
	f.ClusterOverrideFlags.APIServer.ShortName = "s"
	f.ContextOverrideFlags.Namespace.Description = "Namespace of the pod or workload that the command is about, or else of the release"
	f.Timeout.Description = "Timeout of a single request other than a watch, such as 10s; 0 means no timeout"
	return f
}

// Add adds the flags to a set.
func (f *Flags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.Kubeconfig, "kubeconfig", "", "Path to the kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the pod's service account)")
	clientcmd.BindOverrideFlags(&f.overrides, fl, names())
	fl.Var(&userExtra{user: &f.overrides.AuthInfo}, "as-user-extra",
		"User extra to impersonate for the operation, as `KEY=VALUE`; you can repeat this flag, also with the same key")
}

// userExtra is the value of --as-user-extra, which clientcmd does not bind.
type userExtra struct {
	user *clientcmdapi.AuthInfo
	all  []string
}

func (u *userExtra) Type() string       { return "KEY=VALUE" }
func (u *userExtra) String() string     { return strings.Join(u.all, ",") }
func (u *userExtra) GetSlice() []string { return u.all }

// Append and Replace complete pflag.SliceValue.
func (u *userExtra) Append(text string) error { return u.Set(text) }
func (u *userExtra) Replace([]string) error   { return errors.New("not supported") }

func (u *userExtra) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want KEY=VALUE")
	}
	if u.user.ImpersonateUserExtra == nil {
		u.user.ImpersonateUserExtra = map[string][]string{}
	}
	u.user.ImpersonateUserExtra[key] = append(u.user.ImpersonateUserExtra[key], value)
	u.all = append(u.all, text)
	return nil
}

// RESTConfig returns the address of the cluster and the credentials. A request may take as long as --request-timeout
// says; a watch may take longer.
func (f *Flags) RESTConfig() (*rest.Config, error) {
	c, err := f.clientConfig().ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %s", f.describeError(err))
	}
	if err := f.applyOverrides(c); err != nil {
		return nil, err
	}
	if c.Timeout < 0 {
		return nil, fmt.Errorf("--request-timeout: %s is too short (want 0s, or more than 0s)", c.Timeout)
	}
	// The timeout of an HTTP client also ends watches, so each request gets its own.
	if timeout := c.Timeout; timeout > 0 {
		c.Timeout = 0
		c.Wrap(withTimeout(timeout))
	}
	return c, nil
}

// applyOverrides applies the flags that client-go ignores if the pod's own account is used. With a kubeconfig,
// client-go has applied them before, with the same result.
func (f *Flags) applyOverrides(c *rest.Config) error {
	server, user := &f.overrides.ClusterInfo, &f.overrides.AuthInfo
	if f.overrides.Timeout != "" {
		timeout, err := clientcmd.ParseTimeout(f.overrides.Timeout)
		if err != nil {
			return fmt.Errorf("--request-timeout: %w", err)
		}
		c.Timeout = timeout
	}
	if server.InsecureSkipTLSVerify {
		c.Insecure, c.CAFile, c.CAData = true, "", nil // client-go rejects both together
	}
	if server.TLSServerName != "" {
		c.ServerName = server.TLSServerName
	}
	if server.DisableCompression {
		c.DisableCompression = true
	}
	if server.ProxyURL != "" {
		proxy, err := url.Parse(server.ProxyURL)
		if err != nil || proxy.Host == "" {
			return fmt.Errorf("--proxy-url: %q is not a URL", server.ProxyURL)
		}
		c.Proxy = http.ProxyURL(proxy)
	}
	if user.Impersonate+user.ImpersonateUID != "" || len(user.ImpersonateGroups)+len(user.ImpersonateUserExtra) > 0 {
		c.Impersonate = rest.ImpersonationConfig{UserName: user.Impersonate, UID: user.ImpersonateUID, Groups: user.ImpersonateGroups,
			Extra: user.ImpersonateUserExtra}
	}
	if user.ClientCertificate != "" || user.ClientKey != "" {
		c.CertFile, c.KeyFile, c.CertData, c.KeyData = user.ClientCertificate, user.ClientKey, nil, nil
	}
	if user.Username != "" || user.Password != "" {
		c.Username, c.Password, c.BearerToken, c.BearerTokenFile = user.Username, user.Password, "", ""
	}
	return nil
}

func (f *Flags) clientConfig() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(f.rules(), &f.overrides)
}

func (f *Flags) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	return rules
}

// KubeconfigFiles returns the paths of the kubeconfig files, also of those that do not exist.
func (f *Flags) KubeconfigFiles() []string { return f.rules().GetLoadingPrecedence() }

// Check returns an error for the flags that can be checked without a kubeconfig.
func (f *Flags) Check() error {
	if ns := f.overrides.Context.Namespace; ns != "" && len(validation.IsDNS1123Label(ns)) > 0 {
		return fmt.Errorf("--namespace: %q is not a namespace (want lower case letters, digits and dashes)", ns)
	}
	if _, err := clientcmd.ParseTimeout(f.overrides.Timeout); f.overrides.Timeout != "" && err != nil {
		return fmt.Errorf("--request-timeout: %q cannot be read (want a number and a unit, such as 90s or 5m, or 0)", f.overrides.Timeout)
	}
	return nil
}

// Context returns the name of the context of the kubeconfig, or "" without one.
func (f *Flags) Context() string {
	if f.overrides.CurrentContext != "" {
		return f.overrides.CurrentContext
	}
	raw, err := f.clientConfig().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}

// NamespaceFlag returns the value of --namespace, or "".
func (f *Flags) NamespaceFlag() string { return f.overrides.Context.Namespace }

// Namespace returns the namespace for names without one: that of --namespace, of the kubeconfig's context or of the
// pod, or default. A kubeconfig that cannot be read selects default, because a snapshot needs none.
func (f *Flags) Namespace() string {
	ns, _, err := f.clientConfig().Namespace()
	if err != nil || ns == "" {
		return "default"
	}
	return ns
}

// KubeconfigNames returns the names of the contexts, clusters and users of the kubeconfig, by the name of the flag that
// selects one: context, cluster or user. It returns nothing for a kubeconfig that cannot be read.
func (f *Flags) KubeconfigNames() map[string][]string {
	raw, err := f.clientConfig().RawConfig()
	if err != nil {
		return nil
	}
	return map[string][]string{
		clientcmd.FlagContext:      slices.Sorted(maps.Keys(raw.Contexts)),
		clientcmd.FlagClusterName:  slices.Sorted(maps.Keys(raw.Clusters)),
		clientcmd.FlagAuthInfoName: slices.Sorted(maps.Keys(raw.AuthInfos)),
	}
}

// SetUserAgent sets how the client names itself to the API server. It removes client-go's own limit of requests per
// second, because the API server limits requests by priority and fairness, and a caller could not see that requests
// wait here.
func SetUserAgent(c *rest.Config, userAgent string) {
	c.UserAgent = userAgent
	c.QPS = -1
	c.ContentType = "application/vnd.kubernetes.protobuf"
	c.AcceptContentTypes = strings.Join([]string{c.ContentType, "application/json"}, ",")
}
