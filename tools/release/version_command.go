package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// runVersion prints the version of a tag, such as 0.1.0 of v0.1.0. It fails if the chart has another version, or
// if files differ from the commit.
func runVersion(ctx context.Context, args []string) error {
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
	s, err := source.Read(ctx, *root, version)
	if err != nil {
		return err
	}
	if s.Dirty() || s.Revision == source.UnknownRevision {
		return fmt.Errorf("the revision is %s: a release needs a clone whose files are those of a commit", s.Revision)
	}
	fmt.Println(version)
	return nil
}

// runNotes prints the section of CHANGELOG.md about a version.
func runNotes(_ context.Context, args []string) error {
	f := flag.NewFlagSet("notes", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	version := f.String("version", "", "version of the release, such as 0.1.0")
	if err := parse(f, args); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(*root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, err := notes(string(text), *version)
	if err != nil {
		return err
	}
	fmt.Println(section)
	return nil
}

func notes(changelog, version string) (string, error) {
	_, section, found := strings.Cut("\n"+changelog, "\n## "+version+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if section = strings.TrimSpace(section); !found || section == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing about version %q; add a section of this name", version)
	}
	return section, nil
}
