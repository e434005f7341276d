// Package linked links etcd, kube-apiserver, kube-scheduler and kube-controller-manager into a program that imports it.
// The program runs the components in its own process (see controlplane.Linked).
package linked

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controllermanageroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// The lab calls the components' functions, not their commands, because each command would install its own signal
// handler. Several components then apply the same logging settings, which ReapplyHandling permits.
func init() {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	logs.InitLogs()
	controlplane.Linked = run
}

func parseFlags(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("lab", pflag.ContinueOnError)
	for _, fs := range sets.FlagSets {
		all.AddFlagSet(fs)
	}
	return all.Parse(args)
}

// runEtcd runs a single etcd member.
func runEtcd(ctx context.Context, args []string) error {
	cfg := embed.NewConfig()
	fs := flag.NewFlagSet("etcd", flag.ContinueOnError)
	cfg.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	cfg.ListenClientUrls = flags.UniqueURLsFromFlag(fs, "listen-client-urls")
	cfg.AdvertiseClientUrls = flags.UniqueURLsFromFlag(fs, "advertise-client-urls")
	cfg.ListenPeerUrls = flags.UniqueURLsFromFlag(fs, "listen-peer-urls")
	cfg.AdvertisePeerUrls = flags.UniqueURLsFromFlag(fs, "initial-advertise-peer-urls")
	cfg.LogOutputs = flags.UniqueStringsFromFlag(fs, "log-outputs")
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return err
	}
}

func runAPIServer(ctx context.Context, args []string) error {
	o := apiserveroptions.NewServerRunOptions()
	if err := parseFlags(o.Flags(), args); err != nil {
		return err
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return errors.Join(errs...)
	}
	return apiserver.Run(ctx, completed)
}

func runScheduler(ctx context.Context, args []string) error {
	o := scheduleroptions.NewOptions()
	if err := parseFlags(*o.Flags, args); err != nil {
		return err
	}
	if err := o.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	cc, s, err := scheduler.Setup(ctx, o)
	if err != nil {
		return err
	}
	return scheduler.Run(ctx, cc, s)
}

func runControllerManager(ctx context.Context, args []string) error {
	o, err := controllermanageroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, disabled := controllermanager.KnownControllers(), controllermanager.ControllersDisabledByDefault()
	aliases := controllermanager.ControllerAliases()
	sets := o.Flags(known, disabled, aliases)
	o.ParsedFlags = &sets
	if err := parseFlags(sets, args); err != nil {
		return err
	}
	if err := o.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	conf, err := o.Config(ctx, known, disabled, aliases)
	if err != nil {
		return err
	}
	return controllermanager.Run(ctx, conf.Complete())
}

// run runs one component in this process until ctx ends.
func run(ctx context.Context, name string, args []string) error {
	start, ok := map[string]func(context.Context, []string) error{
		controlplane.Etcd: runEtcd, controlplane.APIServer: runAPIServer,
		controlplane.Scheduler: runScheduler, controlplane.ControllerManager: runControllerManager,
	}[name]
	if !ok {
		return fmt.Errorf("unknown component %q", name)
	}
	return start(ctx, args)
}
