package names

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// namesOf returns the names of the objects of a list after a prefix.
func namesOf(list runtime.Object, prefix string) ([]cobra.Completion, error) {
	var out []cobra.Completion
	err := meta.EachListItem(list, func(o runtime.Object) error {
		m, err := meta.Accessor(o)
		if err == nil {
			out = append(out, prefix+m.GetName())
		}
		return err
	})
	return out, err
}

func (s *Source) namespaces(ctx context.Context, _ *cobra.Command, _ string) ([]cobra.Completion, error) {
	client, err := s.Client()
	if err != nil {
		return nil, err
	}
	return names(ctx, "", client.CoreV1().Namespaces().List)
}

func (s *Source) nodes(ctx context.Context, _ *cobra.Command, _ string) ([]cobra.Completion, error) {
	client, err := s.Client()
	if err != nil {
		return nil, err
	}
	return names(ctx, "", client.CoreV1().Nodes().List)
}

// pods completes NAME and NAMESPACE/NAME.
func (s *Source) pods(ctx context.Context, _ *cobra.Command, prefix string) ([]cobra.Completion, error) {
	client, err := s.Client()
	if err != nil {
		return nil, err
	}
	if namespace, _, ok := strings.Cut(prefix, "/"); ok {
		return names(ctx, namespace+"/", client.CoreV1().Pods(namespace).List)
	}
	return names(ctx, "", client.CoreV1().Pods(s.Namespace()).List)
}

// workloadKinds lists the built-in kinds of workloads, with the short names that kubectl accepts, and how the objects
// of a namespace are listed.
var workloadKinds = []struct {
	kind, group string
	short       []string
	names       func(ctx context.Context, client kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error)
}{
	{"Deployment", "apps", []string{"deploy"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().Deployments(namespace).List)
	}},
	{"StatefulSet", "apps", []string{"sts"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().StatefulSets(namespace).List)
	}},
	{"ReplicaSet", "apps", []string{"rs"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().ReplicaSets(namespace).List)
	}},
	{"DaemonSet", "apps", []string{"ds"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().DaemonSets(namespace).List)
	}},
	{"Job", "batch", nil, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().Jobs(namespace).List)
	}},
	{"CronJob", "batch", []string{"cj"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().CronJobs(namespace).List)
	}},
	{"ReplicationController", "", []string{"rc"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.CoreV1().ReplicationControllers(namespace).List)
	}},
}

// workloads completes KIND/NAME and KIND/NAMESPACE/NAME. Without a slash it completes the kind, and the shell adds
// no space.
func (s *Source) workloads(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	kind, rest, named := strings.Cut(prefix, "/")
	if !named {
		var out []cobra.Completion
		for _, k := range workloadKinds {
			if name := strings.ToLower(k.kind); strings.HasPrefix(name, prefix) {
				out = append(out, name+"/")
			}
		}
		return out, noFiles | cobra.ShellCompDirectiveNoSpace
	}
	namespace, before := s.Namespace(), kind+"/"
	if other, _, ok := strings.Cut(rest, "/"); ok {
		namespace, before = other, kind+"/"+other+"/"
	}
	return s.find(cmd, prefix, func(ctx context.Context, _ *cobra.Command, _ string) ([]cobra.Completion, error) {
		i := indexOfKind(strings.ToLower(kind))
		client, err := s.Client()
		if err != nil || i < 0 {
			return nil, err
		}
		return workloadKinds[i].names(ctx, client, namespace, before)
	}), noFiles
}
