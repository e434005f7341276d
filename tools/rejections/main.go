// Command rejections lists the statements that refuse an eviction and that no unit test executes. It checks the guards,
// the budgets, the limits, the recheck of a wave, and the evictor's last checks before it sends an eviction.
//
// A rejection is a statement that contains a reason code of package plan or the text of a message, or that returns true
// after a reason. A return with a condition, such as "return message, n > 0", does not count: coverage does not tell
// whether the condition held. TestEveryGuardRefuses in package guard has a row for each rule.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/cover"
)

const module = "github.com/evenkeel-project/evenkeel/"

var (
	// files are patterns of path.Match, relative to the root of the module.
	files = []string{
		"planner/eligibility/*.go", "planner/eligibility/*/*.go", "planner/limits/*.go", "planner/recheck*.go",
		"evictor/access.go", "evictor/classify.go", "evictor/live.go", "evictor/send.go", "evictor/siblings.go",
		"evictor/throttle.go", "evictor/workload_turns.go", "controller/waves.go",
	}
	tests = []string{"./planner", "./planner/eligibility/...", "./planner/limits", "./evictor", "./controller"}
)

func main() {
	profile := flag.String("profile", "", "read this coverage profile instead of running the tests")
	flag.Parse()
	all, missing, err := run(*profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rejections:", err)
		os.Exit(1)
	}
	for _, r := range missing {
		fmt.Println("not executed:", r)
	}
	fmt.Printf("%d of %d rejections are executed by unit tests\n", all-len(missing), all)
	if len(missing) > 0 {
		os.Exit(1)
	}
}

// run returns the number of rejections, and those that no test executes.
func run(profile string) (int, []rejection, error) {
	codes, err := reasonCodes("plan/reason.go")
	if err != nil {
		return 0, nil, err
	}
	var all []rejection
	for _, pattern := range files {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return 0, nil, err
		}
		for _, file := range found {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			of, err := rejectionsIn(file, codes)
			if err != nil {
				return 0, nil, err
			}
			all = append(all, of...)
		}
	}
	if len(all) == 0 {
		return 0, nil, errors.New("no rejections; run the command in the root of the module")
	}
	if profile == "" {
		dir, err := os.MkdirTemp("", "rejections")
		if err != nil {
			return 0, nil, err
		}
		defer os.RemoveAll(dir)
		profile = filepath.Join(dir, "profile")
		if err := runTests(profile); err != nil {
			return 0, nil, err
		}
	}
	blocks, err := cover.ParseProfiles(profile)
	if err != nil {
		return 0, nil, err
	}
	return len(all), notExecuted(all, blocks), nil
}

func runTests(profile string) error {
	args := append([]string{"test", "-short", "-coverprofile", profile, "-coverpkg",
		"./planner,./planner/eligibility/...,./planner/limits,./evictor,./controller"}, tests...)
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// notExecuted returns the rejections whose block of the profile has the count 0, or that have no block.
func notExecuted(all []rejection, profiles []*cover.Profile) (missing []rejection) {
	blocks := map[string][]cover.ProfileBlock{}
	for _, p := range profiles {
		blocks[strings.TrimPrefix(p.FileName, module)] = p.Blocks
	}
	for _, r := range all {
		// Blocks contain the blocks of function literals, which start later.
		executed, line, col := false, 0, 0
		for _, b := range blocks[r.file] {
			starts := b.StartLine < r.line || b.StartLine == r.line && b.StartCol <= r.col
			ends := b.EndLine > r.line || b.EndLine == r.line && b.EndCol > r.col
			if starts && ends && (b.StartLine > line || b.StartLine == line && b.StartCol >= col) {
				executed, line, col = b.Count > 0, b.StartLine, b.StartCol
			}
		}
		if !executed {
			missing = append(missing, r)
		}
	}
	return missing
}
