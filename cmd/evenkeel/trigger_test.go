package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/trigger"
)

// runTrigger runs the command trigger against a server whose leader gives the answer, if there is one.
func runTrigger(t *testing.T, answer map[string]string, lease, paused http.HandlerFunc, args ...string) (programResult, *pauseServer) {
	t.Helper()
	s := &pauseServer{username: "alice"}
	paths := s.paths()
	paths[configMapsPath+"/"+trigger.ConfigMapName] = func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.m != nil && r.Method == http.MethodGet {
			for key, value := range answer {
				s.m.Data[key] = value
			}
		}
		s.mu.Unlock()
		s.handle(w, r)
	}
	paths[configMapsPath+"/"+state.PauseName] = respondNotFound
	if paused != nil {
		paths[configMapsPath+"/"+state.PauseName] = paused
	}
	if lease != nil {
		paths[leases+"/evenkeel"] = lease
	}
	r := badInput{server: &serverFault{paths: paths}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, append([]string{"trigger", "--kubeconfig", dir + "/kubeconfig.yaml"}, args...), ""), s
}

func TestTrigger(t *testing.T) {
	isolateFromCluster(t)
	got, s := runTrigger(t, map[string]string{"state": "taken"}, nil, nil, "zones")
	if got.exit != 0 || got.stdout != "Namespace default: node-7 runs strategy zones now; see `evenkeel logs`.\n" {
		t.Errorf("taken: %+v", got)
	}
	if d := s.m.Data; d["strategy"] != "zones" || d["by"] != "alice" || d["id"] == "" {
		t.Errorf("the request is %v", d)
	}
	paused := respondText(200, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+state.PauseName+
		`","namespace":"default"},"data":{"by":"bob","reason":"release 42"}}`)
	got, _ = runTrigger(t, map[string]string{"state": "taken"}, nil, paused, "zones")
	if want := "node-7 runs strategy zones now, but evicts nothing: evictions are paused by bob: release 42; see"; got.exit != 0 || !strings.Contains(got.stdout, want) {
		t.Errorf("paused: %+v", got)
	}
	got, _ = runTrigger(t, map[string]string{"state": "rejected", "message": "no such strategy"}, nil, nil, "zones")
	if got.exit != 1 || !strings.Contains(got.stderr, "node-7 rejects the trigger: no such strategy") {
		t.Errorf("rejected: %+v", got)
	}
	got, s = runTrigger(t, nil, nil, nil, "zones", "--wait", "10ms")
	if got.exit != 1 || !strings.Contains(got.stderr, "node-7 did not take the trigger within 10ms, so it was withdrawn") ||
		s.m.Data["state"] != "withdrawn" {
		t.Errorf("not taken: %+v, %v", got, s.m.Data)
	}
	idle := respondText(200, "application/json", leaseJSON("", time.Now()))
	got, s = runTrigger(t, nil, idle, nil, "zones")
	if got.exit != 1 || !strings.Contains(got.stderr, "no process holds the Lease evenkeel in namespace default; a trigger needs `evenkeel run`") || s.m != nil {
		t.Errorf("no leader: %+v, %v", got, s.m)
	}
}
