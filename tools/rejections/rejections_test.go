package main

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/tools/cover"
)

const toySource = `package toy

import "example/plan"

var table = []any{plan.TooYoung, func(n int) (string, bool) {
	if n < 0 {
		return "the pod is too young", true
	}
	return "the pod is old", n > 9
}}

func check(n int) (plan.Reason, bool) {
	if n == 1 {
		return plan.Reason{Code: plan.TooYoung}, true
	}
	if why := describe(n); why != "" {
		return plan.Reason{Code: plan.Other, Message: why}, n != 2
	}
	return plan.Reason{}, false
}

func describe(n int) string {
	if n == 2 {
		return "is suspended"
	}
	return ""
}

func isTooYoung(r plan.Reason) bool { return r.Code == plan.TooYoung }
`

func TestRejections(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	codes, err := reasonCodes(write("reason.go", `package plan

type Code string

const (
	TooYoung Code   = "TooYoung"
	Other    Code   = "Other"
	Kind     string = "Kind"
)
`))
	if err != nil || len(codes) != 2 {
		t.Fatalf("codes %v, error %v", codes, err)
	}
	all, err := rejectionsIn(write("toy.go", toySource), codes)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`toy.go:7: return "the pod is too young", true`,
		"toy.go:14: return plan.Reason{Code: plan.TooYoung}, true",
		`toy.go:24: return "is suspended"`,
	}
	if got := describeAll(all); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	profile := write("profile", "mode: set\n"+
		module+"toy.go:5.49,6.11 1 1\n"+module+"toy.go:6.11,8.3 1 0\n"+
		module+"toy.go:12.40,13.12 1 1\n"+module+"toy.go:13.12,15.3 1 1\n"+module+"toy.go:22.29,23.12 1 0\n")
	blocks, err := cover.ParseProfiles(profile)
	if err != nil {
		t.Fatal(err)
	}
	if got := describeAll(notExecuted(all, blocks)); !slices.Equal(got, []string{want[0], want[2]}) {
		t.Errorf("not executed: %q", got)
	}
}

func describeAll(all []rejection) (texts []string) {
	for _, r := range all {
		texts = append(texts, r.String())
	}
	return texts
}
