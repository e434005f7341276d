package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// manDir is where `make man` wants the manual pages. The generator is part of a test, so that the program does not
// contain it.
var manDir = flag.String("man", "", "write the manual pages into this folder")

// documentedRoot returns the root command with its defaults outside a pod.
func documentedRoot(t *testing.T) *cobra.Command {
	t.Helper()
	t.Setenv("POD_NAMESPACE", "")
	root := newRoot(&globalFlags{syncTimeout: connectTimeout})
	root.DisableAutoGenTag = true
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		root.RemoveCommand(completion) // its texts are cobra's
	}
	return root
}

func eachCommand(c *cobra.Command, f func(c *cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, f)
	}
}

// TestReference compares docs/reference/cli with the commands. The flag -update writes it.
func TestReference(t *testing.T) {
	const dir = "../../docs/reference/cli"
	root := documentedRoot(t)
	if golden.Update() {
		must.Succeed(t, os.MkdirAll(dir, 0o755))
	}
	want := map[string]bool{}
	eachCommand(root, func(c *cobra.Command) {
		if c.Name() == "help" { // cobra's own
			return
		}
		name := pageName(c)
		want[name] = true
		golden.Equal(t, filepath.Join(dir, name), []byte(referencePage(c)))
	})
	pages := must.Get(os.ReadDir(dir))(t)
	for _, p := range pages {
		if !want[p.Name()] {
			t.Errorf("%s/%s is about no command; delete it", dir, p.Name())
		}
	}
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") + ".md" }

// referencePage returns the page of a command in docs/reference/cli.
func referencePage(c *cobra.Command) string {
	var b strings.Builder
	own, usage := commandline.OwnFlags(c), c.UseLine()
	if c.HasAvailableSubCommands() && !own.HasFlags() {
		usage = c.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n\n```text\n%s\n```\n", c.CommandPath(), c.Long, usage)
	if c.HasExample() {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(c.Example, "\n  ", "\n"), "  "))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n## Commands\n\n| command | purpose |\n|---|---|\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "| [`%s`](%s) | %s |\n", sub.CommandPath(), pageName(sub), sub.Short)
			}
		}
	}
	if c == c.Root() {
		return b.String() + "\n## Global options\n" + optionTable(c.PersistentFlags())
	}
	if own.HasFlags() {
		b.WriteString("\n## Options\n" + optionTable(own))
	}
	return b.String() + "\nThis command also accepts the [global options](evenkeel.md#global-options).\n"
}

// optionDefault is a default that the description of a flag contains.
var optionDefault = regexp.MustCompile(` \(default:? ([^()]*)\)$`)

// optionTable returns a table of flags. The description of a flag may contain its default.
func optionTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("\n| option | default | meaning |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		kind, meaning := pflag.UnquoteUsage(f)
		value := ""
		if f.Value.Type() == "string" && f.DefValue != "" || !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			value = "`" + f.DefValue + "`"
		}
		if m := optionDefault.FindStringSubmatch(meaning); m != nil {
			meaning, value = strings.TrimSuffix(meaning, m[0]), m[1]
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+kind), value, strings.ReplaceAll(meaning, "|", `\|`))
	})
	return b.String()
}

// TestManPages writes a manual page for each command.
func TestManPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	root := documentedRoot(t)
	date := time.Unix(0, 0).UTC() // the same pages from every build
	must.Succeed(t, doc.GenManTree(root, &doc.GenManHeader{Title: "EVENKEEL", Section: "1", Source: "Evenkeel", Manual: "Evenkeel", Date: &date}, dir))
	text, err := os.ReadFile(filepath.Join(dir, "evenkeel-explain-pod.1"))
	if err != nil || !bytes.Contains(text, []byte(".SH EXAMPLE")) {
		t.Errorf("the page of explain pod: %v\n%s", err, text)
	}
}

// TestHelpTexts checks the form of all help texts: a short text that begins with a verb and fits one line, a long text,
// an example of each command that does something, and lines of at most 100 columns.
func TestHelpTexts(t *testing.T) {
	root := documentedRoot(t)
	verbs := strings.Fields("Approve Ask Check Convert Discard End Execute Explain List Print Remove Report Run Show Stop Write Keep")
	eachCommand(root, func(c *cobra.Command) {
		verb := strings.TrimSuffix(strings.Fields(c.Short)[0], ",")
		if !slices.Contains(verbs, verb) || len(c.Short) > 70 || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: the short text %q does not begin with one of %s, is longer than 70 characters, or is a sentence", c.CommandPath(), c.Short, verbs)
		}
		if long := strings.Fields(c.Long + " ?")[0]; !slices.Contains(verbs, strings.TrimSuffix(long, ",")) {
			t.Errorf("%s: the long text does not begin with one of %s: %q", c.CommandPath(), verbs, c.Long)
		}
		if !c.HasAvailableSubCommands() && !strings.HasPrefix(c.Example, "  # ") {
			t.Errorf("%s has no example with a comment", c.CommandPath())
		}
		var help bytes.Buffer
		c.SetOut(&help)
		must.Succeed(t, c.Help())
		for line := range strings.Lines(help.String()) {
			if width := len([]rune(strings.TrimSuffix(line, "\n"))); width > 100 {
				t.Errorf("%s: a line of the help has %d columns: %s", c.CommandPath(), width, line)
			}
		}
	})
}
