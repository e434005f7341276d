package helm_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// allObjects parses manifests and returns all objects.
func allObjects(t *testing.T, manifests string) (found []manifest) {
	t.Helper()
	for _, doc := range strings.Split(manifests, "\n---\n") {
		var o manifest
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if o != nil {
			found = append(found, o)
		}
	}
	return found
}

// everyObject has the values that make the chart render all its objects, for both kinds.
func everyObject(kind string) []string {
	return []string{"--set", "kind=" + kind + ",flowSchema.enabled=true,config.dryRun=false,config.evictor.steer=taint",
		"--set", fmt.Sprintf("service.enabled=%t", kind == "Deployment")} // jobs serve nothing
}

// TestCommonMetadata checks that every object and every pod has the common labels and annotations, the namespace of
// namespaceOverride and the names of nameOverride, and that no object loses the labels that identify the release.
func TestCommonMetadata(t *testing.T) {
	const values = "commonLabels.team=a,commonAnnotations.owner=b,namespaceOverride=other,nameOverride=keel," +
		"commonLabels.app\\.kubernetes\\.io/part-of=platform"
	for _, kind := range []string{"Deployment", "CronJob"} {
		out := renderChart(t, append(everyObject(kind), "--set", values)...)
		objects := allObjects(t, out)
		for _, pod := range podTemplates(t, out) {
			pod["kind"] = "pod template"
			objects = append(objects, pod)
		}
		for _, o := range objects {
			m := valueAt(t, o, "metadata").(manifest)
			labels, annotations := fmt.Sprint(m["labels"]), fmt.Sprint(m["annotations"])
			for _, want := range []string{"team:a", "app.kubernetes.io/part-of:platform", "app.kubernetes.io/name:evenkeel",
				"app.kubernetes.io/instance:ek"} {
				if !strings.Contains(labels, want) {
					t.Errorf("%s %s: labels %s without %s", kind, o["kind"], labels, want)
				}
			}
			if !strings.Contains(annotations, "owner:b") {
				t.Errorf("%s %s: annotations %s", kind, o["kind"], annotations)
			}
			if ns, has := m["namespace"]; has && ns != "other" {
				t.Errorf("%s %s: namespace %v", kind, o["kind"], ns)
			}
			if name, has := m["name"].(string); has && !strings.HasPrefix(strings.TrimPrefix(name, "other-"), "ek-keel") {
				t.Errorf("%s %s: name %s", kind, o["kind"], name)
			}
		}
		if strings.Contains(out, "ek-system") {
			t.Errorf("%s: with namespaceOverride, the manifests still name the release's namespace:\n%s", kind, out)
		}
	}
}

// TestOwnMetadata checks that the annotations of a value go to its objects, and win over common ones.
func TestOwnMetadata(t *testing.T) {
	for section, kinds := range map[string][]string{
		"workloadAnnotations":        {"Deployment", "CronJob"},
		"serviceAccount.annotations": {"ServiceAccount"},
		"service.annotations":        {"Service"},
	} {
		own := fmt.Sprintf("commonAnnotations.team=a,%s.team=b", section)
		seen := map[string]bool{}
		for _, kind := range []string{"Deployment", "CronJob"} {
			for _, o := range allObjects(t, renderChart(t, append(everyObject(kind), "--set", own)...)) {
				if isHook(o) {
					continue // it exists only while the hook runs
				}
				want, name := "a", o["kind"].(string)
				for _, k := range kinds {
					if k == name {
						want, seen[k] = "b", true
					}
				}
				if got := valueAt(t, o, "metadata", "annotations", "team"); got != want {
					t.Errorf("%s: %s has annotation %v, want %s", section, name, got, want)
				}
			}
		}
		if len(seen) != len(kinds) {
			t.Errorf("%s: found only objects of kinds %v", section, seen)
		}
	}
}
