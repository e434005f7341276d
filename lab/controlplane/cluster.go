package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options configure the control plane.
type Options struct {
	// Kwok is the path of the kwok program.
	Kwok string
	// WithoutKwok runs no kwok. The caller then writes the status of nodes and pods.
	WithoutKwok bool
	// Usage makes kwok simulate resource usage from pod annotations (see UsageCPU) and serve it like a kubelet.
	Usage bool
	// Aggregation lets aggregated API servers, such as metrics-server, register with the API server.
	Aggregation bool
	// Controllers lists the controllers to run. Empty selects those that manage pods, accounts and namespaces.
	Controllers []string
	// SchedulerConfig is a KubeSchedulerConfiguration (v1); empty selects the defaults. The lab replaces
	// clientConnection and leaderElection.
	SchedulerConfig []byte
	// ControllerManagerFlags come after the lab's own flags and override them.
	ControllerManagerFlags []string
	// Etcd is a data folder that Keep wrote for an earlier lab. Empty starts with no data.
	Etcd string
	// Command runs one component if the component's name and arguments are appended to it. Each component then runs
	// as a process of its own (see RunComponent and Component). Empty runs all components in this process.
	Command []string
	// Users can authenticate in addition to the administrator.
	Users []User
	// AuditPolicy (audit.k8s.io/v1) replaces the lab's audit policy.
	AuditPolicy []byte
	// Progress receives one line per step; nil discards them.
	Progress io.Writer
}

// User authenticates to the API server with a static token.
type User struct{ Token, Name, Group string }

// Cluster is a running control plane.
type Cluster struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	Client     kubernetes.Interface
	Config     *rest.Config

	dir         string
	adminToken  string
	controllers []string
	managerArgs []string
	aggregation bool
	command     []string
	processes   map[string]*Process
	ports       ports
	cancel      context.CancelFunc
	failed      chan error
	etcdEnded   chan struct{}
	running     sync.WaitGroup

	lifetime       context.Context // ends when Stop ends the components
	endScheduler   context.CancelFunc
	schedulerEnded chan struct{}
}

// Start starts all components with a new temporary folder. If a component ends before Stop, Failed reports it.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "evenkeel-lab-")
	if err != nil {
		return nil, fmt.Errorf("creating the lab's folder: %w", err)
	}
	c := &Cluster{dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), failed: make(chan error, 16), etcdEnded: make(chan struct{}),
		controllers: defaultControllers, managerArgs: o.ControllerManagerFlags, aggregation: o.Aggregation, command: o.Command, processes: map[string]*Process{}}
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
	var err error
	if c.ports, err = freePorts(); err != nil {
		return err
	}
	if err := c.writeFiles(o); err != nil {
		return err
	}
	if o.Etcd != "" {
		if err := os.CopyFS(c.path("etcd"), os.DirFS(o.Etcd)); err != nil {
			return fmt.Errorf("copying the data of etcd: %w", err)
		}
	}
	c.run(ctx, Etcd, c.etcdArgs())
	etcdHealth := fmt.Sprintf("http://127.0.0.1:%d/health", c.ports.etcd)
	if err := c.await(ctx, 60*time.Second, func() error { return checkURL(etcdHealth) }); err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	say("etcd is up")
	c.run(ctx, APIServer, c.apiServerArgs())
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("starting kube-apiserver: %w", err)
	}
	say("kube-apiserver is up")
	c.startScheduler(ctx)
	c.run(ctx, ControllerManager, c.controllerManagerArgs())
	if !o.WithoutKwok {
		if err := c.runKwok(ctx, o.Kwok); err != nil {
			return fmt.Errorf("starting kwok: %w", err)
		}
	}
	for name, port := range map[string]int{Scheduler: c.ports.scheduler, ControllerManager: c.ports.controllerManager} {
		if err := c.await(ctx, 60*time.Second, func() error { return checkHealth(port) }); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
	}
	say("scheduler and controllers are up")
	return nil
}

func (c *Cluster) connect(ctx context.Context) error {
	if err := c.await(ctx, 60*time.Second, c.writeKubeconfig); err != nil {
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
	return c.await(ctx, 60*time.Second, func() error {
		if _, err := c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
			return err
		}
		_, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}

// await polls until ask returns no error, a component fails, or the limit has passed.
func (c *Cluster) await(ctx context.Context, limit time.Duration, ask func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, limit, true, func(context.Context) (bool, error) {
		select {
		case err := <-c.failed:
			return false, err
		default:
		}
		last = ask()
		return last == nil, nil
	})
	if err != nil && last != nil {
		return errors.Join(err, last)
	}
	return err
}

// run starts a component. A component that ends before Stop is a failure.
func (c *Cluster) run(ctx context.Context, name string, args []string) {
	if len(c.command) > 0 {
		argv := append(append(slices.Clone(c.command), name), args...)
		if err := c.spawn(ctx, name, argv); err != nil {
			c.failed <- err
		}
		return
	}
	c.running.Go(func() {
		err := RunComponent(ctx, name, args)
		if name == Etcd {
			close(c.etcdEnded)
		}
		if ctx.Err() == nil {
			c.failed <- fmt.Errorf("%s ended: %w", name, err)
		}
	})
}

// Failed delivers an error for each component that ended before Stop.
func (c *Cluster) Failed() <-chan error { return c.failed }

// Stop ends all components and removes the folder. os.Stderr stays redirected, because the components log until the
// process ends. The process should end soon.
func (c *Cluster) Stop() {
	c.cancel()
	done := make(chan struct{})
	go func() { c.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * time.Second): // an API server without etcd ends slowly; its data is disposable
	}
	os.RemoveAll(c.dir)
}
