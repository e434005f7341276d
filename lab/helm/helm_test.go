package helm_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const chart = "../../charts/evenkeel"

// imageArgs is the one value that the chart requires.
var imageArgs = []string{"--set", "image.repository=registry.example.org/team/evenkeel"}

var (
	update     = flag.Bool("update", false, "rewrite the golden files")
	helmBinary string
)

// TestMain finds helm: The helm binary: the path in EVENKEEL_HELM, or else the tool that this module pins. Go builds
// helm once, which takes some minutes, and caches it.
func TestMain(m *testing.M) {
	flag.Parse()
	helmBinary = os.Getenv("EVENKEEL_HELM")
	if helmBinary == "" {
		out, err := exec.Command("go", "tool", "-n", "helm").Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, "building helm:", err)
			os.Exit(1)
		}
		helmBinary = strings.TrimSpace(string(out))
	}
	os.Exit(m.Run())
}

// runHelm runs helm with an empty user configuration.
func runHelm(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runProgram(t, helmBinary, args...)
}

func runProgram(t *testing.T, program string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// renderChart returns the manifests of the chart for the arguments, without the CustomResourceDefinitions unless the
// arguments ask for them. It fails the test if helm fails.
func renderChart(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart, "--namespace", "ek-system", "--set", "crds.install=false"},
		imageArgs, args)...)
	if err != nil {
		t.Fatalf("helm template %v: %v\n%s", args, err, errs)
	}
	return out
}

type manifest = map[string]any

// parseObjects parses manifests and returns those of one kind, without those of hooks.
func parseObjects(t *testing.T, manifests, kind string) []manifest {
	t.Helper()
	var found []manifest
	for _, doc := range strings.Split(manifests, "\n---\n") {
		var o manifest
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if o["kind"] == kind && !isHook(o) {
			found = append(found, o)
		}
	}
	return found
}

// valueAt returns the value at a path of field names and list indexes.
func valueAt(t *testing.T, v any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			v = v.(manifest)[step]
		case int:
			v = v.([]any)[step]
		}
		if v == nil {
			t.Fatalf("no value at path %v", path[:i+1])
		}
	}
	return v
}
