package sbom

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestCompareModules(t *testing.T) {
	info := func(modules ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Deps: modules}
	}
	x1, x2 := &debug.Module{Path: "a.example/x", Version: "v1.0.0"}, &debug.Module{Path: "a.example/x", Version: "v1.0.1"}
	y := &debug.Module{Path: "a.example/y", Version: "v1.0.0"}
	replaced := &debug.Module{Path: "b.example/z", Version: "v0.0.0", Replace: y}
	older := info(x1)
	older.GoVersion = "go1.26.7"
	for name, c := range map[string]struct {
		a, b *debug.BuildInfo
		same bool
	}{
		"equal":                     {info(x1, y), info(x1, y), true},
		"equal after a replacement": {info(x1, y), info(x1, replaced), true},
		"another version":           {info(x1), info(x2), false},
		"one more":                  {info(x1), info(x1, y), false},
		"one less":                  {info(x1, y), info(x1), false},
		"another version of Go":     {info(x1), older, false},
	} {
		if err := compareModules(c.a, c.b); (err == nil) != c.same {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestCheckSameModulesReadsPrograms(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckSameModules(binary, binary); err != nil {
		t.Error(err)
	}
	if err := CheckSameModules(binary, []byte("text")); err == nil {
		t.Error("a text is accepted as a program")
	}
}
