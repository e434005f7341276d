package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/writer"
)

func newHints(g *globalFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "hints", Short: "List or remove the hints that Evenkeel sets on nodes", Args: rejectArguments,
		Long: "During a wave, nodes may have a hint that keeps replacements away (evictor.steer); the pass that wrote the hint\nremoves it. Nodes under pressure have a hint while the pressure lasts (hints.enabled); the leader removes it.\nUse these commands after that process was killed, and to uninstall Evenkeel.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short string, do func(cmd *cobra.Command, h *hintCommand) error) *cobra.Command {
		one := &cobra.Command{Use: use, Short: short, Args: rejectArguments, RunE: func(cmd *cobra.Command, _ []string) error {
			g.logger(cmd)
			client, conf, err := g.client()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), g.syncTimeout)
			defer cancel()
			h := &hintCommand{ctx: ctx, writer: writer.New(client, clock.RealClock{}, nil), now: time.Now()}
			if err := h.readHints(); err != nil {
				return fmt.Errorf("reading the nodes at %s: %w", serverHost(conf), explainForbidden("list nodes", err))
			}
			return do(cmd, h)
		}}
		c.AddCommand(one)
		return one
	}
	var file string
	list := sub("list", "List the hints on nodes, and labels and taints of others with the same keys",
		func(cmd *cobra.Command, h *hintCommand) error {
			conf, err := loadConfig(file)
			if err != nil {
				return err
			}
			h.findForeignHints(conf.Hints.Label.Key, conf.Hints.Taint.Key)
			return listHints(cmd, h)
		})
	list.Flags().StringVar(&file, "config", "", "configuration file that names the label and the taint (default: the built-in one)")
	sub("gc", "Remove expired hints", removeExpiredHints)
	sub("clear", "Remove all hints now, to uninstall; a running controller may set them again", removeAllHints)
	return c
}

func removeExpiredHints(cmd *cobra.Command, h *hintCommand) error {
	return h.removeHints(cmd, func(expires time.Time) bool { return !expires.IsZero() && h.now.After(expires) })
}

func removeAllHints(cmd *cobra.Command, h *hintCommand) error {
	return h.removeHints(cmd, func(time.Time) bool { return true })
}

// hintCommand holds the state of one hints command: the nodes and the hints on them.
type hintCommand struct {
	ctx    context.Context
	writer *writer.Writer
	now    time.Time
	nodes  []corev1.Node
	found  []nodeHint
	// foreign lists labels and taints that other programs set, and that look like hints or use the same keys.
	foreign []pressure.Foreign
}

// nodeHint is a steering hint or a pressure hint on a node.
type nodeHint struct {
	node, kind, cause string
	expires           time.Time
	steering          bool
}

func (h *hintCommand) readHints() error {
	nodes, err := h.writer.Nodes(h.ctx)
	if err != nil {
		return err
	}
	h.nodes = nodes
	for i := range nodes {
		n := &nodes[i]
		if x, ours := hints.FromNode(n); ours {
			h.found = append(h.found, nodeHint{n.Name, string(x.Kind), x.Run, x.Expires, true})
		}
		if x, ours := pressure.FromNode(n); ours {
			h.found = append(h.found, nodeHint{n.Name, "pressure", describePressureHint(x), x.Expires, false})
		}
	}
	return nil
}

// Constants of the label that dynamicScheduler leaves on nodes when dynamicScheduler stops.
const (
	dynamicSchedulerLabelKey = "status"
	dynamicSchedulerLabel    = "label status=presure"
)

// findForeignHints finds labels and taints that have the keys of Evenkeel's hints, but were set by other programs.
func (h *hintCommand) findForeignHints(labelKey, taintKey string) {
	for i := range h.nodes {
		h.foreign = append(h.foreign, pressure.FindForeign(&h.nodes[i], labelKey, taintKey)...)
		if labelKey == dynamicSchedulerLabelKey {
			continue
		}
		for _, f := range pressure.FindForeign(&h.nodes[i], dynamicSchedulerLabelKey, "") {
			if f.Description == dynamicSchedulerLabel {
				h.foreign = append(h.foreign, f)
			}
		}
	}
}

// describePressureHint names the rules that set the hint, and its label and taint.
func describePressureHint(x pressure.Hint) string {
	if x.Rule == "" {
		return "unreadable record"
	}
	value := strconv.FormatFloat(x.Value, 'f', -1, 64)
	also := ""
	if len(x.OtherRules) > 0 {
		also = ", also " + strings.Join(x.OtherRules, ", ")
	}
	return fmt.Sprintf("%s at %s%s (%s)", x.Rule, value, also, x.Description())
}

func listHints(cmd *cobra.Command, h *hintCommand) error {
	out := cmd.OutOrStdout()
	if len(h.found) == 0 {
		fmt.Fprintln(out, "No node has a hint of Evenkeel.")
	}
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(h.found)+len(h.foreign) > 0 {
		fmt.Fprintln(tw, "NODE\tKIND\tRUN OR RULES\tEXPIRES")
	}
	for _, x := range h.found {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", x.node, x.kind, x.cause, h.formatExpiry(x.expires))
	}
	for _, f := range h.foreign {
		fmt.Fprintf(tw, "%s\tforeign\t%s\tnever; remove it with: %s\n", f.Node, f.Description, f.RemoveCommand())
	}
	return tw.Flush()
}

func (h *hintCommand) formatExpiry(at time.Time) string {
	switch {
	case at.IsZero():
		return "unreadable; remove it with: evenkeel hints clear"
	case h.now.After(at):
		return at.UTC().Format(time.RFC3339) + " (expired)"
	}
	return fmt.Sprintf("%s (in %s)", at.UTC().Format(time.RFC3339), at.Sub(h.now).Round(time.Second))
}

// removeHints removes the hints whose expiry matches the filter, and prints why the other hints stay.
func (h *hintCommand) removeHints(cmd *cobra.Command, matches func(expires time.Time) bool) error {
	var steered []string
	var pressed []writer.Edit
	for _, x := range h.found {
		switch {
		case !matches(x.expires):
		case x.steering:
			steered = append(steered, x.node)
		default:
			pressed = append(pressed, writer.Edit{Node: x.node, Change: func(n *corev1.Node) *corev1.Node { return withoutPressureHint(n, matches) }})
		}
	}
	taken, err := h.writer.Remove(h.ctx, steered, func(x hints.Hint) bool { return matches(x.Expires) })
	for _, r := range h.writer.Edit(h.ctx, pressed) {
		switch {
		case r.Err != nil:
			err = errors.Join(err, fmt.Errorf("removing the hint from node %s: %w", r.Node, r.Err))
		case r.Written && !slices.Contains(taken, r.Node):
			taken = append(taken, r.Node)
		}
	}
	slices.Sort(taken)
	h.printRemoved(cmd.OutOrStdout(), taken, matches)
	return explainForbidden("patch nodes", err)
}

// withoutPressureHint returns the node without its pressure hint. It returns the node unchanged if another process
// renewed the hint after it was listed, so that its expiry no longer matches.
func withoutPressureHint(n *corev1.Node, matches func(expires time.Time) bool) *corev1.Node {
	if x, ours := pressure.FromNode(n); !ours || !matches(x.Expires) {
		return n
	}
	out, _ := pressure.Remove(n)
	return out
}

func (h *hintCommand) printRemoved(out io.Writer, taken []string, matches func(expires time.Time) bool) {
	if len(taken) > 0 {
		fmt.Fprintf(out, "Removed hints from %s.\n", strings.Join(taken, ", "))
	}
	for _, x := range h.found {
		if !matches(x.expires) {
			fmt.Fprintf(out, "The hint on %s stays; it expires %s.\n", x.node, h.formatExpiry(x.expires))
		}
	}
	if len(h.found) == 0 {
		fmt.Fprintln(out, "No node has a hint of Evenkeel.")
	}
}
