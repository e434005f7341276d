package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/plan/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileSchemas(t *testing.T) (planSchema, runSchema *jsonschema.Schema) {
	t.Helper()
	c := newCompiler(t)
	return c.MustCompile(schema.PlanID), c.MustCompile(schema.RunReportID)
}

// newCompiler returns a compiler that knows all schemas.
func newCompiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for id, text := range map[string][]byte{schema.PlanID: schema.Plan, schema.RunReportID: schema.RunReport,
		schema.ComparisonID: schema.Comparison} {
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
		must.Succeed(t, c.AddResource(id, doc))
	}
	return c
}

// planExample is a plan in which every required field has a value.
const planExample = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Plan","id":"3f9c","takenAt":"2026-01-01T00:00:00Z","expires":"2026-01-01T00:15:00Z",
 "cluster":{"uid":"c1","version":"1.37"},"configHash":"9b1e",
 "moves":[{"pod":{"namespace":"shop","name":"d-x1","uid":"u1"},"owner":{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"u2"},"goals":["g1"],
   "from":"n3","to":"n1","acceptable":{"nodes":2},"confidence":0.97,"returnProbability":0.03,"pendingProbability":0,
   "strategy":"zones","step":1,"wave":1,"steer":"none",
   "reason":{"code":"ZoneSkewed","message":"d has 1/1/4 pods over 3 zones; 2/2/2 is possible"},"benefit":0.5,"priority":0}],
 "rejections":{"counts":{"BlockedByPDB":12},"samples":[{"pod":{"namespace":"shop","name":"d-x2","uid":"u3"},"node":"n3","strategy":"zones","reason":{"code":"BlockedByPDB","message":"pdb shop/d allows 0 more"}}]},
 "goals":[{"id":"g1","strategy":"zones","kind":"SkewAtMost","subject":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"d"},
   "topologyKey":"topology.kubernetes.io/zone","limit":1,"weight":1,"excess":2}],
 "strategies":[{"name":"zones","goals":4,"unmet":1,"due":true}],"takenAtEstimated":true,
 "otherDeschedulers":[{"program":"descheduler","kind":"Deployment","namespace":"kube-system","name":"descheduler"}],
 "before":{"nodes":[{"name":"n1","zone":"z1","requested":{"cpu":0.8},"used":{"cpu":0.61}}],"utilization":{"cpu":{"max":0.9,"mean":0.5,"stddev":0.2}},
   "excess":{"g1":2},
   "workloads":[{"namespace":"shop","kind":"Deployment","name":"d","zones":{"z1":1,"z2":1,"z3":4},"skew":3,"failureCategory":2,"categoryCertain":true}]},
 "after":{"nodes":[{"name":"n1","zone":"z1","requested":{"cpu":0.9}}],"utilization":{"cpu":{"max":0.9,"mean":0.5,"stddev":0.1}},
   "excess":{"g1":0},
   "workloads":[{"namespace":"shop","kind":"Deployment","name":"d","zones":{"z1":2,"z2":2,"z3":2},"skew":0,"failureCategory":3,"categoryCertain":false}]},
 "bound":{"minEvictions":2,"minForPlan":2,"residual":0.5,"residualByGoal":{"g1":1},"blockedBy":[{"code":"BlockedByPDB","detail":"shop/d"}],
   "unmet":0.5,"unmetGoals":[{"goal":"g1","reason":"scheduler","excess":1,"rejections":{"WouldReturn":2},"detail":"d stays skewed"}]},
 "inputs":[{"source":"prometheus","age":"42s","coverage":1.0,"problems":[]}]}`

// withProposal returns planExample with a proposal in this mode.
func withProposal(mode string) string {
	return strings.Replace(strings.Replace(planExample, `"due":true}`, `"due":true,"mode":"dryRun"}`, 1), `"rejections"`,
		`"proposals":[{"mode":"`+mode+`","plan":`+planExample+`}],"rejections"`, 1)
}

const runReportExample = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"RunReport","runID":"r1","mode":"dryRun","started":"2026-01-01T00:00:00Z","finished":"2026-01-01T00:00:09Z","plan":` + planExample + `,"replan":` + planExample + `,
 "outcomes":[{"step":1,"pod":{"namespace":"shop","name":"d-x1","uid":"u1"},"outcome":"evicted","reason":{"code":"LandedElsewhere","message":"n2 was predicted"},"replacement":{"name":"d-y1","uid":"u9"},
   "landed":"n1","landedAsPredicted":true,"readyAfter":"4s"}],
 "stopped":null}`

// comparisonExample is a comparison in which every field has a value.
const comparisonExample = `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Comparison","takenAt":"2026-01-01T00:00:00Z",
 "cluster":{"uid":"c1","version":"1.37"},"policy":"policy.yaml","configHash":"9b1e","evictions":1,
 "plugins":[{"plugin":"PodLifeTime","strategy":"lifetime","found":1,"repaired":0,"waitForApproval":0,"shown":0,"left":1,"caused":0,"noData":"none","waiting":"none"}],
 "violations":[{"plugin":"PodLifeTime","goal":{"id":"g1","strategy":"lifetime","kind":"PodAway","subject":{"apiVersion":"v1","kind":"Pod",
   "namespace":"shop","name":"d-x1"},"limit":0,"weight":1,"excess":1},"excessAfter":1,"result":"left",
   "moves":[{"pod":{"namespace":"shop","name":"d-x1","uid":"u1"},"from":"n3","to":"n1","strategy":"old"}],"strategies":["old"],
   "reason":{"code":"BlockedByPDB","message":"pdb shop/d allows 0 more"}}],
 "otherDeschedulers":[{"program":"descheduler","kind":"Deployment","namespace":"kube-system","name":"descheduler"}]}`

func decodeJSON(t *testing.T, text []byte) any {
	t.Helper()
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	return doc
}

func TestDesignExamplesAreValid(t *testing.T) {
	planSchema, runSchema := compileSchemas(t)
	if err := planSchema.Validate(decodeJSON(t, []byte(planExample))); err != nil {
		t.Error(err)
	}
	if err := runSchema.Validate(decodeJSON(t, []byte(runReportExample))); err != nil {
		t.Error(err)
	}
	stopped := strings.Replace(runReportExample, `"stopped":null`, `"stopped":{"code":"Interrupted","message":"asked to end"}`, 1)
	if err := runSchema.Validate(decodeJSON(t, []byte(stopped))); err != nil {
		t.Error(err)
	}
}

// TestGoTypesFollowTheSchema decodes the examples into the Go types and encodes
// them again. No field may be unknown, and the result must be valid.
func TestGoTypesFollowTheSchema(t *testing.T) {
	planSchema, runSchema := compileSchemas(t)
	var p plan.Plan
	var r plan.RunReport
	var compared plan.Comparison
	for _, c := range []struct {
		text   string
		into   any
		schema *jsonschema.Schema
	}{{planExample, &p, planSchema}, {runReportExample, &r, runSchema},
		{comparisonExample, &compared, newCompiler(t).MustCompile(schema.ComparisonID)}} {
		dec := json.NewDecoder(strings.NewReader(c.text))
		dec.DisallowUnknownFields()
		must.Succeed(t, dec.Decode(c.into))
		again := must.Get(json.Marshal(c.into))(t)
		if err := c.schema.Validate(decodeJSON(t, again)); err != nil {
			t.Error(err)
		}
	}
}

// TestEnumsAreComplete checks that the enums of the schema contain every kind and outcome of the Go types.
func TestEnumsAreComplete(t *testing.T) {
	planSchema, runSchema := compileSchemas(t)
	for _, k := range []plan.GoalKind{plan.NodeBelow, plan.SkewAtMost, plan.CountAtMost, plan.PodsApart, plan.PodAway, plan.NodeEmpty} {
		text := strings.Replace(planExample, `"kind":"SkewAtMost"`, `"resource":"cpu","kind":"`+string(k)+`"`, 1)
		if err := planSchema.Validate(decodeJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	for _, h := range []plan.UnmetReason{plan.UnmetByScheduler, plan.UnmetNoTarget, plan.UnmetBenefitTooSmall, plan.UnmetByGuards} {
		text := strings.Replace(planExample, `"reason":"scheduler"`, `"reason":"`+string(h)+`"`, 1)
		if err := planSchema.Validate(decodeJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", h, err)
		}
	}
	for _, k := range []plan.OutcomeKind{plan.Evicted, plan.WouldEvict, plan.Blocked, plan.AlreadyGone, plan.UnknownOutcome, plan.Dropped} {
		text := strings.Replace(runReportExample, `"outcome":"evicted"`, `"outcome":"`+string(k)+`"`, 1)
		if err := runSchema.Validate(decodeJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	comparison := newCompiler(t).MustCompile(schema.ComparisonID)
	for _, r := range []plan.ViolationResult{plan.ViolationRepaired, plan.ViolationWaitsForApproval, plan.ViolationShown, plan.ViolationLeft,
		plan.ViolationCaused} {
		text := strings.Replace(comparisonExample, `"result":"left"`, `"result":"`+string(r)+`"`, 1)
		if err := comparison.Validate(decodeJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
	for _, m := range []plan.StrategyMode{plan.Approve, plan.ShowOnly} {
		if err := planSchema.Validate(decodeJSON(t, []byte(withProposal(string(m))))); err != nil {
			t.Errorf("proposal in mode %s: %v", m, err)
		}
	}
	if planSchema.Validate(decodeJSON(t, []byte(withProposal("automatic")))) == nil {
		t.Error("the schema accepts a proposal in mode automatic")
	}
	for _, m := range []plan.Mode{plan.DryRun, plan.Live} {
		text := strings.Replace(runReportExample, `"mode":"dryRun"`, `"mode":"`+string(m)+`"`, 1)
		if err := runSchema.Validate(decodeJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	for _, wrong := range []string{strings.Replace(planExample, `"SkewAtMost"`, `"SkewAtLeast"`, 1),
		strings.Replace(planExample, `"steer":"none"`, `"steer":"force"`, 1),
		strings.Replace(planExample, `"topologyKey":"topology.kubernetes.io/zone",`, ``, 1),
		strings.Replace(planExample, `2026-01-01T00:00:00Z`, `yesterday`, 1),
		strings.Replace(planExample, `"confidence":0.97`, `"confidence":97`, 1), strings.Replace(planExample, `"step":1`, `"step":0`, 1)} {
		if planSchema.Validate(decodeJSON(t, []byte(wrong))) == nil {
			t.Errorf("the schema accepts an invalid document: %s", wrong)
		}
	}
}

// optionalFields are the fields that a valid document may lack, as field or field@parent.
// All other fields are required.
var optionalFields = []string{"takenAtEstimated", "uid", "node", "strategy@samples", "apiVersion@owner", "apiVersion@subject",
	"namespace@subject", "used", "replacement", "landed", "readyAfter", "namespace@replacement", "unmet", "unmetGoals", "replan", "otherDeschedulers",
	"noData", "waiting", "reason@violations"}

// isFreeForm lists the objects with arbitrary keys.
var isFreeForm = []string{"counts", "requested", "used", "utilization", "excess", "zones", "residualByGoal", "rejections"}

// TestSchemaRejectsMutations removes each field, adds a field to each object, and changes the
// type of each field. The schema must reject each change.
func TestSchemaRejectsMutations(t *testing.T) {
	planSchema, runSchema := compileSchemas(t)
	comparison := newCompiler(t).MustCompile(schema.ComparisonID)
	for name, c := range map[string]struct {
		schema    *jsonschema.Schema
		text      string
		mutations int
	}{"plan": {planSchema, planExample, 150}, "run": {runSchema, runReportExample, 150}, "comparison": {comparison, comparisonExample, 60}} {
		root, seen := decodeJSON(t, []byte(c.text)), 0
		forEachMutation(root, "", func(what string) {
			seen++
			if c.schema.Validate(root) == nil {
				t.Errorf("%s: the schema accepts %s", name, what)
			}
		})
		if seen < c.mutations {
			t.Errorf("%s: %d mutations, want at least %d", name, seen, c.mutations)
		}
		if err := c.schema.Validate(root); err != nil {
			t.Errorf("%s: the mutations changed the document: %v", name, err)
		}
	}
}

// forEachMutation makes one change at a time in the objects below v, calls check, and
// reverts the change. parent is the name of the field of v.
func forEachMutation(v any, parent string, check func(what string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			forEachMutation(item, parent, check)
		}
	case map[string]any:
		data := slices.Contains(isFreeForm, parent)
		if !data {
			v["surplus"] = 1
			check("an unknown field in " + parent)
			delete(v, "surplus")
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		for _, k := range keys {
			was := v[k]
			if !data && !slices.Contains(optionalFields, k) && !slices.Contains(optionalFields, k+"@"+parent) {
				delete(v, k)
				check(fmt.Sprintf("%s without %s", parent, k))
			}
			v[k] = valueOfOtherType(was)
			check(fmt.Sprintf("%s with %s as %v", parent, k, v[k]))
			v[k] = was
			forEachMutation(was, k, check)
		}
	}
}

func valueOfOtherType(v any) any {
	switch v.(type) {
	case string, bool:
		return json.Number("7")
	case nil:
		return "nothing"
	}
	return "seven"
}

// TestSchemaFieldsMatchGoTypes compares the fields of the schema and the Go types by name. The test
// also covers fields that no example uses.
func TestSchemaFieldsMatchGoTypes(t *testing.T) {
	docs := map[string]map[string]any{}
	for id, text := range map[string][]byte{schema.PlanID: schema.Plan, schema.RunReportID: schema.RunReport,
		schema.ComparisonID: schema.Comparison} {
		docs[id] = decodeJSON(t, text).(map[string]any)
	}
	compareSchemaWithType(t, docs, schema.PlanID, docs[schema.PlanID], reflect.TypeFor[plan.Plan](), "plan")
	compareSchemaWithType(t, docs, schema.RunReportID, docs[schema.RunReportID], reflect.TypeFor[plan.RunReport](), "run")
}

func compareSchemaWithType(t *testing.T, docs map[string]map[string]any, base string, s map[string]any, typ reflect.Type, path string) {
	t.Helper()
	if target, ok := s["$ref"].(string); ok {
		id, pointer, _ := strings.Cut(target, "#")
		if id != "" {
			base = id
		}
		s = docs[base]
		if pointer != "" {
			s = s["$defs"].(map[string]any)[strings.TrimPrefix(pointer, "/$defs/")].(map[string]any)
		}
	}
	if either, ok := s["anyOf"].([]any); ok {
		s = either[len(either)-1].(map[string]any)
		compareSchemaWithType(t, docs, base, s, typ, path)
		return
	}
	switch typ.Kind() {
	case reflect.Pointer:
		compareSchemaWithType(t, docs, base, s, typ.Elem(), path)
	case reflect.Slice:
		compareSchemaWithType(t, docs, base, s["items"].(map[string]any), typ.Elem(), path+"[]")
	case reflect.Map:
		compareSchemaWithType(t, docs, base, s["additionalProperties"].(map[string]any), typ.Elem(), path+"{}")
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[plan.CountLimit]() ||
			strings.HasSuffix(path, ".proposals[].plan") { // the plan itself
			return
		}
		compareSchemaWithStruct(t, docs, base, s, typ, path)
	}
}

func compareSchemaWithStruct(t *testing.T, docs map[string]map[string]any, base string, s map[string]any, typ reflect.Type, path string) {
	t.Helper()
	properties := s["properties"].(map[string]any)
	known := map[string]bool{}
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		known[name] = true
		property, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s.%s is not in the schema", path, name)
			continue
		}
		required := slices.Contains(s["required"].([]any), any(name))
		if omits := strings.Contains(options, "omitempty"); omits && required {
			t.Errorf("%s.%s has omitempty, but the schema requires it", path, name)
		}
		compareSchemaWithType(t, docs, base, property, typ.Field(i).Type, path+"."+name)
	}
	for name := range properties {
		if !known[name] {
			t.Errorf("%s.%s is in the schema but not in the type", path, name)
		}
	}
}
