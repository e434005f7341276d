package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/observe"
)

// connectTimeout bounds how long a command waits for the first complete read of the cluster.
const connectTimeout = 30 * time.Second

// client connects with the kubeconfig that kubectl would use, or with the service account of the pod. The client does
// not reload a changed kubeconfig; newReloadingClient returns one that does.
func (g *globalFlags) client() (kubernetes.Interface, *rest.Config, error) {
	c, err := g.restConfig()
	if err != nil {
		return nil, nil, err
	}
	return connect(c)
}

// restConfig returns the address of the cluster and the credentials. The client has no rate limit of its own, because
// the API server limits requests by priority and fairness.
func (g *globalFlags) restConfig() (*rest.Config, error) {
	c, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(g.loadingRules(),
		&clientcmd.ConfigOverrides{CurrentContext: g.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %s", g.describeKubeconfigError(err))
	}
	c.UserAgent = "evenkeel/" + programVersion()
	c.QPS = -1 // no limit: the evictor could not see that its requests wait here
	c.ContentType = "application/vnd.kubernetes.protobuf"
	c.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return c, nil
}

func (g *globalFlags) loadingRules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = g.kubeconfig
	return rules
}

func connect(c *rest.Config) (kubernetes.Interface, *rest.Config, error) {
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to %s: %w; check the kubeconfig", serverHost(c), err)
	}
	return client, c, nil
}

var (
	noKubeconfig = regexp.MustCompile(`^error loading config file "([^"]*)": .*(?:json parse error|no kind "|cannot unmarshal)`)
	noCluster    = regexp.MustCompile(`no server found for cluster "([^"]*)"`)
	noContext    = regexp.MustCompile(`context was not found for specified context: ([^,\]]*)`)
)

// describeKubeconfigError explains why the kubeconfig is unusable, without the Go type names of client-go errors.
func (g *globalFlags) describeKubeconfigError(err error) string {
	const check = "; check --kubeconfig and --context"
	text := err.Error()
	var file *fs.PathError
	switch {
	case clientcmd.IsEmptyConfig(err) && g.kubeconfig == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return g.describeKubeconfigVariable()
	case clientcmd.IsEmptyConfig(err) && g.kubeconfig == "":
		return "no kubeconfig was found, and this is not a pod; set --kubeconfig or KUBECONFIG"
	case clientcmd.IsEmptyConfig(err):
		return g.kubeconfig + " selects no cluster; check its current-context, contexts and clusters"
	case noKubeconfig.MatchString(text):
		return noKubeconfig.FindStringSubmatch(text)[1] + " is not a kubeconfig (want kind: Config)" + check
	case noContext.MatchString(text):
		return fmt.Sprintf("the kubeconfig has no context %q%s", noContext.FindStringSubmatch(text)[1], check)
	case noCluster.MatchString(text):
		return fmt.Sprintf("cluster %q of the kubeconfig has no server%s", noCluster.FindStringSubmatch(text)[1], check)
	case errors.As(err, &file) && file.Path != g.kubeconfig && !clientcmd.IsConfigurationInvalid(err):
		return "a file that the kubeconfig names cannot be read: " + text + check
	}
	return text + check
}

// describeKubeconfigVariable explains why the files of the environment variable KUBECONFIG select no cluster.
func (g *globalFlags) describeKubeconfigVariable() string {
	missing := slices.DeleteFunc(slices.Clone(g.loadingRules().GetLoadingPrecedence()), func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
	if len(missing) > 0 {
		return "KUBECONFIG names files that do not exist: " + strings.Join(missing, ", ")
	}
	return "KUBECONFIG=" + os.Getenv(clientcmd.RecommendedConfigPathEnvVar) +
		" selects no cluster; check its current-context, contexts and clusters"
}

// serverHost returns the URL of the API server, with any password redacted.
func serverHost(c *rest.Config) string {
	u, err := url.Parse(c.Host)
	if err != nil {
		return "the API server"
	}
	return u.Redacted()
}

// startObserver starts an observer and waits until the observer has read the whole cluster.
func (g *globalFlags) startObserver(ctx context.Context, client kubernetes.Interface, conf *rest.Config) (*observe.Observer, error) {
	o := observe.New(client, clock.RealClock{})
	o.Start(ctx)
	return o, g.waitForSync(ctx, o, conf)
}

// waitForSync waits until the observer has read the whole cluster, for at most syncTimeout.
func (g *globalFlags) waitForSync(ctx context.Context, o *observe.Observer, conf *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, g.syncTimeout)
	defer cancel()
	if err := o.WaitForSync(ctx); err != nil {
		return fmt.Errorf("reading the cluster at %s: %w", serverHost(conf), err)
	}
	return nil
}

// explainForbidden names the missing permission if err says that the API server denied the request.
func explainForbidden(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("permission to %s is missing; grant it to this account: %w", what, err)
	}
	return err
}

// version is set by the linker in images, because their build has no git history.
var version string

// programVersion returns the version that the linker set, or else the version that the go command derives from git.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
