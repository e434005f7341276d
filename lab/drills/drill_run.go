package drills

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

// drillRun is one run of a drill, with its namespace for the Lease and the state, its seed, and its results so far.
type drillRun struct {
	*environment
	name, namespace string
	reps            int
	random          *rand.Rand
	rules           auditverifier.Rules
	config          string
	users           map[string]bool
	processes       []*process
	violations      []auditverifier.Violation
	completed       int // repetitions in which the failure occurred
	notes           map[string]int
	// minEvictions is the smallest number of evictions with which the drill is valid.
	minEvictions int
}

const verifyTimeout = 20 * time.Second

// defaultRules returns the limits in the configuration of every drill.
func defaultRules() auditverifier.Rules {
	return auditverifier.Rules{
		PerPass: 12, PerNode: 5, PerNamespace: 10, PerOwner: 2, PerZone: 10,
		HourOwner: 400, HourNamespace: 1000, HourCluster: 2000,
		FlightTotal: 6, FlightNode: 3, FlightOwner: 1,
		PerMinute: 120, Slack: 300 * time.Millisecond, FlightTimeout: verifyTimeout + 30*time.Second,
		MaxUnavailable: 1, OnePass: true,
	}
}

// configText returns the configuration for the rules, with one strategy per schedule.
func configText(r auditverifier.Rules, schedules ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: false\nguards: {minPodAge: 0s}\n")
	fmt.Fprintf(&b, "limits:\n  perPass: %d\n  perNode: %d\n  perNamespace: %d\n  perOwner: %d\n  perZone: %d\n",
		r.PerPass, r.PerNode, r.PerNamespace, r.PerOwner, r.PerZone)
	fmt.Fprintf(&b, "  perHour: {owner: %d, namespace: %d, cluster: %d}\n", r.HourOwner, r.HourNamespace, r.HourCluster)
	fmt.Fprintf(&b, "evictor:\n  perMinute: %d\n  inFlight: {total: %d, perNode: %d, perOwner: %d}\n  verifyTimeout: %s\n",
		r.PerMinute, r.FlightTotal, r.FlightNode, r.FlightOwner, verifyTimeout)
	b.WriteString("  backoff: 1s\n" +
		"  breaker: {maxUnreadyNodesFrac: 1, maxPendingPods: unlimited, maxFailedFrac: 1}\nstrategies:\n")
	for i, schedule := range schedules {
		fmt.Fprintf(&b, "  zones-%d: {type: ZoneSpread, schedule: %q}\n", i+1, schedule)
	}
	return b.String()
}

// configure writes the drill's configuration and checks it with the binary.
func (s *drillRun) configure(ctx context.Context, schedules ...string) error {
	s.config = filepath.Join(s.dir, s.name+".yaml")
	if err := os.WriteFile(s.config, []byte(configText(s.rules, schedules...)), 0o600); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, s.options.Evenkeel, "config", "check", s.config).CombinedOutput(); err != nil {
		return fmt.Errorf("checking the configuration: %w\n%s", err, out)
	}
	return nil
}

// singlePassArgs returns the arguments for a single pass.
func singlePassArgs(leaseTimeout time.Duration) []string {
	return []string{"run", "--once", "--lease-timeout", leaseTimeout.String()}
}

// passLimit is the time limit of one pass, which waits for the Lease, evicts about 12 pods, and verifies the
// replacements.
const passLimit = 3 * time.Minute

// waitForPass waits until a pass ends, and notes its exit code and the injected faults.
func (s *drillRun) waitForPass(ctx context.Context, p *process) {
	if !p.wait(ctx, passLimit) {
		s.addViolation(auditverifier.ProcessFailure, p.user, "the process did not end within %s: %s", passLimit, p.lastLine())
	}
	if !p.wasKilled() {
		s.notes[fmt.Sprintf("exit %d", p.cmd.ProcessState.ExitCode())]++
	}
	for k, n := range p.proxy.FaultCounts() {
		s.notes["fault "+k] += n
	}
}

func (s *drillRun) addViolation(k auditverifier.Kind, user, format string, args ...any) {
	s.violations = append(s.violations, auditverifier.Violation{Kind: k, At: time.Now(), User: user, What: fmt.Sprintf(format, args...)})
}

// runStableCleanPass waits until the workload is stable, and runs a pass without faults.
func (s *drillRun) runStableCleanPass(ctx context.Context) error {
	if err := s.workload.waitUntilStable(ctx, stableTimeout); err != nil {
		s.addViolation(auditverifier.ProcessFailure, "", "%v", err)
	}
	return s.runCleanPass(ctx)
}

// stopProcess sends SIGTERM and waits until the process has ended.
func (s *drillRun) stopProcess(ctx context.Context, p *process) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.wait(ctx, 30*time.Second) {
		s.addViolation(auditverifier.ProcessFailure, p.user, "the process did not end within 30s of SIGTERM")
	}
}

// runCleanPass runs a pass without faults. The pass must report all evictions that a killed process did not report.
func (s *drillRun) runCleanPass(ctx context.Context) error {
	if s.options.Short && !s.anyKilled() {
		return nil
	}
	p, err := s.startProcess(processOptions{args: singlePassArgs(time.Minute), faults: proxy.Faults{}})
	if err != nil {
		return err
	}
	s.waitForPass(ctx, p)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		s.addViolation(auditverifier.ProcessFailure, p.user, "the pass without faults exited with %d: %s", code, p.lastLine())
	}
	return nil
}

func (s *drillRun) anyKilled() bool { return slices.ContainsFunc(s.processes, (*process).wasKilled) }

// verify ends all running processes and verifies the actions of all processes.
func (s *drillRun) verify(ctx context.Context) (auditverifier.Result, int, error) {
	sleep(ctx, time.Second) // the audit log and the watches lag behind by a moment
	var reports []auditverifier.Report
	wrong := s.violations
	for _, p := range s.processes {
		p.wait(ctx, 0)
		r, bad := p.readOutput()
		reports, wrong = append(reports, r...), append(wrong, bad...)
	}
	events, err := s.cluster.AuditSince(&s.auditRead)
	if err != nil {
		return auditverifier.Result{}, 0, err
	}
	changes, gaps := s.recorder.Changes()
	c := auditverifier.Evidence{Changes: changes, Events: events, Reports: reports, Rules: s.rules,
		Ours: func(u string) bool { return s.users[u] }, Namespace: s.namespace}
	v := c.Verify()
	v.Violations = append(wrong, v.Violations...)
	late := func(k auditverifier.Kind, format string, args ...any) {
		v.Violations = append(v.Violations, auditverifier.Violation{Kind: k, At: time.Now(), What: fmt.Sprintf(format, args...)})
	}
	if gaps > 0 {
		late(auditverifier.IncompleteRecording, "the recording has %d gaps", gaps)
	}
	if v.Evictions < s.minEvictions {
		late(auditverifier.IncompleteRecording, "only %d evictions took place; the drill needs at least %d", v.Evictions, s.minEvictions)
	}
	if s.completed < s.reps {
		late(auditverifier.IncompleteRecording, "only %d of %d repetitions took place", s.completed, s.reps)
	}
	return v, len(reports), nil
}

// keepFiles copies the files of all processes to Options.Keep if there are violations.
func (s *drillRun) keepFiles(v auditverifier.Result) {
	if s.options.Keep == "" || len(v.Violations) == 0 {
		return
	}
	if err := os.CopyFS(s.options.Keep+"/"+s.name+time.Now().UTC().Format("-150405"), os.DirFS(s.dir)); err != nil {
		fmt.Fprintln(s.options.Progress, "drills: keeping files:", err)
	}
}

func (s *drillRun) logProgress(format string, args ...any) {
	fmt.Fprintf(s.options.Progress, "drills: %s %d/%d: %s\n", s.name, s.completed, s.reps, fmt.Sprintf(format, args...))
}

// startProcess runs evenkeel behind a new proxy.
func (s *drillRun) startProcess(h processOptions) (*process, error) {
	if err := s.checkComponents(); err != nil {
		return nil, err
	}
	if h.token == "" {
		if s.usedUsers >= userCount {
			return nil, errors.New("all test users are in use; raise userCount")
		}
		h.user, h.token = userName(s.usedUsers), s.tokens[s.usedUsers]
		s.usedUsers++
	}
	if h.config == "" {
		h.config = s.config
	}
	p := &process{user: h.user, ended: make(chan struct{})}
	s.users[h.user] = true
	o := proxy.Options{Target: s.cluster.Config.Host, CA: s.ca, Seed: s.random.Uint64(), Faults: h.faults, HTTP2: h.http2,
		ListCache: s.copies}
	if h.hook != nil {
		o.Hook = func(c proxy.Class, n int, m proxy.Moment) { h.hook(p, c, n, m) }
	}
	var err error
	if p.proxy, err = proxy.Start(o); err != nil {
		return nil, err
	}
	file := strings.NewReplacer("/", "-", ":", "-").Replace(fmt.Sprintf("%s-%s", s.name, h.user))
	kubeconfig, err := s.kubeconfig(file, h.token, s.namespace, p.proxy)
	if err != nil {
		return nil, err
	}
	args := append(slices.Clone(h.args), "--kubeconfig", kubeconfig, "--config", h.config, "--lease-namespace", s.namespace,
		"--log-format", "json", "--log-report", "full")
	if err := p.run(filepath.Join(s.dir, file), s.options.Evenkeel, h.env, args); err != nil {
		p.proxy.Close()
		return nil, err
	}
	s.processes = append(s.processes, p)
	return p, nil
}
