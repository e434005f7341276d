// Command release makes what a release consists of. Each part is a subcommand; `release image -h` lists its flags.
//
//	version   print the version of a tag, if it is that of the chart
//	notes     print the section of CHANGELOG.md about a version
//	image     build the container image, and push it
//	tag       set the tag of an image that was pushed without one
//	sbom      write the software bill of materials of the program in the image, and attach it to the pushed image
//	sign      sign the pushed image, files or a folder with a private key
//	archives  build the program for every platform, pack it, and write SBOMs, checksums and the manifest for krew
//	manifests copy the folder deploy with another image, and pack its kustomize bases
//	chart     pack the chart of helm
//	push-chart push the packed chart to a registry
//	registry  serve an empty container registry on this machine, to try an image out
//
// Progress goes to standard error. Standard output has the result only, such as the name of the pushed image.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// commands are the subcommands by name.
var commands = map[string]func(context.Context, []string) error{"image": runImage, "tag": runTag, "sbom": runSBOM,
	"sign": runSign, "archives": runArchives, "manifests": runManifests, "chart": runChart, "push-chart": runPushChart,
	"registry": runRegistry, "version": runVersion, "notes": runNotes}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		names := slices.Sorted(maps.Keys(commands))
		return errors.New("want a command: " + strings.Join(names, ", "))
	}
	return commands[args[0]](ctx, args[1:])
}

// parse parses the flags of a subcommand, which takes no other arguments.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s: unexpected argument %q", f.Name(), f.Arg(0))
	}
	return nil
}

// given reports whether the arguments contain a flag, which may be empty.
func given(f *flag.FlagSet, name string) (found bool) {
	f.Visit(func(set *flag.Flag) { found = found || set.Name == name })
	return found
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...) }
