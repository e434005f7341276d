package completion

import (
	"context"
	"slices"
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

// workloadLists list the workloads of a namespace, by the name of their kind. Short names are those of kubectl.
var workloadLists = []struct {
	kinds []string // the first one is completed
	names func(ctx context.Context, client kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error)
}{
	{[]string{"deployment", "deploy"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().Deployments(namespace).List)
	}},
	{[]string{"statefulset", "sts"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().StatefulSets(namespace).List)
	}},
	{[]string{"daemonset", "ds"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().DaemonSets(namespace).List)
	}},
	{[]string{"job"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().Jobs(namespace).List)
	}},
	{[]string{"cronjob", "cj"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().CronJobs(namespace).List)
	}},
	{[]string{"replicaset", "rs"}, func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().ReplicaSets(namespace).List)
	}},
}

// workloads completes KIND/NAME and KIND/NAMESPACE/NAME. Without a slash it completes the kind, and the shell adds
// no space.
func (s *Source) workloads(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	kind, rest, named := strings.Cut(prefix, "/")
	if !named {
		var out []cobra.Completion
		for _, l := range workloadLists {
			if strings.HasPrefix(l.kinds[0], prefix) {
				out = append(out, l.kinds[0]+"/")
			}
		}
		return out, noFiles | cobra.ShellCompDirectiveNoSpace
	}
	namespace, before := s.Namespace(), kind+"/"
	if other, _, ok := strings.Cut(rest, "/"); ok {
		namespace, before = other, kind+"/"+other+"/"
	}
	return s.find(cmd, prefix, func(ctx context.Context, _ *cobra.Command, _ string) ([]cobra.Completion, error) {
		client, err := s.Client()
		if err != nil {
			return nil, err
		}
		for _, l := range workloadLists {
			if slices.Contains(l.kinds, strings.ToLower(kind)) || strings.ToLower(kind) == l.kinds[0]+"s" {
				return l.names(ctx, client, namespace, before)
			}
		}
		return nil, nil
	}), noFiles
}
