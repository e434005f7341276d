package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

const (
	// mostRounds ends a run that does not come to rest.
	mostRounds = 6
	// restAfter is how long replacements may take after the end of a program.
	restAfter = 3 * time.Minute
	// reportSuffix ends the names of the reports that Evenkeel printed.
	reportSuffix = ".report.json"
)

// Round is one start of the program, and the cluster when all has come to rest
// after it.
type Round struct {
	Result
	CPUSeconds float64 `json:"cpuSeconds"`
	PeakBytes  int64   `json:"peakBytes"`
	Requests   int     `json:"apiRequests"`
	After      *State  `json:"after"`
	// Outcomes count what the program says became of its moves, with the reason;
	// LandedAsPredicted are the replacements that landed where they were expected.
	Outcomes          map[string]int `json:"outcomes,omitempty"`
	LandedAsPredicted int            `json:"landedAsPredicted,omitempty"`
	// Restless says what had not come to rest in time.
	Restless string `json:"restless,omitempty"`
}

// trial is a real run at work.
type trial struct {
	s       comparison
	c       *controlplane.Cluster
	cell    *Cell
	p       contender
	t       target
	users   []controlplane.User
	known   map[string]bool // pods at the start
	evicted int             // so far, before the cell too
	stderr  *os.File
}

// realRun starts the program again and again until it evicts nothing. Each start
// acts as another user, so that its requests can be told apart.
func realRun(ctx context.Context, s comparison, cell Cell, stderr *os.File) error {
	cell, err := s.again(cell)
	if err != nil {
		return err
	}
	var users []controlplane.User
	for i := range mostRounds {
		u := newUser(cell)
		u.Name += fmt.Sprintf("-round-%d", i+1)
		users = append(users, u)
	}
	return onPlane(ctx, s, users, stderr, func(c *controlplane.Cluster) error {
		return carryOut(ctx, s, c, cell, users, stderr)
	})
}

// again is a cell as it is measured now: with the program and the configuration
// at hand.
func (s comparison) again(asked Cell) (Cell, error) {
	p, err := contenderNamed(asked.Program)
	if err != nil {
		return asked, err
	}
	t, err := targetNamed(asked.Target)
	if err != nil {
		return asked, err
	}
	return s.newCell(asked.Phase, size{asked.Nodes, asked.Pods}, t, p, asked.Run)
}

// liveRuns lets each program evict a few pods, all on one control plane: so few
// leave a cluster of thousands as good as it was.
func liveRuns(ctx context.Context, s comparison, stderr *os.File) error {
	cells, err := s.openCells(live)
	if err != nil || len(cells) == 0 {
		return err
	}
	users := make([]controlplane.User, len(cells))
	for i, c := range cells {
		users[i] = newUser(c)
	}
	return onPlane(ctx, s, users, stderr, func(c *controlplane.Cluster) error {
		for i, cell := range cells {
			fmt.Fprintln(stderr, "bench:", strings.Join(cell.step(), " "))
			if err := carryOut(ctx, s, c, cell, users[i:i+1], stderr); err != nil {
				return err
			}
		}
		return nil
	})
}

// onPlane does something on a control plane with fake kubelets.
func onPlane(ctx context.Context, s comparison, users []controlplane.User, stderr *os.File, do func(*controlplane.Cluster) error) error {
	c, err := controlplane.Start(ctx, controlplane.Options{Kwok: s.kwok, Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: managerFlags["tuned"], Users: users, AuditPolicy: auditPolicy(users), Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	return do(c)
}

// carryOut measures one cell, a start of the program per user. That the program
// fails is a result; that the lab does is an error.
func carryOut(ctx context.Context, s comparison, c *controlplane.Cluster, cell Cell, users []controlplane.User, stderr *os.File) error {
	p, err := contenderNamed(cell.Program)
	if err != nil {
		return err
	}
	t, err := targetNamed(cell.Target)
	if err != nil {
		return err
	}
	r := &trial{s: s, c: c, cell: &cell, p: p, t: t, users: users, known: map[string]bool{}, stderr: stderr}
	if err := r.begin(ctx); err != nil {
		return err
	}
	cell.LoadBefore = loadAverage()
	err = r.rounds(ctx)
	cell.LoadAfter = loadAverage()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		cell.Error = err.Error()
		fmt.Fprintln(stderr, "bench:", err)
	}
	return cell.store(s.work)
}

func (r *trial) begin(ctx context.Context) (err error) {
	if err := settled(ctx, r.c, r.s.settings, patience); err != nil {
		return fmt.Errorf("waiting until the Deployments are content: %w", err)
	}
	pods, err := r.c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for _, p := range pods.Items {
		r.known[p.Namespace+"/"+p.Name] = true
	}
	events, err := r.c.Audit()
	if err != nil {
		return err
	}
	r.evicted = len(accepted(events))
	r.cell.Start, err = look(ctx, r.c.Client, r.t, r.known)
	return err
}

func (r *trial) rounds(ctx context.Context) error {
	config, err := r.s.order(r.cell.Phase, r.p, r.t).write(r.s.work)
	if err != nil {
		return err
	}
	for i := range r.users {
		round, err := r.round(ctx, i, config)
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		r.cell.Rounds = append(r.cell.Rounds, round)
		r.add(round)
		fmt.Fprintf(r.stderr, "bench: round %d: %d evictions in %.0f s; standard deviation %.2f %%, %d nodes above, %d Deployments skewed, %d pods pending\n",
			i+1, round.Evictions, round.Seconds, round.After.CPUStdDev, round.After.NodesAbove, round.After.Skewed, round.After.Pending)
		if round.Error != "" {
			return fmt.Errorf("round %d: %s", i+1, round.Error)
		}
		if round.Evictions == 0 || r.cell.Phase == live {
			return nil
		}
	}
	return nil // that it does not come to rest is a result
}

// add takes a round into the sums of the cell.
func (r *trial) add(round Round) {
	c := r.cell
	c.Evictions += round.Evictions
	c.Requests += round.Requests
	c.Seconds += round.Seconds
	c.CPUSeconds += round.CPUSeconds
	c.PeakBytes = max(c.PeakBytes, round.PeakBytes)
}

func (r *trial) round(ctx context.Context, i int, config string) (Round, error) {
	kube, err := kubeconfig(r.s, r.c, r.users[i])
	if err != nil {
		return Round{}, err
	}
	var out Round
	out.Program, out.ControllerManager, out.LoadBefore = r.p.Name, "tuned", loadAverage()
	run := r.evenkeel
	if r.p.Peer {
		run = r.peer
	}
	waves, plan, u, err := run(ctx, config, kube)
	out.Seconds, out.CPUSeconds, out.PeakBytes = u.Seconds, u.CPUSeconds, u.PeakBytes
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Error = err.Error() // what it did until then is still measured
	}
	out.LoadAfter = loadAverage()
	if err := settled(ctx, r.c, r.s.settings, restAfter); err != nil {
		out.Restless = err.Error()
	}
	if out.After, err = look(ctx, r.c.Client, r.t, r.known); err != nil {
		return out, err
	}
	events, err := r.c.Audit()
	if err != nil {
		return out, err
	}
	all := accepted(events)
	out.count(all[r.evicted:], waves)
	r.evicted = len(all)
	out.Requests = requests(events, r.users[i].Name)
	if plan != nil {
		out.Outcomes, out.LandedAsPredicted = tally(plan.Outcomes)
	}
	if i == 0 && plan != nil {
		r.cell.Foretold, r.cell.MinEvictions = foretell(*plan, nodeCPU), plan.Bound.MinEvictions
		r.cell.Foretold.compare(out.After)
	}
	return out, nil
}

// evenkeel makes one pass; it returns the wave of each pod, and the plan.
func (r *trial) evenkeel(ctx context.Context, config, kube string) (map[string]int, *told, used, error) {
	printed, u, err := child{path: r.s.evenkeel, log: r.log(), limit: r.s.limit, args: []string{"run", "--once", "-o", "json",
		"--lease-namespace", nsName(0), "--config", config, "--kubeconfig", kube}}.run(ctx)
	// The whole report says why moves were refused, and what became of each.
	if err := os.WriteFile(strings.TrimSuffix(r.log(), ".log")+reportSuffix, printed, 0o644); err != nil {
		return nil, nil, u, fmt.Errorf("keeping the report of a run: %w", err)
	}
	var report struct {
		Plan     told
		Replan   told // planned later in the same pass; nearly always empty
		Outcomes []outcome
	}
	if broken := json.Unmarshal(printed, &report); broken != nil {
		return nil, nil, u, errors.Join(err, fmt.Errorf("reading what evenkeel printed: %w", broken))
	}
	report.Plan.Outcomes = report.Outcomes
	waves := map[string]int{}
	for _, m := range append(report.Plan.Moves, report.Replan.Moves...) {
		waves[m.Pod.Namespace+"/"+m.Pod.Name] = m.Wave
	}
	return waves, &report.Plan, u, err
}

// peer makes one round with the descheduler, which has no waves and foretells
// nothing.
func (r *trial) peer(ctx context.Context, policy, kube string) (map[string]int, *told, used, error) {
	args, err := r.s.peerArgs(policy, kube)
	if err != nil {
		return nil, nil, used{}, err
	}
	_, u, err := child{path: r.s.peer, args: append(args, "--descheduling-interval", "0"), log: r.log(), limit: r.s.limit}.run(ctx)
	return nil, nil, u, err
}

func (r *trial) log() string {
	return filepath.Join(r.s.work, fmt.Sprintf("%s-%d.log", strings.TrimSuffix(r.cell.file(), ".json"), len(r.cell.Rounds)+1))
}
