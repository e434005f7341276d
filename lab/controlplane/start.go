package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"
)

// startTimeout limits the start of a component. On a busy machine, an API server with 100,000 pods takes minutes.
const startTimeout = 5 * time.Minute

// Start starts all components with a new temporary folder. If a component ends before Stop, Failed reports an error.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "evenkeel-lab-")
	if err != nil {
		return nil, fmt.Errorf("creating the lab's folder: %w", err)
	}
	l := componentLayout{Kubeconfig: filepath.Join(dir, "kubeconfig"), dir: dir,
		controllers: defaultControllers, managerArgs: o.ControllerManagerFlags, aggregation: o.Aggregation}
	c := &Cluster{componentLayout: l, programs: cmp.Or(o.Programs, os.Getenv("EVENKEEL_KUBE")),
		processes: map[string]*Process{}, failed: make(chan error, 16), etcdEnded: make(chan struct{})}
	if c.programs == "" && Linked == nil {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding the folder of this program: %w", err)
		}
		c.programs = filepath.Join(filepath.Dir(program), "kube-"+version.Get().GitVersion)
	}
	if len(o.Controllers) > 0 {
		c.controllers = o.Controllers
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.lifetime = ctx
	if err := c.start(ctx, o); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.logTail())
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	begun := time.Now()
	say := func(what string) {
		if o.Progress != nil {
			fmt.Fprintf(o.Progress, "lab: %-40s %4.1fs\n", what, time.Since(begun).Seconds())
		}
	}
	if err := c.redirectLogs(); err != nil {
		return err
	}
	if c.programs != "" {
		if _, err := os.Stat(filepath.Join(c.programs, Etcd)); err != nil {
			return fmt.Errorf("finding the programs of the control plane (`make lab` puts them into bin): %w", err)
		}
	}
	var err error
	if c.ports, err = freePorts(); err != nil {
		return err
	}
	if err := c.writeFiles(o); err != nil {
		return err
	}
	if o.Etcd != "" {
		if err := os.CopyFS(c.filePath("etcd"), os.DirFS(o.Etcd)); err != nil {
			return fmt.Errorf("copying the data of etcd: %w", err)
		}
	}
	c.startComponent(ctx, Etcd, c.etcdArgs())
	etcdHealth := fmt.Sprintf("http://127.0.0.1:%d/health", c.ports.etcd)
	if err := c.pollUntil(ctx, startTimeout, func() error { return checkURL(etcdHealth) }); err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	say("etcd is up")
	c.startComponent(ctx, APIServer, c.apiServerArgs())
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("starting kube-apiserver: %w", err)
	}
	say("kube-apiserver is up")
	if o.Evenkeel != "" {
		if err := c.InstallDefinitions(ctx, o.Evenkeel); err != nil {
			return err
		}
	}
	c.startScheduler(ctx)
	c.startComponent(ctx, ControllerManager, c.controllerManagerArgs())
	if !o.WithoutKwok {
		if err := c.runKwok(ctx, o); err != nil {
			return fmt.Errorf("starting kwok: %w", err)
		}
	}
	for name, port := range map[string]int{Scheduler: c.ports.scheduler, ControllerManager: c.ports.controllerManager} {
		if err := c.pollUntil(ctx, startTimeout, func() error { return checkHealth(port) }); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
	}
	say("scheduler and controllers are up")
	return nil
}

func (c *Cluster) connect(ctx context.Context) error {
	if err := c.pollUntil(ctx, startTimeout, c.writeKubeconfig); err != nil {
		return err
	}
	conf, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	conf.QPS, conf.Burst = 1000, 1000
	c.Config = conf
	if c.Client, err = kubernetes.NewForConfig(conf); err != nil {
		return err
	}
	return c.pollUntil(ctx, startTimeout, func() error {
		if _, err := c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
			return err
		}
		_, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}
