package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// deployFolder holds the manifests for people who do not use Helm.
const deployFolder = "../../deploy"

// placeholder is the image in the manifests. A release replaces it; see deploy/README.md.
const placeholder = "registry.example.invalid/evenkeel"

const namespaceManifest = `apiVersion: v1
kind: Namespace
metadata:
  name: evenkeel
  labels:
    pod-security.kubernetes.io/enforce: restricted
`

// helmLabels are the labels that say that Helm manages an object, and the names of the templates.
var helmLabels = regexp.MustCompile(`(?m)^ *(app\.kubernetes\.io/managed-by: Helm|helm\.sh/chart: .*|# Source: .*)\n`)

// renderPlain renders the chart in namespace evenkeel as manifests that no Helm release manages.
func renderPlain(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"template", "evenkeel", chart, "--namespace", "evenkeel", "--no-hooks", "--set", "crds.keep=false,image.repository=" + placeholder}, args...)
	out, errs, err := runHelm(t, args...)
	if err != nil {
		t.Fatalf("helm %v: %v\n%s", args, err, errs)
	}
	return helmLabels.ReplaceAllString(out, "")
}

// TestDeployFolderIsMadeFromTheChart compares the manifests in deploy/ with the chart.
func TestDeployFolderIsMadeFromTheChart(t *testing.T) {
	header := "# Made from the chart by `make golden`. Do not edit.\n"
	dry, evict := renderPlain(t), renderPlain(t, "--set", "config.dryRun=false")
	for name, want := range map[string]string{
		"install.yaml":                   header + "---\n" + namespaceManifest + dry,
		"kustomize/base/namespace.yaml":  header + namespaceManifest,
		"kustomize/base/evenkeel.yaml":   header + dry,
		"kustomize/evict/namespace.yaml": header + namespaceManifest,
		"kustomize/evict/evenkeel.yaml":  header + evict,
	} {
		path := filepath.Join(deployFolder, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the chart renders (run: make golden):\n%s", name, diff)
		}
	}
}

// kustomize builds a folder as `kubectl apply -k` does.
func kustomize(t *testing.T, folder string) string {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", folder, err)
	}
	text, err := objects.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKustomizeDoesNotMovePolicies checks what deploy/README.md warns of: kustomize moves the account to another
// namespace, but not its name in the policies. It also checks that the chart, which the README names instead, changes
// both.
func TestKustomizeDoesNotMovePolicies(t *testing.T) {
	overlay := filepath.Join(t.TempDir(), "overlay")
	if err := os.CopyFS(filepath.Join(overlay, "evict"), os.DirFS(filepath.Join(deployFolder, "kustomize", "evict"))); err != nil {
		t.Fatal(err)
	}
	const text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: ops\nresources: [evict]\n"
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const before, after = "system:serviceaccount:evenkeel:evenkeel", "system:serviceaccount:ops:evenkeel"
	if built := kustomize(t, overlay); !strings.Contains(built, before) || strings.Contains(built, after) {
		t.Error("kustomize changes the account in the policies now, so deploy/README.md need not warn")
	}
	readme, err := os.ReadFile(filepath.Join(deployFolder, "README.md"))
	if err != nil || !strings.Contains(string(readme), "Do not set `namespace:` in a kustomization") {
		t.Errorf("deploy/README.md does not warn of another namespace: %v", err)
	}
	moved := renderPlain(t, "--set", "config.dryRun=false", "--namespace", "ops")
	if strings.Contains(moved, before) || !strings.Contains(moved, after) {
		t.Error("the chart renders policies for another account")
	}
}

// TestKustomizeFolders builds the folders, and an overlay with an image and a configuration of its own as
// deploy/README.md describes it.
func TestKustomizeFolders(t *testing.T) {
	for folder, mayEvict := range map[string]bool{"base": false, "evict": true} {
		text := kustomize(t, filepath.Join(deployFolder, "kustomize", folder))
		if got := strings.Contains(text, "pods/eviction"); got != mayEvict {
			t.Errorf("%s: it has a permission to evict: %v, want %v", folder, got, mayEvict)
		}
		for _, kind := range []string{"Namespace", "Deployment", "ConfigMap", "ClusterRole", "ServiceAccount"} {
			if len(parseObjects(t, text, kind)) == 0 {
				t.Errorf("%s has no %s", folder, kind)
			}
		}
	}
	overlay := filepath.Join(t.TempDir(), "overlay")
	if err := os.CopyFS(filepath.Join(overlay, "base"), os.DirFS(filepath.Join(deployFolder, "kustomize", "base"))); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(deployFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("deploy/README.md has no example of a kustomization")
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(overlay, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kustomization.yaml", example)
	write("config.yaml", "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ntimeZone: Europe/Berlin\n")
	text := kustomize(t, overlay)
	config := valueAt(t, parseObjects(t, text, "ConfigMap")[0], "data", "config.yaml").(string)
	if !strings.Contains(config, "Europe/Berlin") || strings.Contains(config, "strategies") {
		t.Errorf("the overlay has the configuration\n%s", config)
	}
	if strings.Contains(text, placeholder) || !strings.Contains(text, "image: registry.example.org/evenkeel@sha256:") {
		t.Error("the overlay does not replace the image")
	}
}
