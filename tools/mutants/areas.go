package main

import (
	"path"
	"path/filepath"
	"strings"
)

// Area is a part of the safety core.
type Area struct {
	Name string
	// Files are patterns of path.Match, relative to the root of the module.
	Files []string
	// Tests are the packages whose tests judge a mutant, after the tests of its own package. The quickest come first.
	Tests []string
}

// SafetyCore lists the parts that decide which pods are evicted, and when.
var SafetyCore = []Area{
	{"guards", []string{"planner/eligibility/*.go", "planner/eligibility/guard/*.go"}, planned},
	{"budgets", []string{"planner/eligibility/budget/*.go"}, planned},
	{"limits", []string{"planner/limits/*.go"}, planned},
	{"waves", []string{"planner/search/wave*.go"}, planned},
	{"recheck", []string{"planner/recheck*.go"}, planned},
	{"evictor", []string{"evictor/*.go"}, executed},
	{"controller", []string{"controller/*.go", "controller/leader/*.go"}, executed},
	{"state", []string{"controller/state/*.go", "planner/history/*.go", "planner/breaker/*.go"}, executed},
	{"hints", []string{"hints/*.go", "hints/*/*.go"}, executed},
}

var (
	planned  = []string{"./planner", "./controller", "./verify/planverifier", "./cmd/evenkeel"}
	executed = []string{"./controller/...", "./hints/...", "./cmd/evenkeel/releasecommand", "./cmd/evenkeel"}
)

// sourceFiles returns the files of the area without tests, sorted by pattern and name.
func (a Area) sourceFiles() (files []string, err error) {
	for _, pattern := range a.Files {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !strings.HasSuffix(f, "_test.go") {
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// tests returns the packages whose tests judge a mutant of the file, in the order in which they run.
func (a Area) tests(file string) []string {
	return append([]string{"./" + path.Dir(file)}, a.Tests...)
}
