package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// exception is a block of a page that TestPages does not run as it stands.
type exception struct {
	page, begins string
	// skip says why the block is not run. Otherwise the test runs it again until its output has the text until, or runs
	// its first line in the background, waits for the output ready, runs the other lines, and ends the first. Or the
	// block must fail with the error fails. The test runs the commands before and after with the block.
	skip, until, ready, fails, before, after string
}

var exceptions = []exception{
	{page: "SECURITY.md", begins: "cosign verify", skip: "the machine has no cosign; TestRelease verifies the signatures"},
	{page: "docs/contributing/lab.md", begins: "make lab", skip: "each `bin/lab up` runs until Ctrl-C; startLab runs one"},
	{page: "docs/contributing/lab.md", begins: "kubectl port-forward", ready: "Forwarding from"},
	{page: "docs/tasks.md", begins: `evenkeel logs | grep "configuration changed"`, until: "configuration changed"},
	{page: "docs/tasks.md", begins: "evenkeel trigger zones", until: "To approve: evenkeel approve"},
	{page: "docs/tasks.md", begins: "evenkeel ui", ready: "http://"},
	{page: "docs/upgrade.md", begins: "evenkeel config convert old.yaml", before: remove + installFormer, after: upgradeFormer + setUp},
	{page: "docs/reference/impact.md", begins: "evenkeel impact --fail-on-category", fails: "exit status 2"},
	{page: "docs/reference/schedules.md", begins: "evenkeel trigger zones", until: "runs strategy zones now"},
	{page: "docs/runbooks/EvenkeelPassesStopped.md", begins: "evenkeel status", until: "pass ended"},
}

// makeTargets has the test that covers a target of the Makefile. The test does not run lines with make: most of them
// compile for minutes, and some push to a registry.
var makeTargets = map[string]string{
	"build": "`make test-guides` makes it", "lab": "`make test-guides` makes it", "demo": "`make docs-pictures` runs it", "test": "CI runs it", "release": "TestRelease",
	"image": "TestRelease", "manifests": "TestInstallManifest", "sign": "TestRelease",
}

// setUp makes the cluster of getting started uneven, and installs the release that its step 3 leads to.
// What it deletes first belongs to no release.
const setUp = `helm status evenkeel --namespace evenkeel >/dev/null 2>&1 || evenkeel crds | kubectl delete --ignore-not-found --filename -
kubectl create namespace shop --dry-run=client --output yaml | kubectl apply --filename -
kubectl cordon --selector topology.kubernetes.io/zone=zone-1
kubectl delete deployment web --namespace shop --ignore-not-found
kubectl wait pods --namespace shop --all --for delete --timeout 2m
kubectl create deployment web --namespace shop --image=registry.example.org/web --replicas=6
kubectl rollout status deployment/web --namespace shop
kubectl uncordon --selector topology.kubernetes.io/zone=zone-1
helm upgrade --install evenkeel charts/evenkeel --namespace evenkeel --create-namespace --wait --reset-values --values set-up.yaml
`

// remove uninstalls the release, for pages that install it.
const remove = `helm uninstall evenkeel --namespace evenkeel --ignore-not-found --wait
kubectl delete namespace evenkeel --ignore-not-found
`

// installFormer installs a release of the former chart, and upgradeFormer upgrades it with the values that the page
// has converted.
const (
	installFormer = `helm install evenkeel former.tgz --namespace evenkeel --create-namespace --values former.yaml --wait
`
	upgradeFormer = `helm upgrade evenkeel charts/evenkeel --namespace evenkeel --reset-values --values values.yaml --wait
`
)

// formerValues are the values of the former release. The lab does not execute the image, but reports its pods as Ready.
const formerValues = `image: {repository: registry.example.org/team/former}
config:
  dryRun: false
  namespaces: {include: [shop]}
  strategies:
  - {name: zones, type: ZoneSpread, schedule: "0 * * * *"}
`

// setUpValues are the values of the release.
const setUpValues = `image: {repository: lab/evenkeel}
config:
  dryRun: false
  namespaces: {include: [shop]}
  guards: {minPodAge: 0s}
  limits: {perNamespace: unlimited}
  strategies:
    zones: {mode: approve}
`

// oldList is a configuration from before strategies were a map.
const oldList = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
- {name: zones, type: ZoneSpread, schedule: "0 * * * *"}
`

// TestPages runs the sh blocks of all pages but those that other tests follow. Each page is a subtest and begins with
// the same cluster and release.
func TestPages(t *testing.T) {
	s := newShell(t, startLab(t), nil)
	s.env = append(s.env, "IMAGE=lab/evenkeel")
	s.files(t)
	used, blocks, changed := make([]bool, len(exceptions)), 0, true
	for _, page := range pages(t) {
		all := readBlocks(t, "../../"+page)
		all = slices.DeleteFunc(all, func(b block) bool { return b.language != "sh" })
		if len(all) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			if changed {
				s.run(t, setUp)
			}
			if installs.MatchString(joined(all)) {
				s.run(t, remove)
			}
			changed = changes.MatchString(joined(all))
			must.Succeed(t, os.WriteFile(filepath.Join(s.dir, "config.yaml"), must.Get(os.ReadFile("../../config.yaml"))(t), 0o600))
			for _, b := range all {
				i := slices.IndexFunc(exceptions, func(e exception) bool { return e.page == page && strings.HasPrefix(b.text, e.begins) })
				if i < 0 {
					blocks += s.block(t, b.text, exception{})
					continue
				}
				used[i] = true
				blocks += s.block(t, b.text, exceptions[i])
			}
		})
	}
	t.Logf("%d blocks ran", blocks)
	for i, e := range exceptions {
		t.Logf("exception: %s: %s: not run: %q, again until: %q, ended after: %q, fails: %q, before: %q, after: %q",
			e.page, e.begins, e.skip, e.until, e.ready, e.fails, e.before, e.after)
		if !used[i] {
			t.Errorf("%s has no block that begins with %q", e.page, e.begins)
		}
	}
}

var (
	// installs finds pages that begin without a release, and changes those after which the cluster is set up again.
	installs = regexp.MustCompile(`(?m)^(helm install|kubectl apply -f bin/manifests)`)
	changes  = regexp.MustCompile(`(?m)^(helm|kubectl apply -f|evenkeel (apply|approve PLAN))`)
	makeLine = regexp.MustCompile(`(?m)^make (\S+).*\n`)
)

// placeholders has the commands that print what a word stands for.
var placeholders = map[string]string{
	"FILE":     "echo config.yaml",
	"NAME":     "evenkeel crds | kubectl apply --server-side -f - >/dev/null; echo rebalancers.evenkeel.io",
	"NODE":     "kubectl get nodes --output jsonpath='{.items[0].metadata.name}'",
	"PLAN":     "evenkeel approve 2>&1 | sed -n 's/^.*To approve: evenkeel approve \\([^ ]*\\).*/\\1/p'",
	"POD":      "kubectl get pods --namespace shop --output jsonpath='{.items[0].metadata.name}'",
	"REVISION": "helm history evenkeel --namespace evenkeel | tail -n 2 | head -n 1 | cut -f 1", // the one before the last
	"USER":     "kubectl auth whoami --output jsonpath='{.status.userInfo.username}'",
}

// block runs a block, and returns 1 if it did.
func (s *shell) block(t *testing.T, text string, e exception) int {
	t.Helper()
	for _, m := range makeLine.FindAllStringSubmatch(text, -1) {
		if makeTargets[m[1]] == "" {
			t.Errorf("the test has no entry for make %s", m[1])
		}
		t.Logf("not run: %s(%s)", m[0], makeTargets[m[1]])
	}
	if text = makeLine.ReplaceAllString(text, ""); text == "" || e.skip != "" {
		return 0
	}
	for word, command := range placeholders {
		if re := regexp.MustCompile(`(^|[^\w$])` + word + `\b`); re.MatchString(text) {
			value, err := s.try(t, command)
			if err != nil || strings.TrimSpace(value) == "" {
				t.Fatalf("no value for %s: %v", word, err)
			}
			text = re.ReplaceAllString(text, "${1}"+strings.TrimSpace(value))
		}
	}
	if e.before != "" {
		s.run(t, e.before)
	}
	switch first, rest, _ := strings.Cut(text, "\n"); {
	case e.until != "":
		s.retry(t, text, e.until)
	case e.ready != "":
		first, _, _ = strings.Cut(first, "#")
		s.run(t, first+" > background.log 2>&1 &\ntrap \"kill $!; wait\" EXIT\nuntil grep '"+e.ready+"' background.log; do kill -0 $!; sleep 0.2; done\n"+rest)
	default:
		_, err := s.try(t, text)
		if failed := err != nil; failed != (e.fails != "") || failed && !strings.Contains(err.Error(), e.fails) {
			t.Errorf("%v, want %q", err, e.fails) // the other blocks run all the same
		}
	}
	if e.after != "" {
		s.run(t, e.after)
	}
	return 1
}

// files writes what the pages suppose to be in the folder of the shell.
func (s *shell) files(t *testing.T) {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	must.Succeed(t, os.MkdirAll(filepath.Join(s.dir, "bin/manifests"), 0o755))
	must.Succeed(t, os.Symlink(filepath.Join(root, "examples"), filepath.Join(s.dir, "examples")))
	must.Succeed(t, os.Symlink(filepath.Join(root, "lab/charttest/testdata/evenkeel-0.1.0.tgz"), filepath.Join(s.dir, "former.tgz")))
	must.Succeed(t, os.Symlink(absolute(t, testbed.Evenkeel), filepath.Join(s.dir, "bin/evenkeel")))
	install := string(must.Get(os.ReadFile("../../deploy/install.yaml"))(t))
	for name, text := range map[string]string{
		"set-up.yaml": setUpValues, "values.yaml": setUpValues, "old.yaml": oldList, "former.yaml": formerValues,
		"bin/manifests/install.yaml": regexp.MustCompile(`registry\.example\.invalid/evenkeel[^"]*`).ReplaceAllString(install, "lab/evenkeel"),
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
}

// pages returns the pages whose commands no other test of this package runs.
func pages(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range strings.Fields("*.md charts/evenkeel/*.md deploy/*.md docs/*.md docs/contributing/*.md docs/reference/*.md docs/runbooks/*.md") {
		for _, path := range must.Get(filepath.Glob("../../" + pattern))(t) {
			if path != page && path != startedPage {
				out = append(out, strings.TrimPrefix(path, "../../"))
			}
		}
	}
	return out
}

func joined(blocks []block) string {
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.text)
	}
	return all.String()
}
