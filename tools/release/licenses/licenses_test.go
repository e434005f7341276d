package licenses

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
)

const root = "../../.."

// permitted are phrases of the licenses under which code may be linked into the program: Apache 2.0, MIT, BSD, ISC.
var permitted = []string{
	"Apache License Version 2.0", "www.apache.org/licenses/LICENSE-2.0",
	"Permission is hereby granted, free of charge", "Redistribution and use in source and binary forms",
	"Permission to use, copy, modify, and/or distribute this software",
}

var platforms = []gobuild.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"},
	{OS: "windows", Arch: "amd64"}}

// linked returns the modules of the program. It asks the go command once for all tests.
var linked = sync.OnceValues(func() ([]Module, error) { return OfProgram(context.Background(), root, platforms) })

// TestEveryLinkedModuleHasALicense compares with the modules that go.mod requires: what is linked is among them.
func TestEveryLinkedModuleHasALicense(t *testing.T) {
	modules, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if modules[0].Path != "github.com/evenkeel-project/evenkeel" {
		t.Errorf("the first module is %s, want the program's own", modules[0].Path)
	}
	for _, m := range modules {
		if m.Version != "" && !strings.Contains(string(goMod), "\t"+m.Path+" "+m.Version) {
			t.Errorf("go.mod does not require %s %s", m.Path, m.Version)
		}
		var texts []string
		for _, f := range m.Files {
			if isLicense(f.Path) {
				texts = append(texts, strings.Join(strings.Fields(string(f.Data)), " "))
			}
		}
		for _, phrase := range permitted {
			texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(text, phrase) })
		}
		for _, text := range texts {
			t.Errorf("module %s has a license that is not among the permitted ones; if it may be linked, add it to this test: %.200s", m.Path, text)
		}
	}
}

// TestNoticesAndTextsInSubfolders checks texts that Apache 2.0 section 4 asks for, and licenses of code that a
// module copied from others.
func TestNoticesAndTextsInSubfolders(t *testing.T) {
	modules, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	language, err := OfGo(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	folder := Folder(append(modules, language))
	text := func(name string) string {
		i := slices.IndexFunc(folder, func(f File) bool { return f.Path == name })
		if i < 0 {
			t.Errorf("the folder lacks %s", name)
			return ""
		}
		return string(folder[i].Data)
	}
	for name, want := range map[string]string{
		"github.com/evenkeel-project/evenkeel/LICENSE":          "Apache License",
		"github.com/evenkeel-project/evenkeel/NOTICE":           "The Evenkeel Authors",
		"github.com/prometheus/client_golang/NOTICE":            "Prometheus",
		"k8s.io/apimachinery/third_party/forked/golang/LICENSE": "The Go Authors",
		"go/LICENSE": "The Go Authors",
		"MODULES":    "\nk8s.io/client-go v",
	} {
		if got := text(name); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
	if !slices.IsSortedFunc(folder, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the folder is not sorted")
	}
	goVersion := regexp.MustCompile(`(?m)^go go1\.\d+`)
	if !goVersion.MatchString(text("MODULES")) {
		t.Error("MODULES lacks the version of Go")
	}
}

func TestAModuleWithoutALicense(t *testing.T) {
	err := checkAll([]Module{{Path: "a.example/x", Version: "v1.0.0", Files: []File{{Path: "NOTICE"}, {Path: "sub/LICENSE"}}},
		{Path: "b.example/y", Files: []File{{Path: "COPYING"}}}})
	const want = "module a.example/x v1.0.0 has no license text in its main folder; it must not be distributed without one"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
