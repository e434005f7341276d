package descheduler

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	convert "github.com/evenkeel-project/evenkeel/config/convert/descheduler"
)

// rejected are the published policies that are invalid, by the file and the number of the block in
// it, with a part of the converter's error. The descheduler rejects them, too.
var rejected = map[string]string{
	// Its lists of plugins contain "..." and "[...]", which stand for names.
	"README.md#2": "broken YAML: line 49",
	// The name stands for a PriorityClass, but has capitals, which no object can have.
	"README.md#20": `profile ProfileName: DefaultEvictor: priorityThreshold.name: "priorityClassName1" is not the name of a PriorityClass`,
	// The list of plugins contains objects instead of names.
	"pkg/framework/plugins/podlifetime/README.md#1": "profile default: plugins.deschedule.enabled[0]: want a word",
	"pkg/framework/plugins/podlifetime/README.md#2": "profile default: plugins.deschedule.enabled[0]: want a word",
}

// TestPublishedPolicies converts every policy that the descheduler publishes, and plans with it.
func TestPublishedPolicies(t *testing.T) {
	policies := publishedPolicies(t)
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			converted, err := convert.Convert([]byte(p.text), convert.Options{})
			if want, is := rejected[p.name]; is {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one that contains %q", err, want)
				}
				if _, err := loadPeerPolicy(t, p.text, fake.NewClientset()); err == nil {
					t.Error("the descheduler accepts the policy")
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, p.text)
			}
			c, err := config.Load("config.yaml", []byte(converted.Config))
			if err != nil {
				t.Fatalf("%v\n%s", err, converted.Config)
			}
			planOnExamples(t, c)
		})
	}
	if len(policies) != 34 {
		t.Errorf("%d policies, want the 34 of version 0.36.0", len(policies))
	}
}

// planOnExamples plans on each example cluster.
func planOnExamples(t *testing.T, c *config.Config) {
	files, err := filepath.Glob("../../examples/*-cluster.yaml")
	check(t, err)
	if len(files) < 4 {
		t.Fatalf("only %d example clusters", len(files))
	}
	for _, f := range files {
		o, err := cluster.ReadFiles([]string{f}, nil)
		check(t, err)
		if p := planPolicy(t, o, c); p.ID == "" {
			t.Errorf("no plan for %s", f)
		}
	}
}

// published is a policy of the descheduler's module.
type published struct{ name, text string }

// publishedPolicies returns the values of the chart, and the policies in the README, in the
// documentation and in the examples.
func publishedPolicies(t *testing.T) (out []published) {
	t.Helper()
	dir := peerDirectory(t)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		check(t, err)
		return string(text)
	}
	examples, err := os.ReadDir(filepath.Join(dir, "examples"))
	check(t, err)
	files := []string{"charts/descheduler/values.yaml", "kubernetes/base/configmap.yaml", "test/manifests/v1alpha2/configmap.yaml"}
	for _, e := range examples {
		files = append(files, "examples/"+e.Name())
	}
	for _, name := range files {
		out = append(out, published{name, read(name)})
	}
	for _, name := range []string{"README.md", "docs/user-guide.md", "pkg/framework/plugins/podlifetime/README.md"} {
		for i, block := range yamlBlock.FindAllStringSubmatch(read(name), -1) {
			if strings.Contains(block[1], "DeschedulerPolicy") {
				out = append(out, published{fmt.Sprintf("%s#%d", name, i+1), block[1]})
			}
		}
	}
	return out
}

var yamlBlock = regexp.MustCompile("(?sm)^```ya?ml\n(.*?)^```")

// peerDirectory returns the directory of the descheduler's module.
func peerDirectory(t *testing.T) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/descheduler").Output()
	check(t, err)
	return strings.TrimSpace(string(out))
}
