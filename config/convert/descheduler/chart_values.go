package descheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A value of the descheduler's chart and its counterpart in Evenkeel's chart.
type chartValue struct {
	// to is the path of the counterpart, with at most one dot. If the key is empty, remark says what differs. If both
	// are empty, the configuration contains the value unchanged.
	to, remark string
}

// chartCounterparts lists the values of the descheduler's chart. Values that are not listed have no counterpart.
var chartCounterparts = map[string]chartValue{
	"kind":                        {to: "kind"},
	"replicas":                    {to: "replicas"},
	"imagePullSecrets":            {to: "imagePullSecrets"},
	"nodeSelector":                {to: "nodeSelector"},
	"tolerations":                 {to: "tolerations"},
	"affinity":                    {to: "affinity"},
	"podAnnotations":              {to: "podAnnotations"},
	"podLabels":                   {to: "podLabels"},
	"priorityClassName":           {to: "priorityClassName"},
	"suspend":                     {to: "cronJob.suspend"},
	"startingDeadlineSeconds":     {to: "cronJob.startingDeadlineSeconds"},
	"activeDeadlineSeconds":       {to: "cronJob.activeDeadlineSeconds"},
	"schedule":                    {},
	"timeZone":                    {},
	"deschedulingInterval":        {},
	"deschedulerPolicy":           {},
	"deschedulerPolicyAPIVersion": {},
	"leaderElection":              {remark: "needs no value: Evenkeel always holds a Lease in its namespace"},
	"image":                       {remark: "not kept: Evenkeel has an image of its own"},
	"resources":                   {remark: "not kept: Evenkeel's requests and limits depend on the size of the cluster"},
	"cmdOptions":                  {},
	"rbac":                        {to: "rbac"},
	"serviceAccount":              {to: "serviceAccount"},
	"service":                     {to: "service"},
}

// nestedKeys are the keys that are kept of a value with keys of its own.
var nestedKeys = map[string][]string{
	"rbac": {"create"}, "serviceAccount": {"create", "annotations"}, "service": {"enabled"},
}

// ofKind lists values that only one kind has.
var ofKind = map[string]string{
	"schedule": "CronJob", "timeZone": "CronJob", "suspend": "CronJob", "startingDeadlineSeconds": "CronJob", "activeDeadlineSeconds": "CronJob",
	"deschedulingInterval": "Deployment", "replicas": "Deployment",
	"leaderElection": "Deployment",
}

// writeChartValues writes the values besides config, and comments about those that are not kept.
func (w *writer) writeChartValues() {
	kept := map[string]any{}
	kind := cmp.Or(w.c.text("kind"), "CronJob")
	kept["kind"] = kind
	var unkept, unused []string
	for _, key := range slices.Sorted(maps.Keys(w.c.doc.values)) {
		var value any
		if json.Unmarshal(w.c.doc.values[key], &value) != nil || isEmpty(value) {
			continue
		}
		known, ok := chartCounterparts[key]
		switch {
		case ofKind[key] != "" && ofKind[key] != kind:
			unused = append(unused, key)
		case !ok:
			unkept = append(unkept, key)
		case key == "cmdOptions":
			w.writeFlags(value)
		case known.remark != "":
			w.chartNote(key, known.remark)
		case known.to == "":
		case nestedKeys[key] != nil:
			unkept = append(unkept, keepNested(kept, key, value)...)
		default:
			keep(kept, known.to, value)
		}
	}
	if len(unused) > 0 {
		w.chartNote(strings.Join(unused, ", "), "no effect with kind "+kind+", so not kept")
	}
	if len(unkept) > 0 {
		w.chartNote(strings.Join(unkept, ", "), "not kept: Evenkeel's chart has no such value, or another one that its defaults suit")
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		b, err := yaml.Marshal(map[string]any{key: kept[key]})
		if err != nil {
			panic("descheduler: writing values: " + err.Error()) // cannot happen: the values come from YAML
		}
		w.out.Write(b)
	}
}

// flagRemarks say what replaces a flag of the descheduler. Evenkeel has other flags than these, too.
var flagRemarks = map[string]string{
	"dry-run": "is config.dryRun, which is true in any case",
	"feature-gates": "not kept: Evenkeel needs no feature gate. It follows an eviction that continues in the background, such as a live " +
		"migration, until the pod is gone (config.evictor.background)",
	"client-connection-qps":   "not kept: config.evictor.perMinute limits the evictions",
	"client-connection-burst": "not kept: config.evictor.perMinute limits the evictions",
}

// writeFlags writes comments about the flags of the descheduler.
func (w *writer) writeFlags(value any) {
	flags, _ := value.(map[string]any)
	var others []string
	for _, f := range slices.Sorted(maps.Keys(flags)) {
		if remark := flagRemarks[f]; remark != "" {
			w.chartNote("cmdOptions."+f, remark)
			continue
		}
		others = append(others, "cmdOptions."+f)
	}
	if len(others) > 0 {
		w.chartNote(strings.Join(others, ", "), "not kept: Evenkeel has other flags")
	}
}

// chartNote writes a comment about a value of the chart, and records it.
func (w *writer) chartNote(key, text string) {
	n := Note{Field: key, Text: text}
	w.chartNotes = append(w.chartNotes, n)
	w.comment("", n.String())
}

// keep sets a value at a path with at most one dot.
func keep(kept map[string]any, path string, value any) {
	key, field, nested := strings.Cut(path, ".")
	if !nested {
		kept[key] = value
		return
	}
	if kept[key] == nil {
		kept[key] = map[string]any{}
	}
	kept[key].(map[string]any)[field] = value
}

// keepNested keeps some keys of a value, and returns the paths of the others that are set.
func keepNested(kept map[string]any, key string, value any) (unkept []string) {
	fields, ok := value.(map[string]any)
	if !ok {
		return []string{key}
	}
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case slices.Contains(nestedKeys[key], f):
			keep(kept, key+"."+f, fields[f])
		case !isEmpty(fields[f]):
			unkept = append(unkept, fmt.Sprintf("%s.%s", key, f))
		}
	}
	return unkept
}

// isEmpty reports whether a value is not set: null, "" and empty lists and maps.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(x any) bool { return !isEmpty(x) })
	}
	return false
}
