package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/progress"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

func newHints(a *Access) *cobra.Command {
	c := &cobra.Command{
		Use: "hints", Short: "List or remove the hints that Evenkeel sets on nodes", Args: commandline.NoArguments,
		Long: "List or remove the hints that Evenkeel sets on nodes. A hint is a label or taint that makes the\n" +
			"scheduler prefer other nodes.\n\n" +
			"With evictor.steer, Evenkeel sets steering hints while it evicts pods, and removes these hints as\n" +
			"soon as the replacements are placed. With hints.enabled, Evenkeel keeps a pressure hint on a node\n" +
			"while the node's usage is too high. Use these commands when you uninstall Evenkeel, or if an\n" +
			"Evenkeel process was killed before it removed its hints.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var file, namespace string
	sub := func(use, short, long string, args cobra.PositionalArgs, do func(cmd *cobra.Command, h *hintCommand) error) {
		one := &cobra.Command{Use: use, Short: short, Args: args, Long: long, Example: "  # " + short + "\n  evenkeel hints " + strings.Fields(use)[0], RunE: func(cmd *cobra.Command, nodes []string) error {
			a.Logger(cmd)
			conf, err := hintsConfig(a, cmd, file, namespace)
			if err != nil {
				return err
			}
			client, host, err := a.Client()
			if err != nil {
				return err
			}
			conf.Tell(cmd.ErrOrStderr())
			h := newHintCommand(client, conf, a.Progress())
			h.progress.Start("reading the nodes at %s", connection.ServerHost(host))
			err = h.readHints(cmd.Context(), a.SyncTimeout, nodes)
			h.progress.Stop()
			if err != nil {
				return fmt.Errorf("reading the nodes at %s: %w", connection.ServerHost(host), connection.ExplainForbidden("list nodes", err))
			}
			return do(cmd, h)
		}}
		one.Flags().StringVar(&file, "config", "",
			"configuration file, or builtin; the configuration names the hints' label and taint (default: the release's configuration)")
		installed.AddNamespaceFlag(one.Flags(), &namespace)
		c.AddCommand(one)
	}
	sub("list", "List the hints on nodes", "List the hints on nodes, and similar labels and taints that Evenkeel did not set.", commandline.NoArguments, listHints)
	sub("gc", "Remove expired hints", "Remove expired hints from nodes. If Evenkeel is running, it may set new hints.", commandline.NoArguments, removeExpiredHints)
	sub("clear [NODE...]", "Remove all hints now", "Remove all hints now from the named nodes, or from all nodes. If Evenkeel is running, it may set\nnew hints.",
		cobra.ArbitraryArgs, removeAllHints)
	return c
}

// hintsConfig returns the configuration that names the label and the taint of hints. It does not need the files to
// which a file refers.
func hintsConfig(a *Access, cmd *cobra.Command, file, leaseNamespace string) (installed.Choice, error) {
	if file == "" || file == installed.Builtin {
		return a.lookup(cmd).Choose(cmd.Context(), file, leaseNamespace)
	}
	conf, err := config.LoadFileOnly(file)
	return installed.Choice{Config: conf, Known: true}, err
}

// removalTimeout bounds the writes of the commands for hints. If each request takes 200 ms, 5,000 nodes take about 4
// minutes.
const removalTimeout = 10 * time.Minute

// hintCommand holds the state of one hints command: the nodes and the hints on them.
type hintCommand struct {
	writer   *writer.Writer
	progress *progress.Line
	now      time.Time
	conf     *config.Config
	// configGiven reports whether the user named a configuration. Without one, records that the built-in
	// configuration does not know may be those of the controller.
	configGiven bool
	nodes       []corev1.Node
	found       []nodeHint
	invalid     []pressure.InvalidRecord
}

func newHintCommand(client kubernetes.Interface, conf installed.Choice, line *progress.Line) *hintCommand {
	return &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), progress: line, now: time.Now(),
		conf: conf.Config, configGiven: conf.Known}
}

// nodeHint is a steering hint or a pressure hint on a node.
type nodeHint struct {
	node, kind, cause string
	expires           time.Time
	expired           bool
}

// readHints reads the hints of the named nodes, or of all nodes if no node is named, within timeout.
func (h *hintCommand) readHints(ctx context.Context, timeout time.Duration, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	nodes, err := h.writer.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Name == name }) {
			return fmt.Errorf("there is no node %q", name)
		}
	}
	owned := h.conf.PressureOptions().Owned()
	for i := range nodes {
		n := &nodes[i]
		if len(names) > 0 && !slices.Contains(names, n.Name) {
			continue
		}
		h.nodes = append(h.nodes, *n)
		if x, ours := hints.FromNode(n); ours {
			h.found = append(h.found, nodeHint{n.Name, string(x.Kind), printable(x.Run), x.Expires, x.Expired(h.now)})
		}
		if x, ours := owned.FromNode(n); ours {
			h.found = append(h.found, nodeHint{n.Name, "pressure", describePressureHint(x, n), x.Expires, x.Expired(h.now)})
		}
		if problem := owned.InvalidRecord(n); problem != "" {
			h.invalid = append(h.invalid, pressure.InvalidRecord{Node: n.Name, Problem: problem})
		}
	}
	return nil
}

// printable returns a text of an annotation, which a kubelet may have written, so that a terminal can show it.
func printable(s string) string {
	const most = 64
	if len(s) > most || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%.*q", most, s)
	}
	return s
}

// Constants of the label that dynamicScheduler leaves on nodes when dynamicScheduler stops.
const (
	dynamicSchedulerLabelKey = "status"
	dynamicSchedulerLabel    = "label status=presure"
)

// findForeignHints returns labels and taints that have the keys of Evenkeel's hints, but were set by other programs.
func (h *hintCommand) findForeignHints() []pressure.Foreign {
	labelKey, _, _ := strings.Cut(h.conf.Hints.Label, "=")
	taintKey, owned := h.conf.Hints.TaintKey(), h.conf.PressureOptions().Owned()
	var out []pressure.Foreign
	for i := range h.nodes {
		out = append(out, owned.FindForeign(&h.nodes[i], labelKey, taintKey)...)
		if labelKey == dynamicSchedulerLabelKey {
			continue
		}
		for _, f := range owned.FindForeign(&h.nodes[i], dynamicSchedulerLabelKey, "") {
			if f.Description == dynamicSchedulerLabel {
				out = append(out, f)
			}
		}
	}
	return out
}

// describePressureHint names the rules that set the hint, and its label and taint. It says which of them is missing
// on the node.
func describePressureHint(x pressure.Hint, n *corev1.Node) string {
	value := strconv.FormatFloat(x.Value, 'f', -1, 64)
	also := ""
	if len(x.OtherRules) > 0 {
		also = ", also " + strings.Join(x.OtherRules, ", ")
	}
	text := fmt.Sprintf("%s at %s%s (%s)", x.Rule, value, also, x.Description())
	if !x.Complete(n) {
		there := x.OnNode(n).Description()
		if there == "" {
			there = "nothing"
		}
		text += "; on the node: " + there
	}
	return text
}

func listHints(cmd *cobra.Command, h *hintCommand) error {
	out, foreign := cmd.OutOrStdout(), h.findForeignHints()
	if len(h.found)+len(h.invalid) == 0 {
		fmt.Fprintln(out, "No node has a hint of Evenkeel.")
	}
	if len(h.found)+len(h.invalid)+len(foreign) == 0 {
		return nil
	}
	g := layout.NewGrid("NODE", "KIND", "~RUN OR RULES", "~EXPIRES")
	for _, x := range h.found {
		g.Add(x.node, x.kind, terminal.Escape(x.cause), h.formatExpiry(x))
	}
	for _, x := range h.invalid {
		g.Add(x.Node, "invalid", terminal.Escape(x.Problem), "never; "+h.invalidRemedy(x.Node))
	}
	for _, f := range foreign {
		g.Add(f.Node, "foreign", terminal.Escape(f.Description), "never; remove it with: "+f.RemoveCommand())
	}
	return report.List(out, g, commandline.ReportOptions(out))
}

func (h *hintCommand) invalidRemedy(node string) string {
	if !h.configGiven {
		return "name the configuration of the controller with --config"
	}
	return "remove the record with: evenkeel hints clear " + node + " --config FILE"
}

func (h *hintCommand) formatExpiry(x nodeHint) string {
	switch text := x.expires.UTC().Format(time.RFC3339); {
	case x.expires.IsZero():
		return "unreadable (expired)"
	case x.expired && h.now.Before(x.expires):
		return text + " (later than Evenkeel writes, counts as expired)"
	case x.expired:
		return text + " (expired)"
	default:
		return fmt.Sprintf("%s (in %s)", text, x.expires.Sub(h.now).Round(time.Second))
	}
}

func removeExpiredHints(cmd *cobra.Command, h *hintCommand) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), removalTimeout)
	defer cancel()
	err := h.removeHints(ctx, cmd.OutOrStdout(), true)
	for _, x := range h.invalid {
		fmt.Fprintf(cmd.OutOrStdout(), "The record on %s is not a hint: %s; %s.\n", x.Node, terminal.Escape(x.Problem), h.invalidRemedy(x.Node))
	}
	return err
}

func removeAllHints(cmd *cobra.Command, h *hintCommand) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), removalTimeout)
	defer cancel()
	return h.removeAll(ctx, cmd.OutOrStdout())
}

// removeAll removes the hints. It removes invalid records only if the user named a configuration: otherwise the
// label of the controller would stay on the node without a record.
func (h *hintCommand) removeAll(ctx context.Context, out io.Writer) error {
	err := h.removeHints(ctx, out, false)
	for _, x := range h.invalid {
		if !h.configGiven {
			err = errors.Join(err, fmt.Errorf("the record on node %s stays: %s; %s", x.Node, x.Problem, h.invalidRemedy(x.Node)))
		}
	}
	return err
}

// removeHints removes the hints, and prints which hints are gone and which stay. It writes each node once. On a
// terminal, it says what it does until it prints.
func (h *hintCommand) removeHints(ctx context.Context, out io.Writer, expiredOnly bool) error {
	var edits []writer.Edit
	for i := range h.nodes {
		if n := &h.nodes[i]; h.withoutHints(n, expiredOnly) != n {
			edits = append(edits, writer.Edit{Node: n.Name, Change: func(n *corev1.Node) *corev1.Node { return h.withoutHints(n, expiredOnly) }})
		}
	}
	if len(edits) > 0 {
		h.progress.Start("removing hints from %s", plural.Count(len(edits), "node"))
	}
	results := h.writer.Edit(ctx, edits)
	h.progress.Stop()
	var removed []string
	var errs []error
	for _, r := range results {
		switch {
		case r.Err != nil:
			errs = append(errs, connection.ExplainForbidden("patch nodes", fmt.Errorf("removing the hint from node %s: %w", r.Node, r.Err)))
		case r.Written:
			removed = append(removed, r.Node)
		}
	}
	if len(removed) > 0 {
		fmt.Fprintf(out, "Removed hints from %s.\n", strings.Join(removed, ", "))
	}
	for _, x := range h.found {
		if expiredOnly && !x.expired {
			fmt.Fprintf(out, "The hint on %s stays; it expires %s.\n", x.node, h.formatExpiry(x))
		}
	}
	if len(h.found)+len(h.invalid) == 0 {
		fmt.Fprintln(out, "No node has a hint of Evenkeel.")
	}
	return errors.Join(errs...)
}

// withoutHints returns the node without its hints, or n itself if nothing changes. A hint that another process has
// renewed in the meantime stays if only expired hints are removed.
func (h *hintCommand) withoutHints(n *corev1.Node, expiredOnly bool) *corev1.Node {
	if x, ours := hints.FromNode(n); ours && (!expiredOnly || x.Expired(h.now)) {
		n, _ = hints.Remove(n)
	}
	owned := h.conf.PressureOptions().Owned()
	switch x, ours := owned.FromNode(n); {
	case ours && (!expiredOnly || x.Expired(h.now)), !ours && !expiredOnly && h.configGiven:
		n, _ = owned.Remove(n)
	}
	return n
}
