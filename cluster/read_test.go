package cluster_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const exampleFile = "../examples/three-zones.yaml"

func readText(t *testing.T, text string) (*cluster.Objects, error) {
	t.Helper()
	o := &cluster.Objects{}
	return o, cluster.Read(strings.NewReader(text), "in.yaml", o)
}

func TestWhatIsWrittenReadsBackEqual(t *testing.T) {
	want := must.Get(cluster.ReadFiles([]string{exampleFile}, nil))(t)
	for _, f := range []cluster.Format{cluster.JSON, cluster.YAML} {
		var b bytes.Buffer
		must.Succeed(t, cluster.Write(&b, want, f))
		first := b.String()
		got := &cluster.Objects{}
		must.Succeed(t, cluster.Read(&b, "copy", got))
		if len(got.Pods) != 13 || len(got.Nodes) != 3 {
			t.Fatalf("%s: %d pods, %d nodes", f, len(got.Pods), len(got.Nodes))
		}
		var again bytes.Buffer
		must.Succeed(t, cluster.Write(&again, got, f))
		if d := cmp.Diff(first, again.String()); d != "" {
			t.Errorf("%s: written, read and written again differs:\n%s", f, d)
		}
	}
}

func TestReadsDirectoriesGzipAndStandardInput(t *testing.T) {
	dir := t.TempDir()
	text := must.Get(os.ReadFile(exampleFile))(t)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(text)
	w.Close()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "snapshot.yaml.gz"), z.Bytes(), 0o600))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, ".hidden.yaml"), []byte("broken: ["), 0o600))
	o := must.Get(cluster.ReadFiles([]string{dir, "-"},
		strings.NewReader("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"extra\"}}")))(t)
	if len(o.Nodes) != 4 {
		t.Fatalf("%d nodes, want 4", len(o.Nodes))
	}
}

func TestReadForms(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		nodes int
	}{
		"multi-document YAML":           {"---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n", 2},
		"concatenated JSON":             {`{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}{"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}`, 2},
		"typed list without item kinds": {`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, 1},
		"empty typed list":              {`{"kind":"NodeList","apiVersion":"v1"}`, 0},
		"null items":                    {`{"kind":"List","apiVersion":"v1","items":null}`, 0},
		"list in a list":                {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Node, metadata: {name: a}}\n", 1},
		"nothing":                       {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := must.Get(readText(t, c.text))(t)
			if len(o.Nodes) != c.nodes {
				t.Errorf("%d nodes, want %d", len(o.Nodes), c.nodes)
			}
		})
	}
}

func TestUnknownKindsAreSkippedAndCounted(t *testing.T) {
	o := must.Get(readText(t, "apiVersion: example.com/v1\nkind: Thing\n---\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\n---\napiVersion: example.com/v1\nkind: Thing\n"))(t)
	want := map[string]int{"example.com/v1 Thing": 2, "policy/v1beta1 PodDisruptionBudget": 1}
	if d := cmp.Diff(want, o.Skipped); d != "" {
		t.Error(d)
	}
}

func TestReadErrorsNameFileAndDocument(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"broken YAML":   {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\na: [\n", "in.yaml, document 2:"},
		"duplicate key": {"apiVersion: v1\nkind: Node\nkind: Pod\n", "in.yaml, document 1:"},
		"wrong type":    {"apiVersion: v1\nkind: Pod\nspec: {containers: 7}\n", "in.yaml, document 1: reading Pod:"},
		"broken item":   {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},{"apiVersion":"v1","kind":"Node","spec":7}]}`, "in.yaml, document 1, item 2: reading Node:"},
		"cut JSON":      {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1"`, "is truncated"},
		"not an object": {"- a\n- b\n", "want an object"},
		"no kind":       {"metadata: {name: a}\n", "apiVersion or kind is missing"},
		"bad time": {"apiVersion: v1\nkind: List\nmetadata: {annotations: {evenkeel.io/taken-at: yesterday}}\nitems: []\n",
			"is not a time"},
		"JSON field twice":  {`{"apiVersion":"v1","kind":"Node","kind":"Pod"}`, `field "kind" occurs twice`},
		"items not a list":  {`{"apiVersion":"v1","kind":"List","items":{}}`, "want a list"},
		"kind not a string": {`{"apiVersion":"v1","kind":7}`, `field "kind"`},
		"no name":           {"apiVersion: v1\nkind: Node\n", "reading Node: metadata.name is missing"},
		"no namespace":      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "reading Pod a: metadata.namespace is missing"},
		"negative amount": {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: -1}}\n",
			"reading Node a: status.allocatable.cpu: -1 is negative"},
		"no amount": {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: one}}\n",
			`reading Node a: status.allocatable.cpu: "one" is not a quantity`},
		"no time": {"apiVersion: v1\nkind: Node\nmetadata: {name: a, creationTimestamp: once}\n", `"once" is not a time`},
		"negative replicas": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\nspec: {replicas: -1}\n",
			"reading Deployment b/a: -1 replicas: the number is negative"},
		"Lists, 9 deep": {strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 10) + strings.Repeat("]}", 10),
			"Lists are nested more than 8 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readText(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "in.yaml") {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

const plannerStateJSON = `{"apiVersion":"evenkeel.io/v1alpha1","evictions":[{"count":1}],"kind":"PlannerState"}`

// TestReadKeepsPlannerState checks that a PlannerState of any version, or the reason why the
// PlannerState is missing, survives writing and reading.
func TestReadKeepsPlannerState(t *testing.T) {
	o := must.Get(readText(t, "apiVersion: v1\nkind: List\nmetadata: {annotations: {evenkeel.io/state-unknown: it is forbidden}}\nitems: [{apiVersion: v1, kind: Node, metadata: {name: a}}]\n---\n"+plannerStateJSON+"\n"))(t)
	for _, from := range []*cluster.Objects{o, cluster.Redact(o)} {
		for _, f := range []cluster.Format{cluster.JSON, cluster.YAML} {
			var b bytes.Buffer
			must.Succeed(t, cluster.Write(&b, from, f))
			again := must.Get(readText(t, b.String()))(t)
			if string(again.PlannerState) != plannerStateJSON || len(again.Nodes) != 1 || len(again.Skipped) != 0 ||
				again.PlannerStateError != "it is forbidden" {
				t.Errorf("%s: %d nodes, skipped %v, state error %q, state %s", f, len(again.Nodes), again.Skipped, again.PlannerStateError,
					again.PlannerState)
			}
		}
	}
	if _, err := readText(t, plannerStateJSON+"\n"+strings.ReplaceAll(plannerStateJSON, "v1alpha1", "v2")+"\n"); err == nil ||
		!strings.Contains(err.Error(), "in.yaml, document 2: second PlannerState") {
		t.Errorf("two states: %v", err)
	}
}

// TestEventsSurviveWritingAndRedaction checks that a plan from a file knows the same events, and
// that a redacted snapshot has none of their messages.
func TestEventsSurviveWritingAndRedaction(t *testing.T) {
	o := must.Get(readText(t, `
apiVersion: v1
kind: List
metadata: {annotations: {evenkeel.io/kinds-unread: '{"v1 Event": "they are forbidden"}'}}
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- apiVersion: v1
  kind: Event
  metadata: {namespace: shop, name: db.1, creationTimestamp: "2026-01-01T20:00:00Z"}
  reason: FailedCreate
  message: env PASSWORD=hunter2 is refused
  reportingComponent: statefulset-controller
  involvedObject: {kind: StatefulSet, namespace: shop, name: db, uid: db-uid}
  lastTimestamp: "2026-01-01T21:00:00Z"
  eventTime: "2026-01-01T21:30:00.000000Z"
  series: {count: 2, lastObservedTime: "2026-01-01T22:00:00.900000Z"}
`))(t)
	var b bytes.Buffer
	must.Succeed(t, cluster.Write(&b, cluster.Redact(o), cluster.JSON))
	if strings.Contains(b.String(), "hunter2") {
		t.Error("the redacted snapshot has the message of an event")
	}
	again := must.Get(readText(t, b.String()))(t)
	if len(again.Events) != 1 || again.Unread["v1 Event"] != "they are forbidden" {
		t.Fatalf("%d events, error %q", len(again.Events), again.Unread["v1 Event"])
	}
	e := again.Events[0]
	if at := cluster.LastObserved(e).UTC().Format(time.RFC3339); at != "2026-01-01T22:00:00Z" || e.Reason != cluster.FailedCreate ||
		e.InvolvedObject.UID != "db-uid" || e.InvolvedObject.Kind != "StatefulSet" {
		t.Errorf("last observed at %s, event %+v", at, e)
	}
}

// TestUnreadVersions: objects of a kind whose v1 is read may restrict evictions. They are known by namespace, also
// after writing and redaction.
func TestUnreadVersions(t *testing.T) {
	o := must.Get(readText(t, `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- {apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: all}}
- {apiVersion: storage.k8s.io/v1beta1, kind: CSIStorageCapacity, metadata: {namespace: csi, name: fast}}
- {apiVersion: scheduling.k8s.io/v1beta1, kind: PriorityClass, metadata: {name: high}}
- {apiVersion: example.com/v1beta1, kind: PodDisruptionBudget, metadata: {namespace: other, name: ours}}
- {apiVersion: events.k8s.io/v1, kind: Event, metadata: {namespace: other, name: said}}
- {apiVersion: metrics.k8s.io/v1alpha1, kind: NodeMetrics, metadata: {name: a}}
`))(t)
	var b bytes.Buffer
	must.Succeed(t, cluster.Write(&b, cluster.Redact(o), cluster.YAML))
	again := must.Get(readText(t, b.String()))(t)
	want := map[string]string{
		"shop": "PodDisruptionBudget all has the version policy/v1beta1, which is not read; add it as policy/v1",
		"csi":  "CSIStorageCapacity fast has the version storage.k8s.io/v1beta1, which is not read; add it as storage.k8s.io/v1",
		"":     "PriorityClass high has the version scheduling.k8s.io/v1beta1, which is not read; add it as scheduling.k8s.io/v1",
	}
	if d := cmp.Diff(want, again.UnreadVersions); d != "" {
		t.Error(d)
	}
}

func FuzzRead(f *testing.F) {
	text := must.Get(os.ReadFile(exampleFile))(f)
	f.Add(text)
	f.Add([]byte(`{"kind":"NodeList","apiVersion":"v1"}`))
	for _, s := range []string{
		"---\n---\na: b\n", "a: [b\nc", "a: &a [*a]\n", "kind: \x00\n", "\xff\xfek\x00", "\x1f\x8b", "- kind: Node\n", "7\n",
		`{"kind":"Node","kind":"Pod"}`,
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}},{"apiVersion":"v1","kin`,
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[null]}]}`,
		"apiVersion: v1\nkind: List\nmetadata: {annotations: {evenkeel.io/taken-at: yesterday, evenkeel.io/server-version: \"1.-37\"}}\nitems: []\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: -4, memory: 4Ei}}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: p}\nspec: {nodeName: n1, overhead: {cpu: 1}, containers: [{name: c, resources: {requests: {cpu: much}}}]}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {namespace: shop, name: d}\nspec: {minAvailable: 50%, selector: {matchExpressions: [{key: app, operator: Is, values: [d]}]}}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: shop, name: d}\nspec: {replicas: -1, selector: {}}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := &cluster.Objects{}
		if cluster.Read(bytes.NewReader(b), "fuzz", o) == nil {
			_, _ = cluster.New(o)
		}
	})
}

// TestAmountsThatNoMachineHasAreRead: an API server admits them, so a snapshot may have them. They count as the largest
// amount that a machine can have.
func TestAmountsThatNoMachineHasAreRead(t *testing.T) {
	for _, amount := range []string{"1E", "4Ei", "99999999999999999999999"} {
		o, err := readText(t, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: "+amount+
			"}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: p}\n"+
			"spec: {containers: [{name: c, resources: {requests: {cpu: "+amount+", memory: "+amount+"}}}]}\n")
		if err != nil {
			t.Errorf("%s: %v", amount, err)
			continue
		}
		s, err := cluster.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if r := s.Pods[0].Requests; r.MilliCPU <= 0 || r.MemoryBytes <= 0 || r.MilliCPU != s.Nodes[0].Allocatable.MilliCPU {
			t.Errorf("%s: the pod requests %+v, the node has %+v", amount, r, s.Nodes[0].Allocatable)
		}
	}
}
