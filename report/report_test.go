package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"sigs.k8s.io/yaml"
)

func compareWithGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Equal(t, filepath.Join("testdata", name), []byte(got))
}

// written returns what a function of package report, such as report.Plan, writes.
func written[D any](t *testing.T, write func(io.Writer, report.Format, D, ...report.Options) error, f report.Format, doc D, opts ...report.Options) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, write(&b, f, doc, opts...))
	return b.String()
}

func samplePlans() map[string]plan.Plan {
	return map[string]plan.Plan{"three-zones": threeZonesPlan(), "nothing-to-do": nothingToDoPlan(), "blocked": blockedByBudgetPlan(), "hot-nodes": hotNodesPlan(),
		"hostile": hostileNamesPlan(), "proposals": proposalsPlan(), "steering-hints": steeringHintsPlan(), "untrusted-schedulers": untrustedSchedulersPlan(),
		"evictions-blocked": evictionsBlockedPlan(), "other-deschedulers": otherDeschedulersPlan(),
		"pressure-hints": pressureHintsPlan(), "nothing-judged": nothingJudgedPlan()}
}

func TestPlanGolden(t *testing.T) {
	for name, p := range samplePlans() {
		for _, f := range []report.Format{report.Table, report.Wide} {
			compareWithGolden(t, name+"."+string(f), written(t, report.Plan, f, p))
		}
	}
	for _, f := range []report.Format{report.JSON, report.YAML} {
		compareWithGolden(t, "three-zones."+string(f), written(t, report.Plan, f, threeZonesPlan()))
	}
}

func TestRunGolden(t *testing.T) {
	for name, r := range map[string]plan.RunReport{"run-live": liveRun(), "run-dry": dryRun(), "run-refused": refusedRun(),
		"run-recovered": recoveredRun(), "run-nothing-to-do": newRun(plan.Live, nothingToDoPlan()), "run-without-evictions": runWithoutEvictions(),
		"run-plan-refused": refusedPlanRun(), "run-nothing-judged": newRun(plan.Live, nothingJudgedPlan())} {
		compareWithGolden(t, name+".table", written(t, report.Run, report.Table, r))
	}
}

// TestPlansEscapeControlCharacters checks that no format writes the control characters in names.
func TestPlansEscapeControlCharacters(t *testing.T) {
	p := hostileNamesPlan()
	p.ConfigHash = "\U000e0001\u2028\x7f" // a tag character: two units in JSON
	for _, f := range report.Formats() {
		text := written(t, report.Plan, f, p)
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%s: the output has %U", f, r)
			}
		}
	}
}

func TestColors(t *testing.T) {
	var plainText, coloured bytes.Buffer
	must.Succeed(t, report.Plan(&plainText, report.Table, threeZonesPlan()))
	must.Succeed(t, report.Plan(&coloured, report.Table, threeZonesPlan(), report.Options{Color: true}))
	if strings.Contains(plainText.String(), "\x1b") || !strings.HasPrefix(coloured.String(), "\x1b[1;32m▲ Deployment") {
		t.Errorf("colours: plain %q, coloured %q", plainText.String()[:20], coloured.String()[:20])
	}
	stripped := strings.NewReplacer("\x1b[1m", "", "\x1b[1;32m", "", "\x1b[0m", "").Replace(coloured.String())
	if stripped != plainText.String() {
		t.Error("the coloured output differs in more than colours")
	}
}

// TestYAMLEqualsJSON checks that YAML and JSON encode the same document, for every plan.
func TestYAMLEqualsJSON(t *testing.T) {
	for name, p := range samplePlans() {
		if name == "hostile" {
			p.Moves[0].Reason.Message = strings.ToValidUTF8(p.Moves[0].Reason.Message, "?")
		}
		p.ConfigHash = "1e5\U000e0001\x7f\u009b"
		p.Cluster.UID = "no"
		p.Inputs = append(p.Inputs, plan.Input{Source: "- a: b # c"}, plan.Input{Source: ""}, plan.Input{Source: "0x1f"},
			plan.Input{Source: "2026-01-01"})
		var y, j bytes.Buffer
		must.Succeed(t, report.Plan(&y, report.YAML, p))
		must.Succeed(t, report.Plan(&j, report.JSON, p))
		var fromYAML, fromJSON any
		if err := yaml.UnmarshalStrict(y.Bytes(), &fromYAML); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, y.String())
		}
		must.Succeed(t, json.Unmarshal(j.Bytes(), &fromJSON))
		if !reflect.DeepEqual(fromYAML, fromJSON) {
			t.Errorf("%s: the documents differ\n%s\n%s", name, y.String(), j.String())
		}
	}
}

func TestJSONOfRunIsOneLine(t *testing.T) {
	var b bytes.Buffer
	must.Succeed(t, report.Run(&b, report.JSON, liveRun()))
	if n := strings.Count(b.String(), "\n"); n != 1 || !strings.HasSuffix(b.String(), "\n") {
		t.Errorf("%d newlines, want 1 at the end", n)
	}
	var back v1alpha1.RebalancePlan
	must.Succeed(t, yaml.UnmarshalStrict(b.Bytes(), &back))
	if st := back.Status; len(st.Steps) != 3 || st.Steps[0].Replacement.UID != "u-y1" || st.Stopped.Code != string(plan.Interrupted) || st.Evicted != 2 {
		t.Errorf("outcomes are missing: %+v", st)
	}
	if strings.Contains(b.String(), "null") {
		t.Errorf("null in %s", b.String())
	}
}

// TestDocumentsAreObjects: the documents of every plan and pass are objects that the API server accepts, without a
// float. Parts in several modes are a List.
func TestDocumentsAreObjects(t *testing.T) {
	schema := objectstest.Schema(t, "RebalancePlan")
	check := func(name, text string, n int) {
		t.Helper()
		var list struct {
			APIVersion, Kind string
			Items            []v1alpha1.RebalancePlan
		}
		must.Succeed(t, json.Unmarshal([]byte(text), &list))
		if list.Kind != "List" || list.APIVersion != "v1" {
			list.Items = make([]v1alpha1.RebalancePlan, 1)
			must.Succeed(t, yaml.UnmarshalStrict([]byte(text), &list.Items[0]))
		}
		if len(list.Items) != n {
			t.Errorf("%s: %d plans, want %d", name, len(list.Items), n)
		}
		for _, o := range list.Items {
			if err := objectstest.Validate(schema, o); err != nil || o.Name == "" || o.Namespace != "ops" {
				t.Errorf("%s: %s/%s: %v", name, o.Namespace, o.Name, err)
			}
		}
		if float := regexp.MustCompile(`: -?[0-9]+[.e]`).FindString(text); float != "" {
			t.Errorf("%s: a float: %s", name, float)
		}
	}
	in := report.Options{Namespace: "ops"}
	for name, p := range samplePlans() {
		withMoves := 0
		for _, of := range append([]plan.Proposal{{Plan: p}}, p.Proposals...) {
			if len(of.Plan.Moves) > 0 {
				withMoves++
			}
		}
		check(name, written(t, report.Plan, report.JSON, p, in), max(1, withMoves))
		r := liveRun()
		r.Plan = p
		check(name+" run", written(t, report.Run, report.JSON, r, in), 1+len(p.Proposals))
	}
	refused := refusedRun()
	refused.Plan = plan.Plan{}
	check("without a plan", written(t, report.Run, report.JSON, refused, in), 1)
	again := liveRun()
	again.Replan = &again.Plan
	check("replanned", written(t, report.Run, report.JSON, again, in), 2)
}

// TestEachRunIsAYAMLDocument checks that each run starts a new YAML document.
func TestEachRunIsAYAMLDocument(t *testing.T) {
	var b bytes.Buffer
	for range 2 {
		must.Succeed(t, report.Run(&b, report.YAML, liveRun()))
	}
	docs := strings.Split(b.String(), "---\n")
	if len(docs) != 3 {
		t.Fatalf("%d documents, want 2", len(docs)-1)
	}
	var o v1alpha1.RebalancePlan
	if err := yaml.UnmarshalStrict([]byte(docs[2]), &o); err != nil || o.Status.RunID != "r-1" || len(o.Status.Steps) != 3 {
		t.Errorf("%v: %+v", err, o.Status)
	}
}

// TestRenderingDoesNotChangeThePlan checks that rendering does not change the plan.
func TestRenderingDoesNotChangeThePlan(t *testing.T) {
	p, want := blockedByBudgetPlan(), blockedByBudgetPlan()
	p.Moves, want.Moves = make([]plan.Move, 1), make([]plan.Move, 1)
	for _, f := range report.Formats() {
		written(t, report.Plan, f, p)
	}
	if !reflect.DeepEqual(p, want) {
		t.Error("rendering changed the plan")
	}
}

type brokenWriter struct{}

var errBroken = errors.New("pipe closed")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestErrors(t *testing.T) {
	for _, f := range report.Formats() {
		if err := report.Plan(brokenWriter{}, f, nothingToDoPlan()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", f, err)
		}
	}
	want := `"xml" is not an output format (want one of table, wide, json, yaml, html, markdown)`
	if err := report.Plan(&bytes.Buffer{}, "xml", nothingToDoPlan()); err == nil || err.Error() != want {
		t.Errorf("unknown format: %v", err)
	}
	if err := report.Run(&bytes.Buffer{}, "xml", liveRun()); err == nil || err.Error() != want {
		t.Errorf("unknown format: %v", err)
	}
	if f, err := report.ParseFormat("wide"); f != report.Wide || err != nil {
		t.Errorf("wide: %v, %v", f, err)
	}
}

// TestRunShowsTheApprover checks that the report names the approver and escapes control characters in the name.
func TestRunShowsTheApprover(t *testing.T) {
	r := liveRun()
	r.Approval = &plan.Approval{By: "alice\x1b[2J", At: r.Started}
	text := written(t, report.Run, report.Table, r)
	want := "\nApproved by alice"
	if !strings.Contains(text, want) || strings.Contains(text, "\x1b") {
		t.Errorf("want %q and no control character:\n%s", want, text)
	}
}

// TestARunThatHasNotEnded has no duration.
func TestARunThatHasNotEnded(t *testing.T) {
	r := liveRun()
	r.Finished = time.Time{}
	if text := written(t, report.Run, report.Table, r); !strings.Contains(text, ", not ended.") || strings.Contains(text, "took") {
		t.Errorf("want a run that has not ended:\n%s", text)
	}
}
