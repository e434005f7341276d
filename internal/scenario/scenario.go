// Package scenario reads the scenarios under planner/testdata/scenarios for tests.
//
// A scenario is a txtar file with a description, a configuration, a cluster and the expected plan.
// The README.md file in the scenarios folder describes the format.
package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// Scenario is the content of one scenario file.
type Scenario struct {
	// Name is the file's name without its extension.
	Name string
	// Prose describes the purpose of the scenario.
	Prose string
	// Config is the configuration, in YAML.
	Config []byte
	// Cluster is the cluster, in the format of README.md.
	Cluster []byte
	// Due lists the strategies that are due. Nil means all strategies.
	Due []string
	// Want is the expected plan as text.
	Want string

	file    string
	archive *txtar.Archive
}

// Dir returns the folder of the scenarios in the source tree.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../planner/testdata/scenarios")
}

// All returns all scenarios, sorted by file name. It fails the test if a file is not valid.
func All(t testing.TB) []*Scenario {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(Dir(), "*.txtar")))(t)
	var all []*Scenario
	for _, file := range files {
		all = append(all, Read(t, strings.TrimSuffix(filepath.Base(file), ".txtar")))
	}
	return all
}

// Read returns the scenario with this name. It fails the test if the file is not valid.
func Read(t testing.TB, name string) *Scenario {
	t.Helper()
	s := &Scenario{Name: name, file: filepath.Join(Dir(), name+".txtar")}
	var err error
	if s.archive, err = txtar.ParseFile(s.file); err != nil {
		t.Fatal(err)
	}
	s.Prose = strings.TrimSpace(string(s.archive.Comment))
	for _, f := range s.archive.Files {
		switch f.Name {
		case "config.yaml":
			s.Config = f.Data
		case "cluster.yaml":
			s.Cluster = f.Data
		case "due":
			s.Due = strings.Fields(string(f.Data))
		case "want.plan":
			s.Want = string(f.Data)
		default:
			t.Fatalf("%s: unknown section %q", s.file, f.Name)
		}
	}
	return s
}

// Objects builds the objects of the cluster. The changes are additional entries of the objects field,
// in YAML. Objects applies the changes after the entries of the file.
func (s *Scenario) Objects(t testing.TB, changes ...string) *cluster.Objects {
	t.Helper()
	list, err := expand(s.Cluster, changes)
	if err != nil {
		t.Fatalf("%s: %v", s.file, err)
	}
	o := &cluster.Objects{}
	must.Succeed(t, cluster.Read(bytes.NewReader(list), s.file, o))
	return o
}

// SetWant stores the plan as the expected plan in the file. Tests with -update call SetWant.
func (s *Scenario) SetWant(t testing.TB, plan string) {
	t.Helper()
	for i := range s.archive.Files {
		if f := &s.archive.Files[i]; f.Name == "want.plan" {
			f.Data = []byte(plan)
		}
	}
	golden.Write(t, s.file, txtar.Format(s.archive))
}

// defaultTime is the time of the snapshot if cluster.yaml has no takenAt.
const defaultTime = "2026-01-02T00:00:00Z"

// listedKinds are the kinds that do not exist in the cluster if cluster.yaml has no object of them. An object of any
// other kind may exist although cluster.yaml lacks it.
const listedKinds = "v1 LimitRange, v1 ServiceAccount, node.k8s.io/v1 RuntimeClass, scheduling.k8s.io/v1 PriorityClass"

// defaultAccounts returns the ServiceAccount that Kubernetes makes in every namespace, for the namespaces of pods.
func defaultAccounts(objects []map[string]any) (accounts []map[string]any) {
	seen := map[any]bool{}
	for _, o := range objects {
		if o["kind"] != "Pod" {
			continue
		}
		if ns := objectAt(o, "metadata")["namespace"]; !seen[ns] {
			seen[ns] = true
			accounts = append(accounts, map[string]any{"apiVersion": "v1", "kind": "ServiceAccount",
				"metadata": map[string]any{"namespace": ns, "name": "default"}})
		}
	}
	return accounts
}

// clusterFile is the content of cluster.yaml and of a base.
type clusterFile struct {
	// Base is the name of a file in the folder bases, without its extension.
	Base string `json:"base,omitempty"`
	// TakenAt is the time of the snapshot, in RFC 3339.
	TakenAt string `json:"takenAt,omitempty"`
	// ServerVersion is the API server's "major.minor".
	ServerVersion string `json:"serverVersion,omitempty"`
	// StoppedAt is the work after which the time for the plan ends.
	StoppedAt string `json:"stoppedAt,omitempty"`
	// Objects change objects of the base or add objects.
	Objects []map[string]any `json:"objects"`
}

// expand returns the objects of a cluster.yaml as a v1 List in JSON. It applies the
// changes, which are entries in YAML, after the entries of the file.
func expand(text []byte, changes []string) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("cluster.yaml: %w", err)
	}
	for _, change := range changes {
		var o map[string]any
		if err := yaml.UnmarshalStrict([]byte(change), &o); err != nil {
			return nil, fmt.Errorf("change %q: %w", change, err)
		}
		d.Objects = append(d.Objects, o)
	}
	objects, err := build(d.Objects)
	if err != nil {
		return nil, err
	}
	objects = append(objects, defaultAccounts(objects)...)
	annotations := map[string]string{"evenkeel.io/taken-at": d.TakenAt, "evenkeel.io/server-version": d.ServerVersion,
		"evenkeel.io/kinds-listed": listedKinds}
	if d.StoppedAt != "" {
		annotations["evenkeel.io/stopped-at"] = d.StoppedAt
	}
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"annotations": annotations}, "items": objects,
	})
}

// parse reads a cluster.yaml or a base. It puts the entries of the base first. It
// returns an error for unknown fields and for a base that does not exist.
func parse(text []byte) (*clusterFile, error) {
	d := &clusterFile{TakenAt: defaultTime, ServerVersion: "1.37"}
	if err := yaml.UnmarshalStrict(text, d); err != nil || d.Base == "" {
		return d, err
	}
	text, err := os.ReadFile(filepath.Join(Dir(), "bases", d.Base+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("base %s: %w", d.Base, err)
	}
	base, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("base %s: %w", d.Base, err)
	}
	d.Objects = append(base.Objects, d.Objects...)
	return d, nil
}
