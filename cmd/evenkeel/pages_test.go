package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

var (
	shBlock    = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	// programCall is a call of evenkeel, until the shell's next command.
	programCall = regexp.MustCompile(`(?:^ *|[|&;!({] *)(?:bin/)?evenkeel( [a-z-][^|;&>#)]*)`)
	quoted      = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// TestPagesNameCommands checks that each command of evenkeel in sh blocks and in inline code of the documentation
// exists, with its flags, and in sh blocks also with its arguments.
func TestPagesNameCommands(t *testing.T) {
	calls := 0
	for _, page := range pagesWithCommands(t) {
		text := string(must.Get(os.ReadFile(page))(t))
		check := func(code string, whole bool) {
			for _, m := range programCall.FindAllStringSubmatch(code, -1) {
				calls++
				if err := checkCall(strings.Fields(quoted.ReplaceAllString(m[1], "TEXT")), whole); err != nil {
					t.Errorf("%s: evenkeel%s: %v", page, m[1], err)
				}
			}
		}
		for _, m := range shBlock.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
				check(line, true)
			}
		}
		for _, m := range inlineCode.FindAllStringSubmatch(shBlock.ReplaceAllString(text, ""), -1) {
			check(m[1], false)
		}
	}
	if calls < 200 {
		t.Errorf("found %d calls, so the search does not work", calls)
	}
}

// checkCall parses the words of a call. If the call is not whole, it may lack arguments.
func checkCall(words []string, whole bool) error {
	c, rest, err := newRoot(&globalFlags{}).Find(words)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	switch args := c.Flags().Args(); {
	case c.HasSubCommands() && len(args) > 0:
		return fmt.Errorf("%s has no command %s", c.CommandPath(), args[0])
	case whole:
		return c.ValidateArgs(args)
	}
	return nil
}

// pagesWithCommands returns README.md, and all pages of docs, deploy and the chart.
func pagesWithCommands(t *testing.T) []string {
	t.Helper()
	const root = "../.."
	pages := []string{root + "/README.md", root + "/CONTRIBUTING.md", root + "/charts/evenkeel/README.md", root + "/examples/README.md"}
	for _, dir := range []string{"docs", "deploy"} {
		must.Succeed(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasSuffix(path, ".md"):
				pages = append(pages, path)
			}
			return nil
		}))
	}
	return pages
}
