// Command structure measures how the files of each package refer to each other. A file refers to
// another if it uses a name that the other declares. In the best order of files every reference
// points down, from a file to one below it; references that point up show where concepts are
// entangled. The command reads the module in the current folder and prints a line per package:
//
//	package  files  lines  references  up  share
//
// With -v it also prints each reference that points up, with the names that cause it. With -max N it exits with
// code 1 if more than N percent point up in a package of at least eight files. It changes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// minFiles is the number of files from which on -max applies to a package.
const minFiles = 8

func main() {
	verbose := flag.Bool("v", false, "print the references that point up")
	limit := flag.Float64("max", 100, "greatest share of references that may point up, in percent")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	exceeded, err := run(patterns, *verbose, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	if exceeded {
		os.Exit(1)
	}
}

func run(patterns []string, verbose bool, limit float64) (exceeded bool, err error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports}, patterns...)
	if err != nil {
		return false, fmt.Errorf("loading packages: %w", err)
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return false, fmt.Errorf("loading %s: %w", p.PkgPath, p.Errors[0])
		}
		g := newGraph(p)
		if len(g.files) == 0 {
			continue
		}
		order := g.bestOrder()
		up := g.pointingUp(order)
		share := 0.0
		if len(g.names) > 0 {
			share = 100 * float64(len(up)) / float64(len(g.names))
		}
		over := len(g.files) >= minFiles && share > limit
		exceeded = exceeded || over
		mark := ""
		if over {
			mark = "  over the limit"
		}
		fmt.Printf("%-70s %3d %6d %5d %4d %4.0f %%%s\n", p.PkgPath, len(g.files), g.lines, len(g.names), len(up), share, mark)
		if verbose {
			printReferences(g, up)
		}
	}
	return exceeded, nil
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
