package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/schema"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const header = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(schema.Config)))(t)
	c := jsonschema.NewCompiler()
	must.Succeed(t, c.AddResource(schema.ConfigID, doc))
	return c.MustCompile(schema.ConfigID)
}

// validate validates YAML by the schema.
func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	text = must.Get(yaml.YAMLToJSON(text))(t)
	value := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	return s.Validate(value)
}

// TestSchemaAcceptsValidConfigurations checks that the schema accepts every valid configuration of this repository.
func TestSchemaAcceptsValidConfigurations(t *testing.T) {
	s := compile(t)
	files := map[string][]byte{}
	for _, pattern := range []string{"../../config.yaml", "../../examples/*.yaml"} {
		for _, file := range glob(t, pattern) {
			text := must.Get(os.ReadFile(file))(t)
			if bytes.Contains(text, []byte("kind: "+config.Kind)) {
				files[file] = text
			}
		}
	}
	if len(files) < 5 {
		t.Errorf("%d files with a configuration, want config.yaml and the examples", len(files))
	}
	scenarios := 0
	for _, archive := range slices.Concat(glob(t, "../../planner/testdata/*.txtar"), glob(t, "../../planner/testdata/*/*.txtar")) {
		a := must.Get(txtar.ParseFile(archive))(t)
		for _, f := range a.Files {
			if f.Name == "config.yaml" {
				files[archive] = f.Data
				scenarios++
			}
		}
	}
	if scenarios < 100 {
		t.Errorf("%d scenarios with a configuration, want more than 100", scenarios)
	}
	for name, text := range files {
		if _, err := config.Load(filepath.Join(filepath.Dir(name), "config.yaml"), text); err != nil {
			continue // a scenario about a part of a configuration
		}
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files := must.Get(filepath.Glob(pattern))(t)
	return files
}

// TestBothRejectMistakes checks mistakes that an editor marks while somebody types them.
func TestBothRejectMistakes(t *testing.T) {
	s := compile(t)
	strategy := func(text string) string { return "strategies:\n  s: {schedule: \"@hourly\", " + text + "}\n" }
	for name, text := range map[string]string{
		"unknown key":                 "dryrun: true",
		"unknown nested key":          "limits: {perPod: 3}",
		"true in quotes":              `dryRun: "true"`,
		"a word for a number":         "guards: {minReplicas: two}",
		"no replicas":                 "guards: {minReplicas: 0}",
		"a percentage":                "guards: {minConfidence: 90}",
		"a fraction of zero":          "evictor: {breaker: {maxFailedFrac: 0}}",
		"a duration without unit":     "guards: {minPodAge: 5}",
		"a duration in days":          "guards: {minPodAge: 1d}",
		"a count below zero":          "limits: {perPass: -1}",
		"a word for a count":          "limits: {perPass: many}",
		"an unknown source":           "load: {source: prometeus}",
		"an unknown statistic":        "load: {statistic: p99}",
		"an unknown protection":       "guards: {protect: [Everything]}",
		"a list for keys":             "limits: [5]",
		"a list of strategies":        "strategies: [{name: s, type: ZoneSpread, schedule: \"@hourly\"}]",
		"keys for a list":             "notify: {ops: slack}",
		"a word for a strategy":       "strategies: {zones: ZoneSpread}",
		"an unknown preset":           "preset: zone",
		"an unknown preset in a list": "preset: [zones, clean]",
		"an unknown type":             strategy("type: ZoneSpred"),
		"an argument of another type": strategy("type: ZoneSpread, args: {minRestarts: 3}"),
		"a percentage of a target":    strategy("type: NodeLoad, args: {target: {cpu: 80}}"),
		"an unknown mode":             strategy("type: ZoneSpread, mode: manual"),
		"a receiver without format":   "notify: [{name: ops, url: \"https://example.com\"}]",
		"a window without end":        "windows: {deny: [{schedule: \"0 8 * * *\"}]}",
		"another version":             "apiVersion: evenkeel.io/v2",
	} {
		t.Run(name, func(t *testing.T) {
			text := header + text + "\n"
			if strings.Contains(text, "/v2") {
				text = "apiVersion: evenkeel.io/v2\nkind: RebalanceConfig\n"
			}
			if _, err := config.Load("config.yaml", []byte(text)); err == nil {
				t.Error("the loader accepts the configuration")
			}
			if err := validate(t, s, []byte(text)); err == nil {
				t.Error("the schema accepts the configuration")
			}
		})
	}
}

// TestBothAgreeOnCountsDurationsAndSchedules checks for each such value that the schema accepts what the loader does.
func TestBothAgreeOnCountsDurationsAndSchedules(t *testing.T) {
	s := compile(t)
	keys := map[string]string{ // a document with %s for the value
		"schedule":         "strategies: {s: {type: ZoneSpread, schedule: %s}}",
		"minPodAge":        "guards: {minPodAge: %s}",
		"perMinute":        "evictor: {perMinute: %s}",
		"maxPredictions":   "limits: {maxPredictions: %s}",
		"maxPendingPods":   "evictor: {breaker: {maxPendingPods: %s}}",
		"strategy perHour": "strategies: {s: {type: ZoneSpread, schedule: \"@hourly\", limits: {perHour: {owner: %s}}}}",
		"strategy perPass": "strategies: {s: {type: ZoneSpread, schedule: \"@hourly\", limits: {perPass: %s}}}",
		"window perHour":   "windows: {allow: [{schedule: \"0 8 * * *\", duration: 1h, limits: {perHour: {owner: %s}}}]}",
	}
	for _, k := range []string{"perPass", "perNode", "perNamespace", "perOwner", "perZone"} {
		keys[k] = "limits: {" + k + ": %s}"
	}
	for _, k := range []string{"owner", "namespace", "cluster"} {
		keys["perHour "+k] = "limits: {perHour: {" + k + ": %s}}"
	}
	for _, k := range []string{"total", "perNode", "perOwner"} {
		keys["inFlight "+k] = "evictor: {inFlight: {" + k + ": %s}}"
	}
	accepted := 0
	for name, doc := range keys {
		for _, value := range []string{"0", "1", "7", `"7"`, "-1", "20%", "0%", "unlimited", "many", "90m", "0s", `"0"`, `"@every 90m"`, `"@every 2"`, `"@hourly"`} {
			text := []byte(header + fmt.Sprintf(doc, value) + "\n")
			_, loaded := config.Load("config.yaml", text)
			valid := validate(t, s, text)
			if (loaded == nil) != (valid == nil) {
				t.Errorf("%s: %s: the loader says %v, the schema %v", name, value, loaded, valid)
			}
			if loaded == nil {
				accepted++
			}
		}
	}
	if accepted < 4*len(keys)/2 {
		t.Errorf("only %d values are accepted", accepted)
	}
}

// wanted matches the list of words in an error of the loader.
var wanted = regexp.MustCompile(`\(want (?:one of )?([^()]+)\)`)

// TestLoaderAgreesWithEnumsAndRanges breaks each enum, each range, each pattern and each type of the schema, and checks
// that the loader reports an error at the same key. The loader's error lists the same words as the enum.
func TestLoaderAgreesWithEnumsAndRanges(t *testing.T) {
	enums, ranges, types := 0, 0, 0
	walk(decode(t, schema.Config), "", func(n node, path string) {
		if path == "" || strings.HasSuffix(path, ".args") && !strings.Contains(path, "<") || strings.HasPrefix(path, "windows.deny[].limits") {
			return
		}
		if words, _ := n["enum"].([]any); words != nil {
			enums++
			checkWords(t, path, words, loaderError(t, path, "no-such-word"))
		}
		for keyword, offset := range map[string]float64{"minimum": -1, "maximum": 1, "exclusiveMinimum": 0} {
			if limit, ok := n[keyword].(float64); ok {
				ranges++
				loaderError(t, path, limit+offset)
			}
		}
		types++
		loaderError(t, path, valueOfAnotherType(n))
	})
	if enums < 20 || ranges < 40 || types < 280 {
		t.Errorf("%d enums, %d ranges and %d types were checked, want at least 20, 40 and 280", enums, ranges, types)
	}
}

// checkWords checks that the words of an enum are those that the error names.
func checkWords(t *testing.T, path string, words []any, message string) {
	t.Helper()
	found := wanted.FindAllStringSubmatch(message, -1)
	if len(found) == 0 {
		t.Errorf("%s: no list of words in %q", path, message)
		return
	}
	var got, want []string
	list := found[len(found)-1][1]
	for word := range strings.SplitSeq(strings.ReplaceAll(list, " or ", ", "), ", ") {
		got = append(got, strings.TrimSpace(word))
	}
	for _, w := range words {
		if w != nil { // null removes a key of a preset
			want = append(want, w.(string))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the loader wants %v, the enum has %v", path, got, want)
	}
}

// valueOfAnotherType returns a value that the schema rejects because of its type.
func valueOfAnotherType(n node) any {
	switch typ := fmt.Sprint(n["type"]); {
	case strings.Contains(typ, "object"), strings.Contains(typ, "array"):
		return "text"
	}
	return []any{"text"}
}

// loaderError loads a configuration with the value at the path, and returns the error at this path.
func loaderError(t *testing.T, path string, value any) string {
	t.Helper()
	doc := node{"apiVersion": config.Version, "kind": config.Kind}
	at := strings.NewReplacer("[]", "[0]", "strategies.*", "strategies.s").Replace(path)
	if rest, ok := strings.CutPrefix(path, "strategies.*"); ok {
		strategy := node{"type": "ZoneSpread", "schedule": "@hourly"}
		if typ, args, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">."); ok {
			strategy["type"], rest = typ, "."+args
			at = "strategies.s." + strings.ReplaceAll(args, "[]", "[0]")
		}
		if rest == "" {
			doc["strategies"] = node{"s": value}
		} else {
			set(strategy, strings.Split(rest[1:], "."), value)
			doc["strategies"] = node{"s": strategy}
		}
	} else {
		set(doc, strings.Split(path, "."), value)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, err = config.Load("config.yaml", text)
	if err == nil {
		t.Errorf("%s: the loader accepts %v", path, value)
		return ""
	}
	at = strings.ReplaceAll(at, ".*", ".cpu")
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, "config.yaml:1: "+at+":") || strings.HasPrefix(line, "config.yaml: "+at+":") {
			return line
		}
	}
	t.Errorf("%s: the loader reports %v for %v, want an error about %s", path, err, value, at)
	return ""
}

// set sets a value inside an object. A key that ends with [] is a list of one element; * is a resource.
func set(n node, keys []string, value any) {
	name, isList := strings.CutSuffix(keys[0], "[]")
	if name == "*" {
		name = "cpu"
	}
	if len(keys) > 1 {
		child := node{}
		set(child, keys[1:], value)
		value = child
	}
	if isList {
		value = []any{value}
	}
	n[name] = value
	for key, v := range companions[name] {
		if n[key] == nil {
			n[key] = v
		}
	}
}

// companions are keys without which the loader does not check another key of the same object.
var companions = map[string]node{
	"below":     {"target": node{"cpu": 0.8}},
	"belowMean": {"deviation": node{"cpu": 0.1}},
	"when":      {"basis": "load", "target": node{"cpu": 0.8}},
}
