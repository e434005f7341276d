package main

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// repeatedIn returns the flags of a command line that a report repeats.
func repeatedIn(t *testing.T, args ...string) *repeatedFlags {
	t.Helper()
	root := newRoot(&globalFlags{})
	cmd, rest, err := root.Find(args)
	must.Succeed(t, err)
	var r *repeatedFlags
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { r = newRepeatedFlags(cmd); return nil }
	root.SetArgs(append([]string{cmd.Name()}, rest...))
	root.SetOut(io.Discard)
	must.Succeed(t, root.Execute())
	return r
}

// TestRepeatedFlags checks that a command in a report reads what the command that prints the report read, and that it
// has no flag that it does not know, and no secret.
func TestRepeatedFlags(t *testing.T) {
	live := []string{"plan", "--config", "my config.yaml", "--lease-namespace", "ops", "--context", "prod", "--token", "secret"}
	file := []string{"plan", "-f", "a.yaml", "-f", "b.yaml", "--kubernetes-version", "1.36", "--context", "prod"}
	proxy := []string{"plan", "--insecure-skip-tls-verify", "--proxy-url", "http://user:secret@proxy:1", "--server", "https://s:6443"}
	asAnn := []string{"plan", "--as", "ann", "--as-user-extra", "scopes=a,b", "--as-user-extra", "team="}
	none := []string{"plan", "--kubeconfig", "k"}
	for _, c := range []struct {
		args          []string
		snapshot      bool
		command, want string
	}{
		{live, false, "evenkeel plan", "evenkeel plan --context prod --config 'my config.yaml' --lease-namespace ops"},
		{live, false, "evenkeel plan -o yaml > plan.yaml", "evenkeel plan -o yaml --context prod --config 'my config.yaml' --lease-namespace ops > plan.yaml"},
		{live, false, "evenkeel status", "evenkeel status --context prod --lease-namespace ops"},
		{live, false, "evenkeel config check config.yaml", "evenkeel config check 'my config.yaml'"},
		{live, false, "kubectl top nodes", "kubectl top nodes"},
		{file, true, "evenkeel explain pod shop/d", "evenkeel explain pod shop/d --filename a.yaml --filename b.yaml --kubernetes-version 1.36"},
		{file, true, "evenkeel plan -f snapshot.json", "evenkeel plan -f snapshot.json --kubernetes-version 1.36"},
		{file, false, "evenkeel plan -o yaml > plan.yaml", "evenkeel plan -o yaml --context prod > plan.yaml"},
		{proxy, false, "evenkeel plan", "evenkeel plan --insecure-skip-tls-verify=true --server https://s:6443"},
		{asAnn, false, "evenkeel apply plan.yaml", "evenkeel apply plan.yaml --as ann --as-user-extra scopes=a,b --as-user-extra team="},
		{live, true, "evenkeel explain pod 'a > b'", "evenkeel explain pod 'a > b' --context prod --config 'my config.yaml' --lease-namespace ops"},
		{none, false, "evenkeel crds | kubectl apply -f -", "evenkeel crds | kubectl apply -f - --kubeconfig k"},
		{none, false, "evenkeel apply plan.yaml", "evenkeel apply plan.yaml --kubeconfig k --config builtin --lease-namespace default"},
	} {
		r := repeatedIn(t, c.args...)
		if slices.Equal(c.args, none) {
			r.withoutRelease()
		}
		if got := r.addTo(c.command, c.snapshot); got != c.want {
			t.Errorf("%v: %s\nbecomes %s\nwant    %s", c.args, c.command, got, c.want)
		}
	}
}

// TestASinglePassAdvisesToInstallTheKinds checks that the advice of a dry run works in a cluster without a release.
func TestASinglePassAdvisesToInstallTheKinds(t *testing.T) {
	isolateFromCluster(t)
	r := badInput{server: &serverFault{paths: map[string]http.HandlerFunc{rebalancerPath: respondText(404, "text/plain", "404 page not found")}}}
	dir := r.prepare(t)
	r.serve(t, dir)
	got := invoke(t, connectTimeout, argsInDir(dir, "run --once --kubeconfig kubeconfig.yaml"), "")
	for _, want := range []string{"evenkeel crds | kubectl apply --server-side -f - --kubeconfig ", " --lease-namespace default --config builtin > plan.yaml\n"} {
		if got.exit != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("exit %d, want %q in %s%s", got.exit, want, got.stdout, got.stderr)
		}
	}
}
