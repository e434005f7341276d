package config_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
)

// checkPrint checks that the printed configuration is valid, gives the same plans, and prints itself.
func checkPrint(t *testing.T, c *config.Config) {
	t.Helper()
	text := must.Get(c.Print())(t)
	again, err := config.Load("config.yaml", text)
	if err != nil {
		t.Fatalf("the printed configuration is not valid: %v\n%s", err, text)
	}
	if again.Hash() != c.Hash() || again.PlanHash() != c.PlanHash() || len(again.Preset) > 0 {
		t.Errorf("the printed configuration differs:\n%s", text)
	}
	if more := must.Get(again.Print())(t); string(more) != string(text) {
		t.Errorf("the printed configuration prints another one:\n%s\n%s", text, more)
	}
}

func TestPrint(t *testing.T) {
	checkPrint(t, must.Get(config.Load("config.yaml", evenkeel.DefaultConfig))(t))
	for _, s := range scenario.All(t) {
		checkPrint(t, must.Get(config.Load("config.yaml", s.Config))(t))
	}
	for _, file := range must.Get(filepath.Glob("../examples/*.yaml"))(t) {
		if c, err := config.Load(file, must.Get(os.ReadFile(file))(t)); err == nil {
			checkPrint(t, c)
		}
	}
}

// randomPatch draws strategies as a file may have them: some of a preset, some of its own, with nulls. typeOf has the
// type of each strategy of the presets of the file. Half of the files have values that may not fit together.
func randomPatch(t *rapid.T, typeOf map[string]string) map[string]any {
	fitting := rapid.Bool().Draw(t, "fitting")
	patch := map[string]any{}
	for _, name := range []string{"zones", "spread-constraints", "hot-nodes", "restarts", "own"} {
		switch kind := typeOf[name]; {
		case !rapid.Bool().Draw(t, name):
		case name != "own" && (kind != "" || !fitting) && rapid.IntRange(0, 4).Draw(t, "removed") == 0:
			patch[name] = nil
		case fitting:
			patch[name] = fittingStrategy(t, kind)
		default:
			patch[name] = anyStrategy(t, name != "own")
		}
	}
	return patch
}

// fittingStrategy draws a strategy whose values fit the type, which a preset has, or else the strategy itself.
func fittingStrategy(t *rapid.T, kind string) map[string]any {
	s := drawKeys(t, map[string][]any{"mode": {"approve", "dryRun"}, "order": {1, -1}, "weight": {2}, "enabled": {true, false},
		"nodeSelector": {"pool=a"}, "limits": {map[string]any{"perPass": 3}}, "schedule": {"@daily"}})
	args := map[string][]any{
		"ZoneSpread":     {map[string]any{"maxSkew": 2}, map[string]any{"by": "service"}, nil},
		"TopologySpread": {map[string]any{"whenUnsatisfiable": []any{"ScheduleAnyway"}}, nil},
		"NodeLoad":       {map[string]any{"target": map[string]any{"cpu": 0.8}}},
		"Restarts":       {map[string]any{"minRestarts": 7}, map[string]any{"minRestarts": 8, "states": []any{"Running"}}},
	}
	switch {
	case kind == "":
		kind = rapid.SampledFrom(slices.Sorted(maps.Keys(args))).Draw(t, "type")
		s["type"], s["schedule"] = kind, "@hourly"
	case !rapid.Bool().Draw(t, "with args"):
		return s
	default: // null removes what the preset has
		args["ZoneSpread"] = append(args["ZoneSpread"], map[string]any{"maxSkew": 2, "by": nil}, map[string]any{"maxSkew": nil})
		args["TopologySpread"] = append(args["TopologySpread"], map[string]any{"whenUnsatisfiable": nil})
		args["NodeLoad"] = append(args["NodeLoad"], map[string]any{"target": map[string]any{"memory": nil, "cpu": 0.8}})
	}
	s["args"] = rapid.SampledFrom(args[kind]).Draw(t, "args")
	return s
}

// anyStrategy draws a strategy whose keys do not depend on each other, with nulls or without.
func anyStrategy(t *rapid.T, nulls bool) map[string]any {
	s := drawKeys(t, map[string][]any{
		"type": {"NodeLoad", "ZoneSpread", nil}, "schedule": {"@hourly", nil}, "mode": {"approve", "dryRun", nil}, "order": {1, -1, nil},
		"weight": {2, nil}, "enabled": {true, false, nil}, "nodeSelector": {"pool=a", nil}, "limits": {map[string]any{"perPass": 3}, nil},
		"args": {map[string]any{"target": map[string]any{"memory": nil, "cpu": 0.8}}, map[string]any{"maxSkew": 2, "by": nil},
			map[string]any{"whenUnsatisfiable": []any{"ScheduleAnyway"}}, nil},
	})
	maps.DeleteFunc(s, func(_ string, v any) bool { return v == nil && !nulls })
	return s
}

// drawKeys draws some of the keys, each with one of its values.
func drawKeys(t *rapid.T, values map[string][]any) map[string]any {
	s := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if rapid.IntRange(0, 2).Draw(t, key) == 0 {
			s[key] = rapid.SampledFrom(values[key]).Draw(t, key)
		}
	}
	return s
}

// TestPresetsMergeAsRFC7386 compares random files with presets with what another implementation of RFC 7386 makes.
func TestPresetsMergeAsRFC7386(t *testing.T) {
	var all map[string]map[string]any
	must.Succeed(t, yaml.Unmarshal(evenkeel.Presets, &all))
	valid := 0
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(config.PresetNames()), 0, 3, rapid.ID).Draw(r, "presets")
		typeOf := map[string]string{}
		for _, name := range names {
			for strategy, s := range all[name] {
				typeOf[strategy] = s.(map[string]any)["type"].(string)
			}
		}
		file := map[string]any{"apiVersion": config.Version, "kind": config.Kind, "preset": names, "strategies": randomPatch(r, typeOf)}
		got, err := config.Load("config.yaml", must.Get(yaml.Marshal(file))(t))

		merged := []byte("{}")
		for _, name := range names {
			merged = must.Get(jsonpatch.MergePatch(merged, must.Get(json.Marshal(all[name]))(t)))(t)
		}
		merged = must.Get(jsonpatch.MergePatch(merged, must.Get(json.Marshal(file["strategies"]))(t)))(t)
		file["preset"], file["strategies"] = []string{}, json.RawMessage(merged)
		want, wantErr := config.Load("config.yaml", must.Get(yaml.Marshal(file))(t))
		if err != nil && (strings.Contains(err.Error(), "is empty") || strings.Contains(err.Error(), "is unknown: it has no type")) {
			return // it switches nothing off
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("with presets: %v; without: %v\n%s", err, wantErr, merged)
		}
		if err != nil {
			return
		}
		valid++
		if got.Hash() != want.Hash() {
			t.Fatalf("%s\ngot %s\nwant %s", must.Get(yaml.Marshal(file))(t), must.Get(got.Print())(t), must.Get(want.Print())(t))
		}
		checkPrint(t, got)
	})
	t.Logf("%d valid files", valid)
	if valid < 25 {
		t.Errorf("only %d valid files", valid)
	}
}

// TestStrategiesThatWouldBeSilent: an entry that switches nothing off, and an empty key, are mistakes.
func TestStrategiesThatWouldBeSilent(t *testing.T) {
	for strategies, want := range map[string]string{
		"{zonse: {enabled: false}}": "strategies.zonse: is unknown: it has no type, and no preset has a strategy of this name (did you mean zones?)",
		"{zonse: null}":             "strategies.zonse: is unknown",
		"{mine: {type: ZoneSpread, schedule: '@hourly', mode: }}":                                                       "strategies.mine.mode: is empty",
		"{zones: {mode: approve, mode: }}":                                                                              "duplicate key",
		"{zones: {enabled: false}, zones: }":                                                                            "duplicate key",
		"{restarts: null, empty-nodes: {enabled: false}}":                                                               "",
		"{zones: {args: {maxSkew: }}, spread-constraints: {args: }}":                                                    "",
		"{zones: {podSelector: , weight: , limits: {perPass: }, guards: {minPodAge: , priorityBelow: }, args: {by: }}}": "",
		"{zones: {podSelectro: }}":                                                                                      "strategies.zones.podSelectro: unknown key",
		"{zones: {limits: {perPas: }}}":                                                                                 "strategies.zones.limits.perPas: unknown key",
		"{zones: {args: {bye: }}}":                                                                                      "strategies.zones.args.bye: unknown argument",
		"{zones: {args: {target: }}}":                                                                                   "strategies.zones.args.target: unknown argument",
		"{zones: {weight: , weight: }}":                                                                                 "duplicate key",
		"{zones: {guards: {protect: [ ~ ]}}}":                                                                           "strategies.zones.guards.protect[0]: is empty",
		"{spread-constraints: {type: NodeLoad, args: {whenUnsatisfiable: , target: {cpu: 0.9, memory: }}}}":             "",
		"{spread-constraints: {type: NodeLoad, args: {whenUnsatisfiable: , target: {cpu: 0.9, memry: }}}}":              "strategies.spread-constraints.args.target.memry: is empty",
	} {
		_, err := config.Load("config.yaml", []byte(minimalConfig+"preset: zones\nstrategies: "+strategies+"\n"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", strategies, err, want)
		}
	}
}

// TestEveryPresetIsValid loads each preset alone and all together.
func TestEveryPresetIsValid(t *testing.T) {
	lists := [][]string{config.PresetNames()}
	for _, name := range config.PresetNames() {
		lists = append(lists, []string{name})
	}
	for _, list := range lists {
		text := minimalConfig + "preset: " + string(must.Get(json.Marshal(list))(t)) + "\n"
		c := must.Get(config.Load("config.yaml", []byte(text)))(t)
		if len(c.BuildStrategies()) != len(c.Strategies) || len(c.Strategies) == 0 {
			t.Errorf("%v: strategies %v", list, c.Strategies)
		}
	}
}
