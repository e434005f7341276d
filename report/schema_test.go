package report_test

import (
	"bytes"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan/schema"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestJSONFollowsTheSchema checks that the JSON output is valid, also for plans with nil lists and maps.
func TestJSONFollowsTheSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	for id, text := range map[string][]byte{schema.PlanID: schema.Plan, schema.RunReportID: schema.RunReport,
		schema.ComparisonID: schema.Comparison} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(id, doc); err != nil {
			t.Fatal(err)
		}
	}
	planSchema, runSchema := c.MustCompile(schema.PlanID), c.MustCompile(schema.RunReportID)
	valid := func(name string, s *jsonschema.Schema, text []byte) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range samplePlans() {
		var b, run1 bytes.Buffer
		if err := report.Plan(&b, report.JSON, p); err != nil {
			t.Fatal(err)
		}
		valid(name, planSchema, b.Bytes())
		r := liveRun()
		r.Plan = p
		if err := report.Run(&run1, report.JSON, r); err != nil {
			t.Fatal(err)
		}
		valid(name+" run", runSchema, run1.Bytes())
	}
	var run bytes.Buffer
	if err := report.Run(&run, report.JSON, waitingRun()); err != nil {
		t.Fatal(err)
	}
	valid("run with waiting plans", runSchema, run.Bytes())
	var compared bytes.Buffer
	if err := report.Comparison(&compared, report.JSON, sampleComparison()); err != nil {
		t.Fatal(err)
	}
	valid("comparison", c.MustCompile(schema.ComparisonID), compared.Bytes())
}
