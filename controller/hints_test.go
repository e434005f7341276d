package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

// fakeHintWriter keeps the hints and a log of the writes.
type fakeHintWriter struct {
	on    map[string]hints.Hint
	log   []string
	fails error
	// failingRemovals is the number of Remove calls that still fail. timeLimits has the time limit of each call.
	failingRemovals int
	timeLimits      []time.Duration
	// takeFails is the error of every removal. The hints stay on their nodes.
	takeFails error
	during    func() // called in each write; nil is allowed
	// missing is a node that does not exist. As with the real writer, nodes after it in a list get no hint.
	missing string
}

func (b *fakeHintWriter) Put(_ context.Context, list []hints.Hint) error {
	if b.during != nil {
		b.during()
	}
	for _, h := range list {
		if h.Node == b.missing {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, h.Node)
		}
		b.on[h.Node] = h
		b.log = append(b.log, "put "+h.Node)
	}
	return b.fails
}

func (b *fakeHintWriter) Remove(ctx context.Context, nodes []string, which func(hints.Hint) bool) ([]string, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	until, _ := ctx.Deadline()
	b.timeLimits = append(b.timeLimits, time.Until(until).Round(time.Second/2))
	if b.takeFails != nil {
		return nil, b.takeFails
	}
	if b.failingRemovals > 0 {
		b.failingRemovals--
		b.log = append(b.log, "stuck")
		return nil, errors.New("removing the hint from node n3: the server does not answer")
	}
	var taken []string
	for _, n := range nodes {
		if h, ok := b.on[n]; ok && which(h) {
			delete(b.on, n)
			taken = append(taken, n)
			b.log = append(b.log, "take "+n)
		}
	}
	return taken, nil
}

// loggingEvictor adds the events of each wave to the log of the hint writer.
type loggingEvictor struct {
	b      *fakeHintWriter
	during func()
	result evictor.Result
}

func (e *loggingEvictor) EvictWave(ctx context.Context, moves []plan.Move, bound func()) evictor.Result {
	e.b.log = append(e.b.log, "evict")
	if e.during != nil {
		e.during()
	}
	if ctx.Err() == nil {
		bound()
	}
	e.b.log = append(e.b.log, "verified")
	for _, m := range moves {
		e.result.Outcomes = append(e.result.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Evicted})
	}
	return e.result
}

// newSteeringController returns a controller for the cluster of a planner scenario.
func newSteeringController(t *testing.T, name string, mode plan.Mode) (*controller.Controller, *fakeHintWriter, *loggingEvictor) {
	t.Helper()
	b := &fakeHintWriter{on: map[string]hints.Hint{}}
	e := &loggingEvictor{b: b}
	c, _ := newScenarioController(t, name, e, mode)
	c.HintWriter = b
	return c, b, e
}

// The hints are on the nodes from before the evictions until the replacements are bound.
func TestHintsStandFromBeforeTheEvictionUntilReplacementsAreBound(t *testing.T) {
	c, b, e := newSteeringController(t, "steer-taint-123-grace-0", plan.Live)
	e.during = func() {
		want := hints.Hint{Node: "n3", Kind: hints.Taint, Run: "r1", Expires: c.Clock.Now().Add(10 * time.Minute)}
		if b.on["n3"] != want || len(b.on) != 1 {
			t.Errorf("got hints %+v, want %+v", b.on, want)
		}
	}
	if _, err := c.RunOnce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"put n3", "evict", "take n3", "verified"}; !slices.Equal(b.log, want) {
		t.Errorf("%v, want %v", b.log, want)
	}
}

// If a pass is told to stop, it removes its hints although its context has ended.
func TestHintsGoWhenAPassIsToldToStop(t *testing.T) {
	c, b, e := newSteeringController(t, "steer-taint-123-grace-0", plan.Live)
	ctx, cancel := context.WithCancel(t.Context())
	e.during = cancel
	e.result.Stop = &plan.Reason{Code: plan.Interrupted}
	if _, err := c.RunOnce(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"put n3", "evict", "verified", "take n3"}; !slices.Equal(b.log, want) {
		t.Errorf("%v, want %v", b.log, want)
	}
}

// A dry run writes no hints. A live pass writes none either if its moves need none.
func TestADryRunHintsNothing(t *testing.T) {
	c, b, _ := newSteeringController(t, "steer-taint-123-grace-0", plan.DryRun)
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(r.Plan.Hints) != 1 || !slices.Equal(r.Plan.Hints[0].Nodes, []string{"n3"}) {
		t.Fatalf("%+v, %v", r.Plan.Hints, err)
	}
	if want := []string{"evict", "verified"}; !slices.Equal(b.log, want) {
		t.Errorf("%v, want %v", b.log, want)
	}
	c, b, _ = newSteeringController(t, "seed-114", plan.Live)
	if _, err := c.RunOnce(t.Context(), nil); err != nil || slices.Contains(b.log, "put n3") {
		t.Errorf("%v, %v", b.log, err)
	}
}

// The controller removes expired hints before it plans, and leaves other hints.
func TestExpiredHintsGoBeforeThePlan(t *testing.T) {
	c, b, _ := newSteeringController(t, "seed-even", plan.Live)
	o := c.Observer.(*fixedObserver)
	now := c.Clock.Now()
	for node, at := range map[string]time.Time{"n1": now.Add(-time.Minute), "n2": now.Add(time.Minute)} {
		h := hints.Hint{Node: node, Kind: hints.Taint, Run: "dead", Expires: at}
		b.on[node] = h
		n := o.s.NodeByName(node)
		n.Object, _ = hints.WithHint(n.Object, h)
	}
	if _, err := c.RunOnce(t.Context(), nil); err != nil || !slices.Equal(b.log, []string{"take n1"}) || o.snapshots != 2 {
		t.Errorf("got log %v after %d snapshots, error %v", b.log, o.snapshots, err)
	}
}

// hintFailures returns the errors of writing hints, by name.
func hintFailures() map[string]error {
	nodes := schema.GroupResource{Resource: "nodes"}
	return map[string]error{
		"forbidden": apierrors.NewForbidden(nodes, "n3",
			errors.New(`User "system:serviceaccount:evenkeel:evenkeel" cannot patch resource "nodes" in API group "" at the cluster scope`)),
		"conflict": fmt.Errorf("hinting node n3: gave up after 6 tries: %w", apierrors.NewConflict(nodes, "n3", errors.New("the object has been modified"))),
	}
}

// If hints cannot be written, the moves of the wave are dropped and no hint remains.
func TestWhatCannotBeHintedIsNotEvicted(t *testing.T) {
	for name, code := range map[string]plan.Code{"forbidden": plan.PermissionMissing, "conflict": plan.HintNotWritten} {
		c, b, _ := newSteeringController(t, "steer-taint-123-grace-0", plan.Live)
		b.fails = hintFailures()[name]
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil || len(r.Outcomes) != 1 || r.Outcomes[0].Outcome != plan.Blocked || r.Outcomes[0].Reason.Code != code {
			t.Errorf("%s: %+v, %v", name, r.Outcomes, err)
		}
		if stopped := r.Stopped != nil; stopped != (code == plan.PermissionMissing) {
			t.Errorf("%s: stopped %v", name, r.Stopped)
		}
		if want := []string{"put n3", "take n3"}; !slices.Equal(b.log, want) {
			t.Errorf("%s: got log %v, want %v", name, b.log, want)
		}
	}
}

// hintFailureReports returns the reports of passes over a mixed wave whose hints cannot be written.
func hintFailureReports(t *testing.T) []plan.RunReport {
	t.Helper()
	var out []plan.RunReport
	for _, name := range []string{"forbidden", "conflict", "stopped"} {
		b := &fakeHintWriter{on: map[string]hints.Hint{}, fails: errors.New("stopped")}
		if err, ok := hintFailures()[name]; ok {
			b.fails = err
		}
		ctx, cancel := context.WithCancel(t.Context())
		e := &scriptedEvictor{}
		c, _ := newController(t, e, plan.Live)
		c.Planner, c.HintWriter = scriptedPlanner{plan: plan.Plan{
			Moves: []plan.Move{{Step: 1, Wave: 1, Steer: "taint"}, {Step: 2, Wave: 1, Steer: "none"}},
			Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n3"}}}}}, b
		if name == "stopped" {
			b.during = cancel
		}
		r, err := c.RunOnce(ctx, nil)
		if err != nil || len(e.waves) != 0 || len(r.Outcomes) != 2 || len(b.on) != 0 {
			t.Errorf("%s: got %d waves, outcomes %+v, hints %v, error %v", name, len(e.waves), r.Outcomes, b.on, err)
		}
		out = append(out, r)
		cancel()
	}
	return out
}

// At its end, a pass tries again to remove hints that remain, even if it was told to stop. It
// logs the hints that it cannot remove.
func TestWhatIsLeftIsTakenAwayOnceMore(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		for stuck, want := range [][]string{{"take n3"}, {"stuck", "take n3"}, {"stuck", "stuck"}} {
			c, b, e := newSteeringController(t, "steer-taint-123-grace-0", plan.Live)
			var said strings.Builder
			c.Log = slog.New(slog.NewTextHandler(&said, nil))
			ctx, cancel := context.WithCancel(t.Context())
			if b.failingRemovals = stuck; stopped {
				e.during, e.result.Stop = cancel, &plan.Reason{Code: plan.Interrupted}
			}
			if _, err := c.RunOnce(ctx, nil); err != nil {
				t.Fatal(err)
			}
			cancel()
			diary := slices.DeleteFunc(b.log, func(s string) bool { return s != "stuck" && s != "take n3" })
			if !slices.Equal(diary, want) || (len(b.on) > 0) != (stuck == 2) {
				t.Errorf("stopped %v, %d failures: got log %v, hints %v", stopped, stuck, b.log, b.on)
			}
			remains := strings.Contains(said.String(), "level=ERROR") && strings.Contains(said.String(), "hints clear") &&
				strings.Contains(said.String(), "node n3")
			if remains != (stuck == 2) {
				t.Errorf("stopped %v, %d failures: the controller logged %s", stopped, stuck, said.String())
			}
		}
	}
}

// The timeout for removing hints grows with the number of nodes, up to maxHintRemovalTimeout.
func TestMoreNodesAreGivenMoreTime(t *testing.T) {
	for nodes, want := range map[int]time.Duration{0: 10 * time.Second, 40: 16 * time.Second, 100: 25 * time.Second, 1000: 25 * time.Second} {
		c, b, _ := newSteeringController(t, "steer-taint-123-grace-0", plan.Live)
		c.Planner = scriptedPlanner{plan: plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, Steer: "taint"}},
			Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: make([]string, nodes)}}}}
		if _, err := c.RunOnce(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if len(b.timeLimits) != 1 || b.timeLimits[0] != want {
			t.Errorf("%d nodes: got timeouts %v, want %s", nodes, b.timeLimits, want)
		}
	}
}

// During each batch, the hints of the whole wave are on the nodes, because the planner checked the
// moves with these hints. Hints are not written again after the last move that needs them.
func TestEveryPartOfAWaveHasItsHints(t *testing.T) {
	for steered, want := range map[int][]string{
		1: {"put n3", "evict", "take n3", "verified", "evict", "verified"},
		2: {"put n3", "evict", "take n3", "verified", "put n3", "evict", "take n3", "verified"},
	} {
		p := plan.Plan{Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n3"}}}}
		for step := 1; step <= 2; step++ {
			m := plan.Move{Step: step, Wave: 1, Steer: "none"}
			if step == steered {
				m.Steer = "taint"
			}
			p.Moves = append(p.Moves, m)
		}
		b := &fakeHintWriter{on: map[string]hints.Hint{}}
		c, _ := newController(t, &loggingEvictor{b: b}, plan.Live)
		c.Planner, c.HintWriter, c.BatchSize = scriptedPlanner{plan: p}, b, 1
		if _, err := c.RunOnce(t.Context(), nil); err != nil || !slices.Equal(b.log, want) {
			t.Errorf("hint for step %d: got log %v, want %v (error %v)", steered, b.log, want, err)
		}
	}
}

// In a dry run, or without the permission to patch nodes, a pass only logs remaining hints. A pass
// that may patch nodes removes expired hints even if steering is off.
func TestLeftoverHintsAreSaid(t *testing.T) {
	forbidden := hintFailures()["forbidden"]
	for name, x := range map[string]struct {
		mode   plan.Mode
		fails  error
		expiry string // not logged, because it has expired
		taken  bool
		said   string
	}{
		"a dry run":                       {mode: plan.DryRun, said: "hints gc"},
		"live":                            {mode: plan.Live, taken: true, said: "removed hints"},
		"no permission":                   {mode: plan.Live, fails: forbidden, said: "hints gc"},
		"an unreadable expiry":            {mode: plan.Live, expiry: "soon", taken: true, said: "removed hints"},
		"an expiry in the far future":     {mode: plan.Live, expiry: "9999-01-01T00:00:00Z", taken: true, said: "removed hints"},
		"it has not expired":              {mode: plan.Live, expiry: "1h", said: "not expired yet"},
		"a dry run beside a live process": {mode: plan.DryRun, expiry: "1h"},
	} {
		c, b, _ := newSteeringController(t, "seed-even", x.mode) // steering is off in its configuration
		if b.takeFails = x.fails; x.mode == plan.DryRun {
			c.HintWriter = nil
		}
		var said strings.Builder
		c.Log = slog.New(slog.NewTextHandler(&said, nil))
		h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "dead", Expires: c.Clock.Now().Add(-time.Minute)}
		n := c.Observer.(*fixedObserver).s.NodeByName("n1")
		n.Object, _ = hints.WithHint(n.Object, h)
		if b.on["n1"] = h; x.expiry != "" {
			if in, err := time.ParseDuration(x.expiry); err == nil {
				x.expiry = c.Clock.Now().Add(in).Format(time.RFC3339)
			}
			n.Object.Annotations[hints.ExpiresAnnotation] = x.expiry
		}
		_, err := c.RunOnce(t.Context(), nil)
		if err != nil || slices.Contains(b.log, "take n1") != x.taken || !strings.Contains(said.String(), x.said) || x.said == "" &&
			strings.Contains(said.String(), "hint") {
			t.Errorf("%s: got log %v, error %v, messages %s", name, b.log, err, said.String())
		}
		if advised := strings.Contains(said.String(), "hints gc"); advised != (x.said == "hints gc") {
			t.Errorf("%s: the controller logged %s", name, said.String())
		}
	}
}
