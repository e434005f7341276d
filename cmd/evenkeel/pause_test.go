package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// pauseServer is an API server that stores only the Rebalancer.
type pauseServer struct {
	mu       sync.Mutex
	m        *v1alpha1.Rebalancer
	username string // empty: the server returns no user name
}

const (
	configMapsPath  = "/api/v1/namespaces/default/configmaps"
	rebalancersPath = "/apis/evenkeel.io/v1alpha1/namespaces/default/rebalancers"
	rebalancerPath  = rebalancersPath + "/" + objects.ReleaseName
)

func (s *pauseServer) paths() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		rebalancersPath:      s.handle,
		rebalancerPath:       s.handle,
		allLeases:            releasesIn(map[string]string{"default": "node-7"}),
		leases + "/evenkeel": respondText(200, "application/json", leaseJSON("node-7", time.Now())),
		"/apis/authentication.k8s.io/v1/selfsubjectreviews": func(w http.ResponseWriter, r *http.Request) {
			if s.username == "" {
				respondStatus(403, "Forbidden", "no")(w, r)
				return
			}
			writeJSON(w, 201, map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "status": map[string]any{"userInfo": map[string]any{"username": s.username}}})
		},
	}
}

// leaseJSON returns a Lease with the given holder and renewal time.
func leaseJSON(holder string, renewed time.Time) string {
	return `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"evenkeel","namespace":"default"},` +
		`"spec":{"holderIdentity":"` + holder + `","leaseDurationSeconds":15,"renewTime":"` + renewed.UTC().Format(metav1.RFC3339Micro) + `"}}`
}

func (s *pauseServer) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost || r.Method == http.MethodPut:
		s.m = &v1alpha1.Rebalancer{}
		if err := json.NewDecoder(r.Body).Decode(s.m); err != nil {
			respondStatus(400, "BadRequest", err.Error())(w, r)
			return
		}
	case s.m == nil:
		respondNotFound(w, r)
		return
	}
	writeJSON(w, 200, s.m)
}

// runCommand runs a command against the server.
func (s *pauseServer) runCommand(t *testing.T, who string, args ...string) programResult {
	t.Helper()
	s.mu.Lock()
	s.username = who
	s.mu.Unlock()
	r := badInput{server: &serverFault{paths: s.paths()}}
	dir := r.prepare(t)
	r.serve(t, dir)
	got := invoke(t, connectTimeout, append(args, "--kubeconfig", dir+"/kubeconfig.yaml"), "")
	if got.exit != 0 {
		t.Errorf("evenkeel %s: exit %d: %s", strings.Join(args, " "), got.exit, got.stderr)
	}
	return got
}

func TestPauseAndResume(t *testing.T) {
	isolateFromCluster(t)
	s := &pauseServer{}
	expect := func(got programResult, stdout, stderr string) {
		t.Helper()
		if !strings.Contains(got.stdout, stdout) || (stderr == "") != (got.stableMessage("") == "") || !strings.Contains(got.stderr, stderr) {
			t.Errorf("stdout %q, want %q; stderr %q, want %q", got.stdout, stdout, got.stderr, stderr)
		}
	}
	expect(s.runCommand(t, "alice", "resume"), "Namespace default: evictions were not paused.\n", "")
	expect(s.runCommand(t, "alice", "pause", "--reason", "release 42"), "by alice: release 42.\n", "")
	since := s.m.Spec.Pause.Since.UTC().Format(time.RFC3339)
	expect(s.runCommand(t, "alice", "pause", "--reason", "release 42"), "evictions have been paused since "+since+" by alice: release 42.\n", "")

	// Commands can plan during a pause; their reports show the pause.
	expect(s.runCommand(t, "alice", "plan", "--config", "builtin"), "Evictions have been paused since "+since+" by alice:", "")
	expect(s.runCommand(t, "alice", "explain", "node", "n3", "--config", "builtin"), "Nothing is evicted now: evictions have been paused since "+since+" by alice: release 42 (Paused).", "")
	if got := s.runCommand(t, "alice", "plan", "--config", "builtin"); !strings.Contains(got.stdout, "Plan: 2 evictions") {
		t.Errorf("the plan has no moves while evictions are paused:\n%s", got.stdout)
	}

	if got := s.runCommand(t, "alice", "pause"); !strings.HasSuffix(got.stdout, " by alice: release 42.\nThe reason of the previous pause is kept; to change it, use --reason.\n") {
		t.Errorf("pause without --reason: %s", got.stdout)
	}
	expect(s.runCommand(t, "bob", "pause", "--for", "2h", "--reason", "release 43"), "evictions have been paused since "+since+" by bob, until ",
		"warning: this changes another user's pause: evictions have been paused since "+since+" by alice: release 42\n")
	if s.m.Spec.Pause.Reason != "release 43" {
		t.Errorf("reason %q", s.m.Spec.Pause.Reason)
	}
	if left := time.Until(s.m.Spec.Pause.Until.Time); left > 2*time.Hour || left < 2*time.Hour-time.Minute {
		t.Errorf("until %s", s.m.Spec.Pause.Until)
	}
	expect(s.runCommand(t, "alice", "resume"), "evictions are no longer paused.\n", "warning: this ended another user's pause: evictions have been paused since "+since+" by bob, until ")
	expect(s.runCommand(t, "", "pause"), "(user of this machine; the API server returned no user name).\n", "")
	if by := s.m.Spec.Pause.By; strings.HasPrefix(by, " ") || !strings.HasSuffix(by, " (user of this machine; the API server returned no user name)") {
		t.Errorf("by %q", by)
	}
}

// TestStartReportsAnEarlierPause checks that a process that may evict logs the pause that it finds
// at its start, such as one that an uninstalled release left, with its age, its author and the
// command that ends it.
func TestStartReportsAnEarlierPause(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	since := metav1.NewTime(time.Date(2025, 12, 12, 12, 0, 0, 0, time.UTC))
	left := &v1alpha1.Pause{Since: &since, By: "alice", Reason: "release 42"}
	for _, c := range []struct {
		name  string
		mode  plan.Mode
		pause *v1alpha1.Pause
		want  string
	}{
		{"no pause", plan.Live, nil, ""},
		{"a dry run evicts nothing anyway", plan.DryRun, left, ""},
		{"a pause from before", plan.Live, left, `level=WARN msg="an earlier pause holds this installation: ` +
			`nothing is evicted until the pause ends" pause="evictions have been paused since 2025-12-12T12:00:00Z by alice: release 42" ` +
			`age="21 days" rebalancer=evenkeel/evenkeel toResume="evenkeel resume --lease-namespace evenkeel"` + "\n"},
	} {
		var out strings.Builder
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		clock := clocktesting.NewFakePassiveClock(now)
		client, _ := objectstest.New(clock)
		must.Get(client.Rebalancers.Create(t.Context(), &v1alpha1.Rebalancer{ObjectMeta: metav1.ObjectMeta{Name: objects.ReleaseName},
			Spec: v1alpha1.RebalancerSpec{Pause: c.pause}}, metav1.CreateOptions{}))(t)
		pauses := state.PauseStore{Objects: client, Clock: clock}
		warnIfPaused(t.Context(), pauses, c.mode, log)
		if out.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, out.String(), c.want)
		}
	}
}

// TestPauseWarnsWithoutLeader checks that `pause` warns if no process can evict now, or if the namespace has no Lease.
// `pause` does not warn if it may not read the Lease.
func TestPauseWarnsWithoutLeader(t *testing.T) {
	isolateFromCluster(t)
	idle := "evenkeel: warning: no process holds the Lease evenkeel in namespace default, so nothing evicts from there now"
	absent := "evenkeel: warning: namespace default has no Lease evenkeel"
	gone, forbid := respondStatus(404, "NotFound", "no"), respondStatus(403, "Forbidden", "no")
	for name, c := range map[string]struct {
		lease, dryRun http.HandlerFunc
		pause, resume string
	}{
		"never ran":           {gone, gone, absent, absent},
		"was released":        {respondText(200, "application/json", leaseJSON("", time.Now())), gone, idle, ""},
		"was killed":          {respondText(200, "application/json", leaseJSON("node-7", time.Now().Add(-time.Hour))), gone, idle, ""},
		"runs":                {respondText(200, "application/json", leaseJSON("node-7", time.Now())), gone, "", ""},
		"nobody knows":        {forbid, forbid, "", ""},
		"runs dry":            {gone, respondText(200, "application/json", leaseJSON("node-7", time.Now())), idle, ""},
		"ran dry":             {gone, respondText(200, "application/json", leaseJSON("node-7", time.Now().Add(-time.Hour))), absent, absent},
		"dry run is possible": {gone, forbid, absent, absent},
	} {
		t.Run(name, func(t *testing.T) {
			s := &pauseServer{username: "alice"}
			r := badInput{server: &serverFault{paths: s.paths()}}
			r.server.paths[leases+"/evenkeel"], r.server.paths[leases+"/evenkeel-dry-run"] = c.lease, c.dryRun
			dir := r.prepare(t)
			r.serve(t, dir)
			for command, want := range map[string]string{"pause": c.pause, "resume": c.resume} {
				got := invoke(t, connectTimeout, []string{command, "--lease-namespace", "default", "--kubeconfig", dir + "/kubeconfig.yaml"}, "")
				if got.exit != 0 || !strings.HasPrefix(got.stderr, want) || want == "" && got.stderr != "" {
					t.Errorf("%s: exit %d: %q, want %q", command, got.exit, got.stderr, want)
				}
			}
		})
	}
}
