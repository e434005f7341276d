package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/report/view"
	"github.com/evenkeel-project/evenkeel/ui"
)

type uiFlags struct {
	namespace, config string
	port              int

	planning sync.Mutex // one plan at a time
}

func newUI(g *globalFlags) *cobra.Command {
	f := &uiFlags{}
	c := &cobra.Command{
		Use: "ui", Short: "Show live pages about the release and the cluster in a browser", Args: commandline.NoArguments,
		Long: "Show live web pages about the plans that need approval, the current pass, the history and the\n" +
			"cluster. If your account has the permissions, you can also approve and discard plans, pause and\n" +
			"resume evictions, and request passes on these pages.\n\n" +
			"The command serves the pages on 127.0.0.1 until you press Ctrl-C. The pages use your kubeconfig,\n" +
			"so your account's permissions determine what you can see and do. The printed address works only\n" +
			"once, in one browser.",
		Example: "  # Start the server, and then open the printed address\n  evenkeel ui\n\n  # Use the port of an existing tunnel\n  evenkeel ui --port 8443",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.serve(cmd, g) },
	}
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	c.Flags().IntVar(&f.port, "port", 0, "port on 127.0.0.1 (default: any free port)")
	c.Flags().StringVar(&f.config, "config", "", installed.ConfigFlagHelp)
	return c
}

func (f *uiFlags) serve(cmd *cobra.Command, g *globalFlags) error {
	log := g.logger(cmd)
	if f.port < 0 || f.port > 65535 {
		return fmt.Errorf("--port: %d is not a port (want 1 to 65535)", f.port)
	}
	if f.namespace != "" {
		if err := installed.CheckNamespace(f.namespace); err != nil {
			return err
		}
	}
	client, conf, err := g.client()
	if err != nil {
		return err
	}
	release := func(ctx context.Context) (*objects.Client, error) {
		namespace, err := (&installed.Lookup{Command: cmd, Connect: g.client}).Namespace(ctx, client, f.namespace)
		if errors.Is(err, installed.ErrNoRelease) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return objects.New(conf, namespace)
	}
	if _, err := release(cmd.Context()); err != nil {
		return err
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return fmt.Errorf("listening: %w; set --port", err)
	}
	server, err := ui.New(ui.Options{Client: client, Release: release, Cluster: cmp.Or(g.Context(), connection.ServerHost(conf)), Namespace: g.Namespace(), Clock: clock.RealClock{}, Log: log,
		User: func(ctx context.Context) (string, bool) { return connection.KnownUser(ctx, client) },
		Plan: func(ctx context.Context, strategies []string) (*view.View, error) { return f.plan(ctx, g, strategies) },
		Configured: func(ctx context.Context) *view.Context {
			chosen, err := (&installed.Lookup{Command: cmd, Connect: g.client}).Choose(ctx, f.config, f.namespace)
			if err != nil || !chosen.Known {
				return nil
			}
			return configContext(chosen.Config)
		},
		NodeUsage: func(ctx context.Context) ([]ui.NodeUsage, error) { return nodeUsage(ctx, client) },
		Announce: func(address string) {
			fmt.Fprintf(cmd.OutOrStdout(), "Open %s\nThe address works once. For another browser, use the next one that is printed.\n", address)
		}}, l.Addr())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return server.Serve(cmd.Context(), l)
}

// plan makes a plan as `evenkeel plan` does.
func (f *uiFlags) plan(ctx context.Context, g *globalFlags, strategies []string) (*view.View, error) {
	f.planning.Lock()
	defer f.planning.Unlock()
	defer g.progress.Stop()
	c, in := &cobra.Command{}, planningFlags{}
	in.add(c.Flags())
	c.SetContext(ctx)
	c.SetErr(io.Discard)
	in.input.namespace, in.config, in.strategies = f.namespace, f.config, strategies
	read, err := in.read(c, g, "")
	if err != nil {
		return nil, err
	}
	return &view.View{Plan: read.plan(), Context: *read.reportContext(false)}, ctx.Err()
}

// nodeUsage reads what the nodes use from metrics.k8s.io.
func nodeUsage(ctx context.Context, client kubernetes.Interface) (out []ui.NodeUsage, err error) {
	text, err := client.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/nodes").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list v1beta1.NodeMetricsList
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("reading the answer of metrics.k8s.io: %w", err)
	}
	for i := range list.Items {
		m := &list.Items[i]
		out = append(out, ui.NodeUsage{Name: m.Name, MilliCPU: m.Usage.Cpu().MilliValue(), MemoryBytes: m.Usage.Memory().Value(), At: m.Timestamp.UTC()})
	}
	return out, nil
}
