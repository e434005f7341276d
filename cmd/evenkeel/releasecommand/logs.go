package releasecommand

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// containerName is the container of Evenkeel in its pods.
const containerName = "evenkeel"

type logsFlags struct {
	namespace        string
	follow, previous bool
	since            time.Duration
	tail             int64
}

func newLogs(a *Access) *cobra.Command {
	f := &logsFlags{}
	c := &cobra.Command{
		Use: "logs", Short: "Print the leader pod's log", Args: commandline.NoArguments,
		Long: "Print the leader's log. The leader is the pod that holds the Lease and runs the passes. If there\n" +
			"is no leader, the command prints the logs of the newest Job's pods, or the log of the newest pod\n" +
			"if there is no Job. The command writes the pod's name to standard error.",
		Example: "  # Follow the leader's log\n  evenkeel logs --follow\n\n  # List all moves of the last hour\n  evenkeel logs --since 1h | grep msg=move",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, a) },
	}
	fl := c.Flags()
	installed.AddNamespaceFlag(fl, &f.namespace)
	fl.BoolVarP(&f.follow, "follow", "f", false, "print new lines as they appear, until the container ends")
	fl.BoolVarP(&f.previous, "previous", "p", false, "print the log of the previous container, from before its last restart")
	fl.DurationVar(&f.since, "since", 0, "print only lines that are at most this old (default: all lines)")
	fl.Int64Var(&f.tail, "tail", -1, "print only this many of the last lines (default: all lines)")
	return c
}

func (f *logsFlags) run(cmd *cobra.Command, a *Access) error {
	a.Logger(cmd)
	if f.since < 0 {
		return fmt.Errorf("--since: %s is negative (want more than 0s, or 0s for all lines)", f.since)
	}
	client, _, err := a.Client()
	if err != nil {
		return err
	}
	if f.namespace, err = a.lookup(cmd).Namespace(cmd.Context(), client, f.namespace); err != nil {
		return err
	}
	looking, cancel := context.WithTimeout(cmd.Context(), a.SyncTimeout)
	defer cancel()
	pods, why, err := installed.LogPods(looking, client, f.namespace)
	if err != nil {
		return err
	}
	for i := range pods {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: log of pod %s/%s (%s)\n", f.namespace, pods[i].Name, terminal.Escape(why))
		if err := f.print(cmd.Context(), client, &pods[i], f.follow && i == len(pods)-1, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	return nil
}

// print copies the log of a pod, line by line. The lines are safe for a terminal.
func (f *logsFlags) print(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, follow bool, out io.Writer) error {
	o := &corev1.PodLogOptions{Follow: follow, Previous: f.previous}
	if slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == containerName }) {
		o.Container = containerName
	}
	if f.since > 0 {
		o.SinceSeconds = ptr.To(int64(max(1, f.since/time.Second)))
	}
	if f.tail >= 0 {
		o.TailLines = &f.tail
	}
	stream, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, o).Stream(ctx)
	if err != nil {
		return fmt.Errorf("reading the log of pod %s/%s: %w", pod.Namespace, pod.Name,
			connection.ExplainForbidden("get pods/log in namespace "+pod.Namespace, err))
	}
	defer stream.Close()
	for lines := bufio.NewReader(stream); ; {
		line, err := lines.ReadString('\n')
		text := strings.TrimSuffix(line, "\n")
		if _, failed := io.WriteString(out, terminal.Escape(text)+line[len(text):]); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("reading the log of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
}
