package report_test

import (
	"bytes"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan/schema"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestJSONFollowsTheSchema checks that the JSON output is valid, also for plans with nil lists and maps.
func TestJSONFollowsTheSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	for id, text := range map[string][]byte{schema.PlanID: schema.Plan, schema.RunReportID: schema.RunReport,
		schema.ComparisonID: schema.Comparison} {
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
		must.Succeed(t, c.AddResource(id, doc))
	}
	planSchema, runSchema := c.MustCompile(schema.PlanID), c.MustCompile(schema.RunReportID)
	valid := func(name string, s *jsonschema.Schema, text []byte) {
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range samplePlans() {
		var b, run1 bytes.Buffer
		must.Succeed(t, report.Plan(&b, report.JSON, p))
		valid(name, planSchema, b.Bytes())
		r := liveRun()
		r.Plan = p
		must.Succeed(t, report.Run(&run1, report.JSON, r))
		valid(name+" run", runSchema, run1.Bytes())
	}
	var run bytes.Buffer
	must.Succeed(t, report.Run(&run, report.JSON, waitingRun()))
	valid("run with waiting plans", runSchema, run.Bytes())
	var compared bytes.Buffer
	must.Succeed(t, report.Comparison(&compared, report.JSON, sampleComparison()))
	valid("comparison", c.MustCompile(schema.ComparisonID), compared.Bytes())
}
