package charttest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// gitopsValues are the values of an Application and of a HelmRelease. lab.evenkeel.io/fake keeps the pods from running.
func gitopsValues(config object) object {
	return object{"image": object{"repository": "registry.example.org/team/evenkeel"}, "crds": object{"keep": false},
		"cleanup": object{"enabled": false}, "podAnnotations": object{"lab.evenkeel.io/fake": "yes"}, "config": config}
}

// changes are the values of config of three releases. The last one is without a value of the one before.
func changes() []object {
	return []object{{}, {"dryRun": false, "strategies": object{"hot-nodes": object{"enabled": false}, "zones": object{"mode": "approve"}}},
		{"dryRun": false, "strategies": object{"zones": object{"schedule": "@daily"}}}}
}

// TestArgoCD does what Argo CD does with an Application, without Argo CD: it renders the chart with the arguments of
// Argo CD, applies the objects without hooks on the client's or on the server's side, and compares them. It finds no
// difference after it has applied them, one after a change of the values, and one after an edit by somebody else.
func TestArgoCD(t *testing.T) {
	ctx := t.Context()
	for namespace, apply := range map[string][]string{"ek-argo": nil,
		"ek-argo-server": {"--server-side", "--force-conflicts", "--field-manager", "argocd-controller"}} {
		r := newRelease("keel", namespace)
		createNamespace(ctx, t, namespace)
		file := filepath.Join(t.TempDir(), "manifests.yaml")
		t.Cleanup(func() { r.runKubectl(t, "delete", "--ignore-not-found", "-f", file) })
		for i, config := range changes() {
			rendered := r.runHelm(t, "template", chart, "--name-template", r.name, "--kube-version", "1.37.0", "--include-crds",
				"--values", valuesFile(t, gitopsValues(config)))
			must.Succeed(t, os.WriteFile(file, []byte(withoutHooks(rendered)), 0o600))
			if i > 0 && r.differences(t, file, apply...) == "" {
				t.Errorf("%s: no difference after change %d of the values", namespace, i)
			}
			r.applyWithoutDrift(t, file, apply...)
		}
		r.checkDriftAfterAnEdit(t, file, apply...)
		r.runKubectl(t, "delete", "--timeout", "5m", "-f", file)
		if left := r.remainingObjects(ctx, t); len(left) > 0 {
			t.Errorf("%s: deleting leaves %s", namespace, strings.Join(left, ", "))
		}
	}
}

// TestFlux does what Flux does with a HelmRelease, without Flux: each release has only the values of the HelmRelease,
// and its objects are compared and corrected with the API server's dry run.
func TestFlux(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-flux")
	createNamespace(ctx, t, r.namespace)
	t.Cleanup(func() { r.abandon(t, func() { r.runHelm(t, "uninstall", r.name, "--no-hooks", "--ignore-not-found") }) })
	apply := []string{"--server-side", "--force-conflicts", "--field-manager", "helm-controller"}
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	for _, config := range changes() {
		r.runHelm(t, "upgrade", "--install", r.name, chart, "--reset-values", "--values", valuesFile(t, gitopsValues(config)))
		must.Succeed(t, os.WriteFile(file, []byte(r.runHelm(t, "get", "manifest", r.name)), 0o600))
		if found := r.differences(t, file, apply...); found != "" {
			t.Errorf("the API server stores other objects than the release has with %v:\n%s", config, found)
		}
	}
	r.checkDriftAfterAnEdit(t, file, apply...)
	r.uninstall(ctx, t)
}

// checkDriftAfterAnEdit checks that an edit of the configuration is a difference, which applying the objects removes.
func (r release) checkDriftAfterAnEdit(t *testing.T, file string, apply ...string) {
	t.Helper()
	r.runKubectl(t, "patch", "configmap", r.fullname(), "--namespace", r.namespace, "--patch", `{"data": {"config.yaml": "dryRun: true\n"}}`)
	if r.differences(t, file, apply...) == "" {
		t.Error("an edit of the configuration is no difference")
	}
	r.applyWithoutDrift(t, file, apply...)
}

// applyWithoutDrift applies the objects of a file. Then there must be no difference.
func (r release) applyWithoutDrift(t *testing.T, file string, apply ...string) {
	t.Helper()
	r.runKubectl(t, append([]string{"apply", "-f", file}, apply...)...)
	if found := r.differences(t, file, apply...); found != "" {
		t.Errorf("with %v, the API server stores other objects than were applied:\n%s", apply, found)
	}
}

// differences returns how the objects of the API server differ from those of a file, as kubectl diff finds.
func (r release) differences(t *testing.T, file string, args ...string) string {
	t.Helper()
	cmd := r.kubectl(t, append([]string{"diff", "--namespace", r.namespace, "-f", file}, args...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err == nil {
		return ""
	}
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

func valuesFile(t *testing.T, values object) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	must.Succeed(t, os.WriteFile(file, must.Get(yaml.Marshal(values))(t), 0o600))
	return file
}

// withoutHooks returns the manifests that are no hooks.
func withoutHooks(manifests string) string {
	var kept []string
	for doc := range strings.SplitSeq(manifests, "\n---\n") {
		if !strings.Contains(doc, "helm.sh/hook:") {
			kept = append(kept, doc)
		}
	}
	return strings.Join(kept, "\n---\n")
}
