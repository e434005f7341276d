package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const (
	// maxRounds limits the rounds of a run that keeps evicting.
	maxRounds = 6
	// stableTimeout limits the time in which replacements become Ready after a program has ended.
	stableTimeout = 3 * time.Minute
)

// evictionRun is a measurement in progress in which a program evicts pods.
type evictionRun struct {
	comparison  comparison
	cluster     *controlplane.Cluster
	measurement *Measurement
	users       []controlplane.User
	known       map[string]bool // pods at the start
	nodeCPU     map[string]float64
	evicted     int // evictions so far, including earlier measurements
	stderr      *os.File
}

// measureRealRun runs the program again and again until it evicts nothing. Each run has its own API user, so the audit
// log shows which run sent a request.
func measureRealRun(ctx context.Context, s comparison, measurement Measurement, stderr *os.File) error {
	var users []controlplane.User
	for i := range maxRounds {
		u := newUser(measurement)
		u.Name += fmt.Sprintf("-round-%d", i+1)
		users = append(users, u)
	}
	return withControlPlane(ctx, s, users, stderr, func(c *controlplane.Cluster) error {
		return measureEvictingRun(ctx, s, c, measurement, users, stderr)
	})
}

// measureSharedRuns measures runs of one phase and one cluster size on one control plane: dry runs, and runs that evict
// a few pods. A few evictions hardly change a cluster of thousands of pods.
func measureSharedRuns(ctx context.Context, s comparison, measurements []Measurement, stderr *os.File) error {
	users := make([]controlplane.User, len(measurements))
	for i, m := range measurements {
		users[i] = newUser(m)
	}
	measure := measureEvictingRun
	if measurements[0].Phase == dryPhase {
		measure, s.kwok = measureDryRun, ""
	}
	return withControlPlane(ctx, s, users, stderr, func(c *controlplane.Cluster) error {
		for i, m := range measurements {
			fmt.Fprintln(stderr, "bench:", strings.Join(m.stepArgs(), " "))
			if err := measure(ctx, s, c, m, users[i:i+1], stderr); err != nil {
				return err
			}
		}
		return nil
	})
}

// record runs do. A failure of the program is stored in the measurement; record fails only if ctx ends.
func (c *Measurement) record(ctx context.Context, stderr *os.File, do func() error) error {
	c.LoadBefore = loadAverage()
	err := do()
	c.LoadAfter = loadAverage()
	if err != nil && ctx.Err() == nil {
		c.Error = err.Error()
		fmt.Fprintln(stderr, "bench:", err)
	}
	return ctx.Err()
}

// withControlPlane starts a control plane, with fake kubelets if s.kwok is set, and calls do.
func withControlPlane(ctx context.Context, s comparison, users []controlplane.User, stderr *os.File,
	do func(*controlplane.Cluster) error) error {
	c, err := controlplane.Start(ctx, controlplane.Options{Evenkeel: s.evenkeel, Kwok: s.kwok, WithoutKwok: s.kwok == "", Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: managerFlags["tuned"], Users: users, AuditPolicy: auditPolicy(users), Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	return do(c)
}

// measureEvictingRun makes one measurement with one start of the program per user. A failure of the
// program is stored as a result; a failure of the lab is returned as an error.
func measureEvictingRun(ctx context.Context, s comparison, c *controlplane.Cluster, measurement Measurement,
	users []controlplane.User, stderr *os.File) error {
	r := &evictionRun{comparison: s, cluster: c, measurement: &measurement, users: users, known: map[string]bool{}, stderr: stderr}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := measurement.record(ctx, stderr, func() error { return r.runRounds(ctx) }); err != nil {
		return err
	}
	return measurement.store(s.work)
}

func (r *evictionRun) prepare(ctx context.Context) (err error) {
	if err := waitForDeployments(ctx, r.cluster, r.comparison.settings, startTimeout); err != nil {
		return err
	}
	nodes, err := r.cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	r.nodeCPU = map[string]float64{}
	for _, n := range nodes.Items {
		r.nodeCPU[n.Name] = n.Status.Allocatable.Cpu().AsApproximateFloat64()
	}
	pods, err := r.cluster.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for _, p := range pods.Items {
		r.known[p.Namespace+"/"+p.Name] = true
	}
	events, err := r.cluster.Audit()
	if err != nil {
		return err
	}
	r.evicted = len(acceptedRequests(events, "eviction"))
	r.measurement.Start, err = readImbalance(ctx, r.cluster.Client, r.measurement.target, r.known)
	return err
}

func (r *evictionRun) runRounds(ctx context.Context) error {
	config, err := r.comparison.programConfig(r.measurement.Phase, r.measurement.contender, r.measurement.target).write(r.comparison.work)
	if err != nil {
		return err
	}
	for i := range r.users {
		round, err := r.runRound(ctx, i, config)
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		r.measurement.Rounds = append(r.measurement.Rounds, round)
		r.addToTotals(round)
		fmt.Fprintf(r.stderr, "bench: round %d: %d evictions in %.0f s; standard deviation %.2f %%, "+
			"%d nodes above target, %d Deployments skewed, %d pods pending\n",
			i+1, round.Evictions, round.Seconds, round.After.CPUStdDev, round.After.NodesAbove, round.After.Skewed, round.After.Pending)
		if round.Error != "" {
			return fmt.Errorf("round %d: %s", i+1, round.Error)
		}
		if round.Evictions == 0 || r.measurement.Phase == livePhase {
			return nil
		}
	}
	return nil // a run that keeps evicting is a valid result
}

// addToTotals adds a round to the totals of the measurement.
func (r *evictionRun) addToTotals(round Round) {
	c := r.measurement
	c.Evictions += round.Evictions
	c.Requests += round.Requests
	c.Seconds += round.Seconds
	c.CPUSeconds += round.CPUSeconds
	c.PeakBytes = max(c.PeakBytes, round.PeakBytes)
}

func (r *evictionRun) runRound(ctx context.Context, i int, config string) (Round, error) {
	kube, err := r.cluster.UserKubeconfig(r.users[i])
	if err != nil {
		return Round{}, err
	}
	var out Round
	out.Program, out.ControllerManager, out.LoadBefore = r.measurement.contender.Name, "tuned", loadAverage()
	run := r.runEvenkeel
	if r.measurement.contender.Peer {
		run = r.runDescheduler
	}
	waves, plan, u, err := run(ctx, config, kube)
	out.Seconds, out.CPUSeconds, out.PeakBytes = u.Seconds, u.CPUSeconds, u.PeakBytes
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Error = err.Error() // the evictions before the failure still count
	}
	out.LoadAfter = loadAverage()
	if err := waitForDeployments(ctx, r.cluster, r.comparison.settings, stableTimeout); err != nil {
		out.Unstable = err.Error()
	}
	if out.After, err = readImbalance(ctx, r.cluster.Client, r.measurement.target, r.known); err != nil {
		return out, err
	}
	events, err := r.cluster.Audit()
	if err != nil {
		return out, err
	}
	all := acceptedRequests(events, "eviction")
	out.computeRates(all[r.evicted:], nil, waves)
	r.evicted = len(all)
	out.Requests = countRequests(events, r.users[i].Name)
	if plan != nil {
		out.Outcomes, out.LandedAsPredicted = countOutcomes(plan.Outcomes())
	}
	if i == 0 && plan != nil {
		r.measurement.Prediction, r.measurement.MinEvictions = newPrediction(&plan.Plan, r.nodeCPU), plan.Spec.Minimum.Evictions
		r.measurement.Prediction.compareActual(out.After)
	}
	return out, nil
}

// runEvenkeel makes one pass. The results are the wave of each pod, the plan, and the resource use.
func (r *evictionRun) runEvenkeel(ctx context.Context, config, kube string) (map[string]int, *testbed.Report, resourceUse, error) {
	_, u, err := program{path: r.comparison.evenkeel, log: r.logPath(), limit: r.comparison.limit,
		args: append([]string{"run", "--once", "--lease-namespace", leaseNamespace, "--config", config, "--kubeconfig", kube}, testbed.ReportFlags...)}.run(ctx)
	report, broken := readReport(r.logPath())
	if broken != nil {
		return nil, nil, u, errors.Join(err, broken)
	}
	waves := map[string]int{}
	for _, p := range append([]testbed.Plan{report.Plan}, report.Others...) { // a second plan is usually empty
		for _, m := range p.Spec.Moves {
			waves[m.Pod.Namespace+"/"+m.Pod.Name] = m.Wave
		}
	}
	return waves, &report, u, err
}

// runDescheduler makes one round with the descheduler, which has no waves and makes no predictions.
func (r *evictionRun) runDescheduler(ctx context.Context, policy, kube string) (map[string]int, *testbed.Report, resourceUse, error) {
	args, err := r.comparison.peerArgs(policy, kube, "-v", "3", "--descheduling-interval", "0")
	if err != nil {
		return nil, nil, resourceUse{}, err
	}
	_, u, err := program{path: r.comparison.peer, args: args, log: r.logPath(),
		limit: r.comparison.limit}.run(ctx)
	return nil, nil, u, err
}

func (r *evictionRun) logPath() string {
	name := strings.TrimSuffix(r.measurement.fileName(), ".json")
	return filepath.Join(r.comparison.work, fmt.Sprintf("%s-%d.log", name, len(r.measurement.Rounds)+1))
}
