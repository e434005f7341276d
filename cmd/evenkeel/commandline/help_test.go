package commandline_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestStarted(t *testing.T) {
	for path, want := range map[string]commandline.Program{
		"evenkeel":                            {},
		"/usr/bin/evenkeel":                   {},
		"/root/.krew/bin/kubectl-evenkeel":    {Plugin: true},
		"kubectl-evenkeel.exe":                {Plugin: true},
		"/usr/bin/kubectl_complete-evenkeel":  {Plugin: true, Completes: true},
		"/opt/kubectl-tools/evenkeel":         {},
		"kubectl_complete-evenkeel.exe":       {Plugin: true, Completes: true},
		"/usr/local/kubectl-evenkeel/program": {},
	} {
		if got := commandline.Started(path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "evenkeel", Long: "Run `evenkeel plan` first.", Args: cobra.NoArgs}
	root.PersistentFlags().String("server", "", "the server")
	plan := &cobra.Command{Use: "plan", Short: "Show a plan", Run: func(*cobra.Command, []string) {}, Long: "Show a plan.",
		Example: "  # Of evenkeel itself\n  evenkeel plan\n\n  # Of a snapshot\n  cat snapshot | evenkeel plan -f -"}
	plan.Flags().String("config", "", strings.Repeat("a long description ", 10))
	root.AddCommand(plan)
	return root
}

func help(t *testing.T, p commandline.Program, args ...string) string {
	t.Helper()
	root := newRoot()
	p.Configure(root)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append(args, "--help"))
	must.Succeed(t, root.Execute())
	return out.String()
}

func TestHelp(t *testing.T) {
	got := help(t, commandline.Program{}, "plan")
	for _, want := range []string{"Show a plan.\n\nExamples:\n  # Of evenkeel itself\n  evenkeel plan\n", "\nOptions:\n", "Usage:\n  evenkeel plan [flags]\n",
		`Use "evenkeel options" for the options of all commands.`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "--server") {
		t.Errorf("the help of plan lists flags of all commands:\n%s", got)
	}
	if wide := slices.IndexFunc(strings.Split(got, "\n"), func(l string) bool { return len(l) > 100 }); wide >= 0 {
		t.Errorf("line %d has more than 100 columns:\n%s", wide+1, got)
	}
	if got := help(t, commandline.Program{}); !strings.Contains(got, "  options      List the options") || !strings.Contains(got, "evenkeel COMMAND [flags]") {
		t.Errorf("the help of the program:\n%s", got)
	}
}

// TestPlugin checks that the help of a plugin names the commands that a person types.
func TestPlugin(t *testing.T) {
	got := help(t, commandline.Program{Plugin: true}, "plan")
	for _, want := range []string{"  # Of evenkeel itself\n  kubectl evenkeel plan\n", "| kubectl evenkeel plan -f -", "Usage:\n  kubectl evenkeel plan [flags]",
		`Use "kubectl evenkeel options"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := help(t, commandline.Program{Plugin: true}); !strings.Contains(got, "Run `kubectl evenkeel plan` first.") {
		t.Errorf("the help of the program:\n%s", got)
	}
}

// TestPluginCompletes checks the arguments with which kubectl starts the completion of a plugin.
func TestPluginCompletes(t *testing.T) {
	p := commandline.Started("kubectl_complete-evenkeel")
	root := newRoot()
	p.Configure(root)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(p.Arguments([]string{"pl"}))
	must.Succeed(t, root.Execute())
	if !strings.HasPrefix(out.String(), "plan\tShow a plan\n") {
		t.Errorf("completions: %q", out.String())
	}
}
