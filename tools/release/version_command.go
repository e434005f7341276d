package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// runVersion prints the version of a tag, such as 0.1.0 of v0.1.0. It fails if the chart has another version.
func runVersion(_ context.Context, args []string) error {
	f := flag.NewFlagSet("version", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	tag := f.String("tag", "", "tag of the release, such as v0.1.0")
	if err := parse(f, args); err != nil {
		return err
	}
	version, err := source.OfTag(*root, *tag)
	if err != nil {
		return err
	}
	fmt.Println(version)
	return nil
}
