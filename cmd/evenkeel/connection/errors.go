package connection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

var (
	noKubeconfig = regexp.MustCompile(`^error loading config file "([^"]*)": .*(?:json parse error|no kind "|cannot unmarshal)`)
	noCluster    = regexp.MustCompile(`no server found for cluster "([^"]*)"`)
	noContext    = regexp.MustCompile(`context was not found for specified context: ([^,\]]*)`)
)

// describeError explains why the kubeconfig is unusable, without the Go type names of client-go errors.
func (f *Flags) describeError(err error) string {
	const check = "; check --kubeconfig and --context"
	text := err.Error()
	var file *fs.PathError
	switch {
	case clientcmd.IsEmptyConfig(err) && f.Kubeconfig == "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return f.describeVariable()
	case clientcmd.IsEmptyConfig(err) && f.Kubeconfig == "":
		return "no kubeconfig was found, and this is not a pod; set --kubeconfig or KUBECONFIG"
	case clientcmd.IsEmptyConfig(err):
		return f.Kubeconfig + " selects no cluster; check its current-context, contexts and clusters"
	case noKubeconfig.MatchString(text):
		return noKubeconfig.FindStringSubmatch(text)[1] + " is not a kubeconfig (want kind: Config)" + check
	case noContext.MatchString(text):
		return fmt.Sprintf("the kubeconfig has no context %q%s", noContext.FindStringSubmatch(text)[1], check)
	case noCluster.MatchString(text):
		return fmt.Sprintf("cluster %q of the kubeconfig has no server%s", noCluster.FindStringSubmatch(text)[1], check)
	case errors.As(err, &file) && file.Path != f.Kubeconfig && !clientcmd.IsConfigurationInvalid(err):
		return "a file that the kubeconfig names cannot be read: " + text + check
	}
	return text + check
}

// describeVariable explains why the files of the environment variable KUBECONFIG select no cluster.
func (f *Flags) describeVariable() string {
	missing := slices.DeleteFunc(slices.Clone(f.KubeconfigFiles()), func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
	if len(missing) > 0 {
		return "KUBECONFIG names files that do not exist: " + strings.Join(missing, ", ")
	}
	return "KUBECONFIG=" + os.Getenv(clientcmd.RecommendedConfigPathEnvVar) +
		" selects no cluster; check its current-context, contexts and clusters"
}
