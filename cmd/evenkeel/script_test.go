package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Most rows of TestBadInput only wait for a server, so many can run in parallel.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"evenkeel": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }})
}

// TestScripts runs the program as a user would; each script covers one command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir) // hides the kubeconfig of the user who runs the tests
			for _, name := range []string{"three-zones.yaml", "busy-node.yaml", "by-load.yaml", "modes.yaml"} {
				text, err := os.ReadFile("../../examples/" + name)
				if err != nil {
					return err
				}
				if err := os.WriteFile(e.WorkDir+"/"+name, text, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
