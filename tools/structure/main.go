// Command structure measures how the code of the module in the current folder hangs together. Without arguments it
// prints a table of lines, types, methods and folders that import each other, and exits with code 1 if one is over its
// limit. With packages as arguments it measures how the files of each refer to each other. A file refers to
// another if it uses a name that the other declares. In the best order of files every reference
// points down, from a file to one below it; references that point up show where concepts are
// entangled. It prints a line per package:
//
//	package  files  lines  references  up  share
//
// With -v it also prints each reference that points up, with the names that cause it. It changes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	verbose := flag.Bool("v", false, "print the references that point up")
	flag.Parse()
	exceeded, err := run(flag.Args(), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
	}
	if exceeded || err != nil {
		os.Exit(1)
	}
}

func run(patterns []string, verbose bool) (exceeded bool, err error) {
	config := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule}
	countOnly := len(patterns) == 0
	if countOnly {
		patterns = []string{"./..."}
	}
	pkgs, err := packages.Load(config, patterns...)
	if err != nil {
		return false, fmt.Errorf("loading packages: %w", err)
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return false, fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
		}
	}
	if countOnly {
		return printCounts(pkgs)
	}
	for _, p := range pkgs {
		g := newGraph(p)
		up := g.pointingUp(g.bestOrder())
		share := 100 * float64(len(up)) / float64(max(1, len(g.names)))
		fmt.Printf("%-70s %3d %6d %5d %4d %4.0f %%\n", p.PkgPath, len(g.files), g.lines, len(g.names), len(up), share)
		if verbose {
			printReferences(g, up)
		}
	}
	return false, nil
}

func printReferences(g *graph, up []reference) {
	for _, r := range up {
		var names []string
		for name := range g.names[r] {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Printf("    %s uses %s: %s\n", g.files[r.from], g.files[r.to], strings.Join(names, ", "))
	}
}
