package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"
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
)

// The lab calls the components' functions, not their commands, because each command would install its own signal
// handler. Several components then apply the same logging settings, which ReapplyHandling permits.
func init() {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	logs.InitLogs()
}

func parseFlags(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("lab", pflag.ContinueOnError)
	for _, fs := range sets.FlagSets {
		all.AddFlagSet(fs)
	}
	return all.Parse(args)
}

// runEtcd runs a single etcd member on the ports in args. The member does not sync to disk, because the data is
// disposable.
func runEtcd(ctx context.Context, args []string) error {
	cfg := embed.NewConfig()
	var client, peer int
	fs := pflag.NewFlagSet("etcd", pflag.ContinueOnError)
	fs.StringVar(&cfg.Dir, "data-dir", "", "")
	fs.IntVar(&client, "client-port", 0, "")
	fs.IntVar(&peer, "peer-port", 0, "")
	fs.StringSliceVar(&cfg.LogOutputs, "log-output", nil, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	local := func(port int) []url.URL {
		return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = local(client), local(client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = local(peer), local(peer)
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true
	cfg.QuotaBackendBytes = 8 << 30
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "periodic", "5m"
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

// The names of the components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Scheduler         = "kube-scheduler"
	ControllerManager = "kube-controller-manager"
)

// RunComponent runs one component in this process until ctx ends.
func RunComponent(ctx context.Context, name string, args []string) error {
	run, ok := map[string]func(context.Context, []string) error{
		Etcd: runEtcd, APIServer: runAPIServer, Scheduler: runScheduler, ControllerManager: runControllerManager,
	}[name]
	if !ok {
		return fmt.Errorf("unknown component %q", name)
	}
	return run(ctx, args)
}
