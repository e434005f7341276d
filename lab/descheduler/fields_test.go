package descheduler

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/descheduler/pkg/api/v1alpha2"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/yaml"

	convert "github.com/evenkeel-project/evenkeel/config/convert/descheduler"
)

// peerFields returns the path of each field of a policy, such as profiles[].name, and of each
// plugin's arguments, such as PodLifeTime.states. The paths follow from the descheduler's own
// types; the names are those of the fields in YAML.
func peerFields() []string {
	var out []string
	walkFields(reflect.TypeFor[v1alpha2.DeschedulerPolicy](), "", &out)
	for name, plugin := range pluginregistry.PluginRegistry {
		walkFields(reflect.TypeOf(plugin.PluginArgInstance).Elem(), name, &out)
	}
	slices.Sort(out)
	return out
}

// walkFields appends the fields of a type. Types of other modules, such as a label selector, are
// one field.
func walkFields(t reflect.Type, path string, out *[]string) {
	switch {
	case t.Kind() == reflect.Pointer:
		walkFields(t.Elem(), path, out)
		return
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		walkFields(t.Elem(), path+"[]", out)
		return
	case t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), "sigs.k8s.io/descheduler/") || t == reflect.TypeFor[runtime.RawExtension]():
		*out = append(*out, path)
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			if f.Name != "TypeMeta" { // apiVersion and kind, which each file has
				*out = append(*out, path+"."+f.Name+" has no name in YAML")
			}
			continue
		}
		walkFields(f.Type, strings.TrimPrefix(path+"."+name, "."), out)
	}
}

// TestEveryFieldIsAccountedFor checks that the table has exactly the fields of the descheduler's
// types.
func TestEveryFieldIsAccountedFor(t *testing.T) {
	var listed []string
	for _, f := range fieldTable {
		if slices.Contains(listed, f.path) {
			t.Errorf("the table has %s twice", f.path)
		}
		listed = append(listed, f.path)
	}
	fields := peerFields()
	for _, path := range fields {
		if !slices.Contains(listed, path) {
			t.Errorf("the table does not account for %s", path)
		}
	}
	for _, path := range listed {
		if !slices.Contains(fields, path) {
			t.Errorf("the descheduler has no field %s", path)
		}
	}
}

// TestEveryFieldHasAnEffect sets each field in a policy and checks that the converter does what the
// table says: another setting, a comment, or an error.
func TestEveryFieldHasAnEffect(t *testing.T) {
	for _, f := range fieldTable {
		t.Run(f.path, func(t *testing.T) {
			without := policyOf(t, f.plugin(), f.with, "", "")
			with := policyOf(t, f.plugin(), f.with, f.path, f.value)
			before, err := convert.Convert([]byte(without), convert.Options{})
			if err != nil {
				t.Fatalf("without the field: %v\n%s", err, without)
			}
			after, err := convert.Convert([]byte(with), convert.Options{})
			if f.treatment == isError {
				f.checkError(t, err)
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, with)
			}
			settings := withoutComments(after.Config)
			switch changed := settings != withoutComments(before.Config); f.treatment {
			case isSetting:
				if !changed {
					t.Errorf("no setting depends on the field:\n%s", settings)
				}
				if !strings.Contains(settings, f.want) {
					t.Errorf("the configuration has no %q:\n%s", f.want, settings)
				}
			case isComment:
				if changed {
					t.Errorf("the field changes a setting, so it is not only a comment:\n%s", settings)
				}
				f.checkComment(t, before, after)
			}
		})
	}
}

// checkError checks that an error names the profile and the field.
func (f *field) checkError(t *testing.T, err error) {
	if err == nil {
		t.Fatal("no error")
	}
	name := f.path[strings.LastIndexAny(f.path, ".]")+1:]
	for _, want := range []string{name, f.want} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q: %v", want, err)
		}
	}
	if f.plugin() != "" && !strings.Contains(err.Error(), "profile gold: "+f.plugin()) {
		t.Errorf("the error does not name the profile and the plugin: %v", err)
	}
}

// checkComment checks that the field adds a comment to the configuration.
func (f *field) checkComment(t *testing.T, before, after *convert.Result) {
	if comments(before.Config) == comments(after.Config) || !strings.Contains(comments(after.Config), f.want) {
		t.Errorf("no comment that contains %q is added:\n%s", f.want, after.Config)
	}
}

// comments returns the comments of a configuration as one line.
func comments(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if comment, is := strings.CutPrefix(strings.TrimSpace(line), "#"); is {
			out = append(out, strings.TrimSpace(comment))
		}
	}
	return strings.Join(out, " ")
}

// withoutComments returns the lines of a configuration that are not comments.
func withoutComments(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// policyOf returns a policy with the profile gold, which enables a plugin with the arguments that
// it requires. with are further paths and values, such as "RemoveFailedPods.reasons=[Evicted]". The
// field at path gets the value.
func policyOf(t *testing.T, plugin string, with []string, path, value string) string {
	t.Helper()
	if plugin == "" || plugin == "DefaultEvictor" {
		plugin = "RemovePodsViolatingInterPodAntiAffinity"
	}
	point := "deschedule"
	if slices.Contains(balancePlugins, plugin) {
		point = "balance"
	}
	doc := map[string]any{"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
	for _, setting := range slices.Concat([]string{"profiles[].name=gold", "profiles[].plugins." + point + ".enabled=[" + plugin + "]",
		"profiles[].pluginConfig[].name=" + plugin}, requiredArgs[plugin], with) {
		p, v, _ := strings.Cut(setting, "=")
		setField(t, doc, p, v)
	}
	if path != "" {
		setField(t, doc, path, value)
	}
	out, err := yaml.Marshal(doc)
	check(t, err)
	return string(out)
}

// requiredArgs are arguments without which a plugin is invalid.
var requiredArgs = map[string][]string{
	"LowNodeUtilization":              {"LowNodeUtilization.thresholds={cpu: 20}", "LowNodeUtilization.targetThresholds={cpu: 50}"},
	"HighNodeUtilization":             {"HighNodeUtilization.thresholds={cpu: 20}"},
	"RemovePodsViolatingNodeAffinity": {"RemovePodsViolatingNodeAffinity.nodeAffinityType=[requiredDuringSchedulingIgnoredDuringExecution]"},
	"RemovePodsHavingTooManyRestarts": {"RemovePodsHavingTooManyRestarts.podRestartThreshold=100"},
	"PodLifeTime":                     {"PodLifeTime.maxPodLifeTimeSeconds=86400"},
}

// setField sets a field of a policy. A path that begins with the name of a plugin is one of its
// arguments.
func setField(t *testing.T, doc map[string]any, path, value string) {
	t.Helper()
	var v any
	check(t, yaml.Unmarshal([]byte(value), &v))
	at := doc
	if name, rest, _ := strings.Cut(path, "."); pluginregistry.PluginRegistry[name].PluginArgInstance != nil {
		at, path = argsOf(doc, name), rest
	}
	for {
		key, rest, more := strings.Cut(path, ".")
		key, list := strings.CutSuffix(key, "[]")
		switch {
		case !more:
			at[key] = v
			return
		case list:
			if at[key] == nil {
				at[key] = []any{map[string]any{}}
			}
			at = at[key].([]any)[0].(map[string]any)
		default:
			if at[key] == nil {
				at[key] = map[string]any{}
			}
			at = at[key].(map[string]any)
		}
		path = rest
	}
}

// argsOf returns the arguments of a plugin in the first profile.
func argsOf(doc map[string]any, plugin string) map[string]any {
	profile := doc["profiles"].([]any)[0].(map[string]any)
	configs, _ := profile["pluginConfig"].([]any)
	i := slices.IndexFunc(configs, func(c any) bool { return c.(map[string]any)["name"] == plugin })
	if i < 0 {
		i = len(configs)
		configs = append(configs, map[string]any{"name": plugin})
		profile["pluginConfig"] = configs
	}
	config := configs[i].(map[string]any)
	if config["args"] == nil {
		config["args"] = map[string]any{}
	}
	return config["args"].(map[string]any)
}
