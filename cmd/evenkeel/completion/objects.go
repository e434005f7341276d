package completion

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/subject"
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

// workloadNames list the names of the workloads of a kind in a namespace, after a prefix. It has the kinds of
// subject.WorkloadKinds.
var workloadNames = map[string]func(ctx context.Context, client kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error){
	"Deployment": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().Deployments(namespace).List)
	},
	"StatefulSet": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().StatefulSets(namespace).List)
	},
	"ReplicaSet": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().ReplicaSets(namespace).List)
	},
	"DaemonSet": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.AppsV1().DaemonSets(namespace).List)
	},
	"Job": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().Jobs(namespace).List)
	},
	"CronJob": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.BatchV1().CronJobs(namespace).List)
	},
	"ReplicationController": func(ctx context.Context, c kubernetes.Interface, namespace, prefix string) ([]cobra.Completion, error) {
		return names(ctx, prefix, c.CoreV1().ReplicationControllers(namespace).List)
	},
}

// workloads completes KIND/NAME and KIND/NAMESPACE/NAME. Without a slash it completes the kind, and the shell adds
// no space.
func (s *Source) workloads(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const noFiles = cobra.ShellCompDirectiveNoFileComp
	kind, rest, named := strings.Cut(prefix, "/")
	if !named {
		var out []cobra.Completion
		for _, k := range subject.WorkloadKinds() {
			if name := strings.ToLower(k); strings.HasPrefix(name, prefix) {
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
		list := workloadNames[subject.WorkloadKind(strings.ToLower(kind))]
		client, err := s.Client()
		if err != nil || list == nil {
			return nil, err
		}
		return list(ctx, client, namespace, before)
	}), noFiles
}
