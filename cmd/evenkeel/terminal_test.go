package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
)

// hostile is a text that clears a terminal, forges a message of this program, and fills the terminal.
var hostile = "x\x1b[2J\r\u202e\nevenkeel: forged\n" + strings.Repeat("long ", 40<<10)

// TestTextOfOthersIsSafeForATerminal checks that control characters in text from a ConfigMap, a Lease or an answer of
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
		"another approval": func(t *testing.T) programResult {
			s, id := newApprovalServer(t)
			s.configMaps[approval.ConfigMapName] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: approval.ConfigMapName},
				Data: map[string]string{"state": "pending", "plan": hostile, "approvedBy": hostile, "waitingPlan": hostile,
					"approvedAt": time.Now().Format(time.RFC3339) + hostile, "expires": "2099-01-01T00:00:00Z"}}
			return s.run(t, "approve", id)
		},
		"an answer": func(t *testing.T) programResult {
			s, id := newApprovalServer(t)
			paths := s.paths()
			paths[configMapsPath+"/"+waiting.ConfigMapName] = func(w http.ResponseWriter, r *http.Request) {
				respondStatus(403, "Forbidden", hostile)(w, r)
			}
			r := badInput{server: &serverFault{paths: paths}}
			dir := r.prepare(t)
			r.serve(t, dir)
			return invoke(t, connectTimeout, []string{"approve", id, "--kubeconfig", dir + "/kubeconfig.yaml", "--lease-namespace", "default"}, "")
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
