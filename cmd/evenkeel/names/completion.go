// Package names completes words of a command line in a shell: names of objects, strategies, plans and formats. It also
// finds the pod, node or workload that a person names.
//
// The package decides which words fit at which place, which names are valid, and what a person may have meant. A
// completion never reports an error: a shell shows it in the middle of the line that a person types, so a word that
// cannot be found is not completed.
package names

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

const (
	// lookupTimeout bounds the search for words, because a person waits for them.
	lookupTimeout = 2 * time.Second
	// pageTimeout bounds the requests, so that words of the first pages are shown if there are too many.
	pageTimeout = lookupTimeout - 200*time.Millisecond
	// pageSize is the number of objects in one answer of the server.
	pageSize = 500
)

// Source is where the words come from.
type Source struct {
	// Client connects to the cluster of the command line.
	Client func() (kubernetes.Interface, error)
	// Namespace returns the namespace for names without one.
	Namespace func() string
	// Strategies returns the strategies of the configuration of the command.
	Strategies func(ctx context.Context, cmd *cobra.Command) ([]string, error)
	// Plans returns the IDs of the plans that wait for approval, with their descriptions.
	Plans func(ctx context.Context, cmd *cobra.Command) ([]cobra.Completion, error)
	// Reasons are the reason codes, with their meanings.
	Reasons []cobra.Completion
	// Releases returns the namespaces with a release.
	Releases func(ctx context.Context) ([]string, error)
	// Kubeconfig returns the contexts, clusters and users of the kubeconfig, by the name of the flag.
	Kubeconfig func() map[string][]string
	// Formats has the values of --output for each command, by its path without the name of the program. The path ""
	// stands for all other commands.
	Formats map[string][]string
}

// Register adds the completions to all commands below root.
func (s *Source) Register(root *cobra.Command) {
	for _, flag := range []string{"context", "cluster", "user"} {
		s.flag(root, flag, func(context.Context, *cobra.Command, string) ([]cobra.Completion, error) {
			return s.Kubeconfig()[flag], nil
		})
	}
	s.flag(root, "namespace", s.namespaces)
	s.flag(root, "log-format", fixed("text", "json"))
	s.flag(root, "log-level", fixed("debug", "info", "warn", "error"))
	s.commands(root, "")
}

// commands adds the completions to a command with this path, and to those below it.
func (s *Source) commands(cmd *cobra.Command, path string) {
	s.flag(cmd, "strategy", func(ctx context.Context, cmd *cobra.Command, _ string) ([]cobra.Completion, error) {
		return s.Strategies(ctx, cmd)
	})
	s.flag(cmd, "lease-namespace", func(ctx context.Context, _ *cobra.Command, _ string) ([]cobra.Completion, error) {
		return s.Releases(ctx)
	})
	s.flag(cmd, "log-report", fixed("none", "lines", "full"))
	if formats, ok := s.Formats[path]; ok {
		s.flag(cmd, "output", fixed(formats...))
	}
	switch path {
	case "explain pod", "history pod":
		cmd.ValidArgsFunction = one(s.words(s.pods))
	case "explain node", "history node":
		cmd.ValidArgsFunction = one(s.words(s.nodes))
	case "explain workload", "history workload":
		cmd.ValidArgsFunction = one(s.workloads)
	case "explain reason":
		cmd.ValidArgsFunction = one(s.words(fixed(s.Reasons...)))
	case "hints clear":
		cmd.ValidArgsFunction = s.words(s.nodes)
	case "trigger":
		cmd.ValidArgsFunction = s.words(func(ctx context.Context, cmd *cobra.Command, _ string) ([]cobra.Completion, error) {
			return s.Strategies(ctx, cmd)
		})
	case "approve", "discard":
		cmd.ValidArgsFunction = one(s.words(func(ctx context.Context, cmd *cobra.Command, _ string) ([]cobra.Completion, error) {
			return s.Plans(ctx, cmd)
		}))
	case "apply", "config check", "config convert":
		cmd.ValidArgsFunction = one(files)
	default:
		if cmd.ValidArgsFunction == nil && cmd.Runnable() {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	for _, c := range cmd.Commands() {
		s.commands(c, strings.TrimSpace(path+" "+c.Name()))
	}
}

// lookup finds the words that begin with a prefix, and may return others.
type lookup func(ctx context.Context, cmd *cobra.Command, prefix string) ([]cobra.Completion, error)

// flag completes the values of a flag, if the command has it.
func (s *Source) flag(cmd *cobra.Command, name string, find lookup) {
	if cmd.Flags().Lookup(name) == nil && cmd.PersistentFlags().Lookup(name) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(name, s.words(find)); err != nil {
		panic(err) // the flag exists, and has no completion yet
	}
}

// words turns a lookup into a completion that is bounded in time, and silent about errors.
func (s *Source) words(find lookup) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return s.find(cmd, prefix, find), cobra.ShellCompDirectiveNoFileComp
	}
}

// find returns the words with the prefix. It returns after lookupTimeout even if the lookup does not.
func (s *Source) find(cmd *cobra.Command, prefix string, find lookup) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), pageTimeout)
	defer cancel()
	late := time.NewTimer(lookupTimeout)
	defer late.Stop()
	found := make(chan []cobra.Completion, 1)
	go func() {
		words, err := find(ctx, cmd, prefix)
		if err != nil {
			words = nil
		}
		found <- words
	}()
	var out []cobra.Completion
	select {
	case words := <-found:
		for _, w := range words {
			if strings.HasPrefix(w, prefix) {
				out = append(out, w)
			}
		}
	case <-late.C:
	}
	return out
}

// one completes only the first argument.
func one(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, prefix)
	}
}

func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func fixed(words ...string) lookup {
	return func(context.Context, *cobra.Command, string) ([]cobra.Completion, error) { return words, nil }
}

// names lists objects, and returns their names after a prefix. If the time does not suffice, it returns those that it
// has.
func names[L runtime.Object](ctx context.Context, prefix string, list func(context.Context, metav1.ListOptions) (L, error)) ([]cobra.Completion, error) {
	var out []cobra.Completion
	for next := ""; ; {
		objects, err := list(ctx, metav1.ListOptions{Limit: pageSize, Continue: next})
		if err != nil && next != "" {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		page, err := namesOf(objects, prefix)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		of, err := meta.ListAccessor(objects)
		if err != nil || of.GetContinue() == "" {
			return out, err
		}
		next = of.GetContinue()
	}
}
