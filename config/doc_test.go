package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestEveryKeyIsDocumented checks that the reference has a row for each key, or for a key above it.
func TestEveryKeyIsDocumented(t *testing.T) {
	doc := must.Get(os.ReadFile("../docs/reference/config.md"))(t)
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		if strings.Contains(string(doc), "| `"+path+"` |") {
			return
		}
		switch {
		case typ == reflect.TypeFor[config.Strategies]():
			typ, path = typ.Elem(), path+".*"
		case typ.Kind() == reflect.Slice:
			typ, path = typ.Elem(), path+"[]"
		}
		if typ.Kind() != reflect.Struct || typ.NumField() == 0 || !typ.Field(0).IsExported() {
			t.Errorf("docs/reference/config.md has no row for %s", path)
			return
		}
		for i := range typ.NumField() {
			if !typ.Field(i).IsExported() {
				continue
			}
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "-" {
				walk(typ.Field(i).Type, strings.TrimPrefix(path+"."+name, "."))
			}
		}
	}
	walk(reflect.TypeFor[config.Config](), "")
}
