package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// packingScheduler prefers full nodes, as the documentation of HighNodeUtilization recommends.
const packingScheduler = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
`

// Both programs empty nodes on which less than 30 % of the CPU and of the memory is requested.
const (
	packingConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
guards: {minPodAge: 0s}   # the replacements are seconds old
strategies:
  pack: {type: NodeConsolidation, schedule: "0 * * * *",
  args: {below: {cpu: 0.3, memory: 0.3}, target: {cpu: 1, memory: 1}, maxNodes: 5000}}
placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: 512, perNode: unlimited, perOwner: unlimited}}
`
	peerPackingPolicy = `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: pack
  pluginConfig:
  - name: HighNodeUtilization
    args:
      thresholds: {cpu: 30, memory: 30}
  - name: DefaultEvictor
    args: {}
  plugins:
    balance: {enabled: [HighNodeUtilization]}
`
)

// Packing is the result of one program that empties nodes until a round evicts nothing.
type Packing struct {
	Program string         `json:"program"`
	Rounds  []PackingRound `json:"rounds"`
	// EmptyBefore is the number of nodes without pods at the start.
	EmptyBefore int    `json:"emptyBefore"`
	Error       string `json:"error,omitempty"`
}

// PackingRound is one start of the program. Bound is the sum of the lower bound of its plan; 0 for the descheduler.
type PackingRound struct {
	Evictions int     `json:"evictions"`
	Bound     int     `json:"bound,omitempty"`
	Empty     int     `json:"empty"`
	Pending   int     `json:"pending"`
	Seconds   float64 `json:"seconds"`
	Load      string  `json:"loadAverage"`
	Unstable  string  `json:"unstable,omitempty"`
}

// maxPackingRounds limits the rounds of a program that keeps evicting.
const maxPackingRounds = 12

// runConsolidation compares the programs on the same cluster.
func runConsolidation(ctx context.Context, args []string, stderr *os.File) error {
	var s settings
	fs := flag.NewFlagSet("bench consolidation", flag.ContinueOnError)
	fs.IntVar(&s.nodes, "nodes", 500, "fake nodes")
	fs.IntVar(&s.pods, "pods", 7000, "pods, in Deployments of 20; 14 on a node request 35 % of its CPU")
	s.addFlags(fs, "bin/bench-consolidation")
	if err := fs.Parse(args); err != nil {
		return err
	}
	s.work = filepath.Join(s.work, fmt.Sprintf("%d-%d", s.nodes, s.pods))
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return fmt.Errorf("creating the folder for results: %w", err)
	}
	switch step := fs.Arg(0); step {
	case "seed":
		return seedCluster(ctx, s, stderr)
	case "peer", "evenkeel":
		return measurePacking(ctx, s, step, stderr)
	case "":
	default:
		return fmt.Errorf("unknown step %q", step)
	}
	for _, step := range []string{"seed", "peer", "evenkeel"} {
		if stepDone(s, step) {
			fmt.Fprintln(stderr, "bench: already done:", step)
			continue
		}
		if err := runStep(ctx, append([]string{"consolidation"}, args...), []string{step}, stderr); err != nil {
			return err
		}
	}
	return printPacking(s, os.Stdout)
}

// measurePacking starts the program again and again, until it evicts nothing.
func measurePacking(ctx context.Context, s settings, program string, stderr *os.File) error {
	c, err := controlplane.Start(ctx, controlplane.Options{Evenkeel: s.evenkeel, Kwok: s.kwok, Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: managerFlags["tuned"], SchedulerConfig: []byte(packingScheduler), Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := waitForDeployments(ctx, c, s, startTimeout); err != nil {
		return err
	}
	p := Packing{Program: program}
	if p.EmptyBefore, _, err = countEmpty(ctx, c); err != nil {
		return err
	}
	for evicted := 0; len(p.Rounds) < maxPackingRounds; {
		r, total, err := packOnce(ctx, s, c, program, evicted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.Rounds, evicted = append(p.Rounds, r), total
		fmt.Fprintf(stderr, "bench: %s, round %d: %+v\n", program, len(p.Rounds), r)
		p.Error = ""
		if err != nil {
			p.Error = err.Error() // the error of the last round counts: a round that stops early is followed by another one
			fmt.Fprintln(stderr, "bench:", err)
		}
		if r.Evictions == 0 {
			break
		}
	}
	return writeJSON(s.resultPath(program), p)
}

// packOnce starts the program once. It returns the evictions so far, including those of earlier rounds.
func packOnce(ctx context.Context, s settings, c *controlplane.Cluster, program string, evicted int) (r PackingRound, total int, err error) {
	run := packWithEvenkeel
	if program == "peer" {
		run = packWithPeer
	}
	begun := time.Now()
	r.Bound, err = run(ctx, s, c)
	r.Seconds, r.Load = time.Since(begun).Seconds(), loadAverage()
	if unstable := waitForDeployments(ctx, c, s, stableTimeout); unstable != nil {
		r.Unstable = unstable.Error()
	}
	events, broken := c.Audit()
	total = len(acceptedRequests(events, "eviction"))
	r.Evictions = total - evicted
	var counted error
	r.Empty, r.Pending, counted = countEmpty(ctx, c)
	return r, total, errors.Join(err, broken, counted)
}

// packWithEvenkeel makes one pass and returns the lower bound of its plan.
func packWithEvenkeel(ctx context.Context, s settings, c *controlplane.Cluster) (bound int, err error) {
	config := filepath.Join(s.work, "evenkeel.yaml")
	if err := os.WriteFile(config, []byte(packingConfig), 0o644); err != nil {
		return 0, err
	}
	// The report of the latest round, in the log, explains why nodes keep their pods.
	log := filepath.Join(s.work, "evenkeel.log")
	_, _, err = program{path: s.evenkeel, log: log, limit: s.limit,
		args: append([]string{"run", "--once", "--lease-namespace", leaseNamespace,
			"--bind-address", "127.0.0.1:0", "--kubeconfig", c.Kubeconfig, "--config", config}, testbed.ReportFlags...)}.run(ctx)
	report, broken := readReport(log)
	return report.Spec.Minimum.Evictions, errors.Join(err, broken)
}

// packWithPeer makes one round with the descheduler, which has no bound.
func packWithPeer(ctx context.Context, s settings, c *controlplane.Cluster) (int, error) {
	policy := filepath.Join(s.work, "policy.yaml")
	if err := os.WriteFile(policy, []byte(peerPackingPolicy), 0o644); err != nil {
		return 0, err
	}
	args, err := s.peerArgs(policy, c.Kubeconfig, "--descheduling-interval", "0")
	if err != nil {
		return 0, err
	}
	_, _, err = program{path: s.peer, args: args, log: filepath.Join(s.work, "peer.log"), limit: s.limit}.run(ctx)
	return 0, err
}

// countEmpty returns the number of nodes without pods, and of Pending pods.
func countEmpty(ctx context.Context, c *controlplane.Cluster) (empty, pending int, err error) {
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, fmt.Errorf("listing nodes: %w", err)
	}
	pods, err := c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, fmt.Errorf("listing pods: %w", err)
	}
	used := map[string]bool{}
	for _, p := range pods.Items {
		if used[p.Spec.NodeName] = true; p.Status.Phase == corev1.PodPending {
			pending++
		}
	}
	for _, n := range nodes.Items {
		if !used[n.Name] {
			empty++
		}
	}
	return empty, pending, nil
}

// printPacking prints the results of both programs.
func printPacking(s settings, to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\trounds\temptied nodes\tevictions\tper emptied node\tbound\tPending\tseconds")
	for _, program := range []string{"peer", "evenkeel"} {
		data, err := os.ReadFile(s.resultPath(program))
		if err != nil {
			return fmt.Errorf("reading a result: %w", err)
		}
		var p Packing
		if err := json.Unmarshal(data, &p); err != nil {
			return fmt.Errorf("reading a result: %w", err)
		}
		var sum PackingRound
		for _, r := range p.Rounds {
			sum.Evictions, sum.Bound, sum.Seconds = sum.Evictions+r.Evictions, sum.Bound+r.Bound, sum.Seconds+r.Seconds
			sum.Empty, sum.Pending = r.Empty-p.EmptyBefore, r.Pending
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t%d\t%d\t%.0f\t%s\n", program, len(p.Rounds), sum.Empty, sum.Evictions,
			float64(sum.Evictions)/float64(max(1, sum.Empty)), sum.Bound, sum.Pending, sum.Seconds, p.Error)
	}
	return w.Flush()
}
