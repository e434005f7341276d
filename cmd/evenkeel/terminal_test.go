package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// hostile is a text that clears a terminal, forges a message of this program, and fills the terminal.
var hostile = "x\x1b[2J\r\u202e\nevenkeel: forged\n" + strings.Repeat("long ", 40<<10)

// TestTextOfOthersIsSafeForATerminal checks that control characters in text from an object, a Lease or an answer of
// the API server never reach the terminal.
func TestTextOfOthersIsSafeForATerminal(t *testing.T) {
	isolateFromCluster(t)
	holder := strings.ReplaceAll(leaseJSON("HOLDER", time.Now()), "HOLDER", `node-7\u001b[2J\nevenkeel: forged`)
	for name, run := range map[string]func(t *testing.T) programResult{
		"a rejected trigger": func(t *testing.T) programResult {
			s := &requestServer{statuses: []v1alpha1.RebalanceRunStatus{{Phase: v1alpha1.RunRejected, Message: hostile}}}
			return s.run(t, nil, "zones")
		},
		"the holder of a trigger": func(t *testing.T) programResult {
			s := &requestServer{statuses: []v1alpha1.RebalanceRunStatus{{Phase: v1alpha1.RunCompleted, Holder: hostile, RunID: hostile, Message: hostile}}}
			return s.run(t, nil, "zones")
		},
		"the leader of a trigger": func(t *testing.T) programResult {
			others := map[string]http.HandlerFunc{leases + "/evenkeel": respondText(200, "application/json", holder)}
			return new(requestServer).run(t, others, "zones", "--wait", "10ms")
		},
		"a plan": func(t *testing.T) programResult {
			s := newApprovalServer(t)
			o := must.Get(s.objects.Plans.Get(t.Context(), waitingPlan, metav1.GetOptions{}))(t)
			o.Name, o.ResourceVersion, o.Spec.ID, o.Spec.Moves[0].Strategy, o.Spec.Moves[0].Reason.Message = "2", "", hostile[:50], hostile[:50], hostile[:500]
			must.Get(s.objects.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
			return s.run(t, "approve")
		},
		"an answer": func(t *testing.T) programResult {
			s := newApprovalServer(t)
			paths := s.paths()
			paths[storedPlans] = respondStatus(403, "Forbidden", hostile)
			r := badInput{server: &serverFault{paths: paths}}
			dir := r.prepare(t)
			r.serve(t, dir)
			return invoke(t, connectTimeout, []string{"approve", waitingPlan, "--kubeconfig", dir + "/kubeconfig.yaml", "--lease-namespace", "default"}, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t)
			out := got.stdout + got.stderr
			if !strings.Contains(out, `x\x1b[2J`) && !strings.Contains(out, `node-7\x1b[2J`) {
				t.Errorf("the text is not shown: %.300q", out)
			}
			if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("an unprintable character at %d: %.300q", i, out)
			}
			if strings.Contains(out, "\nevenkeel: forged") || len(out) > 20<<10 {
				t.Errorf("a forged line, or %d bytes: %.300q", len(out), out)
			}
		})
	}
}
