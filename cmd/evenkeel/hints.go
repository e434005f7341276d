package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/writer"
)

func newHints(g *global) *cobra.Command {
	c := &cobra.Command{
		Use: "hints", Short: "List or take away the hints that steer the scheduler", Args: noValues,
		Long: "While a wave is carried out, nodes may carry a hint that keeps replacements off them (evictor.steer).\nThe pass that wrote it takes it away; these commands are for when that process was killed.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short string, do func(cmd *cobra.Command, h *hinter) error) {
		c.AddCommand(&cobra.Command{Use: use, Short: short, Args: noValues, RunE: func(cmd *cobra.Command, _ []string) error {
			g.logger(cmd)
			client, conf, err := g.client()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), g.patience)
			defer cancel()
			h := &hinter{ctx, writer.New(client, clock.RealClock{}, nil), time.Now(), nil}
			if h.found, err = h.w.List(ctx); err != nil {
				return fmt.Errorf("looking at %s: %w", host(conf), forbidden("list nodes", err))
			}
			return do(cmd, h)
		}})
	}
	sub("list", "List the hints that Evenkeel put on nodes", listHints)
	sub("gc", "Take away hints after they have expired, never before", func(cmd *cobra.Command, h *hinter) error {
		return h.takeAway(cmd, func(x hints.Hint) bool { return x.Expired(h.now) })
	})
	sub("clear", "Take all hints away now, to uninstall; while a pass runs its replacements may land anywhere", func(cmd *cobra.Command, h *hinter) error {
		return h.takeAway(cmd, func(hints.Hint) bool { return true })
	})
	return c
}

// hinter is a look at the hints of a cluster.
type hinter struct {
	ctx   context.Context
	w     *writer.Writer
	now   time.Time
	found []hints.Hint
}

func listHints(cmd *cobra.Command, h *hinter) error {
	out := cmd.OutOrStdout()
	if len(h.found) == 0 {
		fmt.Fprintln(out, "No node carries a hint of Evenkeel's.")
		return nil
	}
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NODE\tKIND\tRUN\tEXPIRES")
	for _, x := range h.found {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", x.Node, x.Kind, x.Run, h.expiry(x))
	}
	return tw.Flush()
}

func (h *hinter) expiry(x hints.Hint) string {
	switch {
	case x.Expires.IsZero():
		return "unreadable; hints clear takes it away"
	case x.Expired(h.now):
		return x.Expires.UTC().Format(time.RFC3339) + " (expired)"
	}
	return fmt.Sprintf("%s (in %s)", x.Expires.UTC().Format(time.RFC3339), x.Expires.Sub(h.now).Round(time.Second))
}

// takeAway takes the hints off for which `which` holds, and says of the others
// why they stay.
func (h *hinter) takeAway(cmd *cobra.Command, which func(hints.Hint) bool) error {
	var nodes []string
	for _, x := range h.found {
		if which(x) {
			nodes = append(nodes, x.Node)
		}
	}
	out := cmd.OutOrStdout()
	taken, err := h.w.Take(h.ctx, nodes, which)
	if len(taken) > 0 {
		fmt.Fprintf(out, "Took the hint off %s.\n", strings.Join(taken, ", "))
	}
	for _, x := range h.found {
		if !which(x) {
			fmt.Fprintf(out, "The hint on %s stays; it expires %s.\n", x.Node, h.expiry(x))
		}
	}
	if len(h.found) == 0 {
		fmt.Fprintln(out, "No node carries a hint of Evenkeel's.")
	}
	return forbidden("patch nodes", err)
}

// forbidden names a permission that is missing.
func forbidden(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("permission to %s is missing; grant it to this account: %w", what, err)
	}
	return err
}
