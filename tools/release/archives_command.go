package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel-project/evenkeel/tools/release/archives"
	"github.com/evenkeel-project/evenkeel/tools/release/checksums"
	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/sbom"
	"github.com/evenkeel-project/evenkeel/tools/release/sign"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

func runArchives(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("archives", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	version := f.String("version", "", "version (default: the chart's appVersion)")
	folder := f.String("o", "", "folder for the archives, the manifest for krew, and checksums of all files of the folder")
	tool := f.String("sbom", "", "path of cyclonedx-gomod; writes the SBOM of the program in each archive")
	if err := parse(f, args); err != nil {
		return err
	}
	if *folder == "" {
		return fmt.Errorf("archives: -o is required")
	}
	s, err := source.Read(ctx, *root, *version)
	if err != nil {
		return err
	}
	if s.Dirty() {
		progress("warning: the folder has changes that are not committed; the revision of the program ends in -dirty")
	}
	written, err := archives.Write(ctx, s, *folder)
	if err != nil {
		return err
	}
	if *tool != "" {
		if err := writeSBOMs(ctx, s, *tool, *folder, written); err != nil {
			return err
		}
	}
	manifest, err := archives.Krew(s, written)
	if err != nil {
		return err
	}
	for _, a := range written {
		fmt.Println(filepath.Join(*folder, a.Name))
	}
	if err := os.WriteFile(filepath.Join(*folder, "evenkeel.yaml"), manifest, 0o644); err != nil {
		return err
	}
	return checksums.Write(*folder, sign.Suffix)
}

// writeSBOMs writes the SBOM of the program in each archive.
func writeSBOMs(ctx context.Context, s source.Source, tool, folder string, written []archives.Archive) error {
	for _, a := range written {
		binary, err := gobuild.Build(ctx, s, a.Platform)
		if err != nil {
			return err
		}
		document, err := sbom.Of(ctx, tool, binary, s.Version, s.Time)
		if err != nil {
			return fmt.Errorf("SBOM for %s: %w", a.Platform, err)
		}
		if err := os.WriteFile(filepath.Join(folder, a.SBOMName()), document, 0o644); err != nil {
			return err
		}
	}
	return nil
}
