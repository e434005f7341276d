package cluster_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const marker = "MARKER"

// fill sets every field below v: texts to the marker, lists and maps to one element. Types that contain themselves end.
func fill(v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *metav1.Time:
		x.Time = time.Unix(1, 0)
		return
	case *metav1.MicroTime:
		x.Time = time.Unix(1, 0)
		return
	case *resource.Quantity:
		*x = resource.MustParse("1")
		return
	case *metav1.FieldsV1:
		x.SetRawString(`{"f:` + marker + `":{}}`)
		return
	case *json.RawMessage:
		*x = json.RawMessage(`"` + marker + `"`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(marker)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"raw":"` + marker + `"}`))
			return
		}
		fill(v.Index(0), depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth)
		fill(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth)
			}
		}
	}
}

// markedPaths returns the paths of x, decoded JSON, whose text or key contains the marker.
func markedPaths(path string, x any) (paths []string) {
	switch x := x.(type) {
	case string:
		if strings.Contains(x, marker) {
			paths = append(paths, path)
		}
	case []any:
		for _, e := range x {
			paths = append(paths, markedPaths(path+"[]", e)...)
		}
	case map[string]any:
		for key, e := range x {
			if strings.Contains(key, marker) {
				key = "{}"
				paths = append(paths, path+".{}")
			}
			paths = append(paths, markedPaths(path+"."+key, e)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// TestRedactKeepsListedFieldsOnly fills every field of every kind with a marker. The fields whose text stays are those
// in testdata/redacted.txt; a new line there needs a decision that reads the field.
func TestRedactKeepsListedFieldsOnly(t *testing.T) {
	o := &cluster.Objects{}
	lists := reflect.ValueOf(o).Elem()
	kinds := 0
	for i := range lists.NumField() {
		if f := lists.Field(i); f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Pointer {
			fill(f, 12)
			kinds++
		}
	}
	if kinds < 25 {
		t.Errorf("%d kinds are filled", kinds)
	}
	redacted := cluster.Redact(o)
	texts, kept := 0, map[string]bool{}
	shared := regexp.MustCompile(`^.*\.(template|metadata|affinity|volumeClaimTemplates\[\])\.`) // parts that many kinds have
	for i := range lists.NumField() {
		field := lists.Type().Field(i)
		if field.Type.Kind() != reflect.Slice || field.Type.Elem().Kind() != reflect.Pointer {
			continue
		}
		for j, list := range []reflect.Value{lists.Field(i), reflect.ValueOf(redacted).Elem().Field(i)} {
			text := must.Get(json.Marshal(list.Index(0).Interface()))(t)
			var x any
			must.Succeed(t, json.Unmarshal(text, &x))
			paths := markedPaths(field.Type.Elem().Elem().Name(), x)
			if j == 0 {
				texts += len(paths)
				continue
			}
			for _, p := range paths {
				kept[shared.ReplaceAllString(p, "$1.")] = true
			}
		}
	}
	if texts < 1000 {
		t.Errorf("only %d texts are filled, so the search does not work", texts)
	}
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintln(&b, p)
	}
	golden.Equal(t, "testdata/redacted.txt", []byte(b.String()))
	for _, never := range []string{`\.message`, `\.env\b`, `\.command`, `\.args`, `annotations`, `\.addresses`, `flexVolume\.`, `nfs\.`,
		`volumeAttributes\b`, `options`, `IP\b.*podIP`, `managedFields`, `[Ss]ecretRef`, `localhostProfile`, `\.image$`} {
		if found := regexp.MustCompile(never).FindString(b.String()); found != "" {
			t.Errorf("a redacted snapshot keeps %s", found)
		}
	}
}
