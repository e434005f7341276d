package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

func runImage(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	version := f.String("version", "", "version and tag (default: the chart's appVersion)")
	folder := f.String("o", "", "folder for the image, as an OCI image layout")
	push := f.String("push", "", "push the image to this REGISTRY/NAME, under the version as its tag")
	imageName := f.String("name", "", "name that containerd gives the image if it imports the layout (default: that of -push)")
	if err := parse(f, args); err != nil {
		return err
	}
	if *folder == "" {
		return fmt.Errorf("image: -o is required")
	}
	if *push != "" {
		if _, err := image.Repository(*push); err != nil {
			return fmt.Errorf("-push: %w", err)
		}
		if *imageName == "" {
			*imageName = *push
		}
	}
	s, err := source.Read(ctx, *root, *version)
	if err != nil {
		return err
	}
	if s.Dirty() {
		progress("warning: the folder has changes that are not committed; the revision of the image ends in -dirty")
	}
	progress("building evenkeel %s of %s for %v", s.Version, s.Revision, image.Platforms)
	index, err := image.Build(ctx, s)
	if err != nil {
		return err
	}
	if err := image.Write(*folder, index, s.Version, *imageName); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	progress("%s is valid", *folder)
	if *push == "" {
		fmt.Println(digest)
		return nil
	}
	return pushImage(ctx, *push, *folder, s.Version)
}

// pushImage pushes the image in a folder and prints its name with the digest.
func pushImage(ctx context.Context, to, folder, version string) error {
	repository, err := image.Repository(to)
	if err != nil {
		return err
	}
	index, err := image.Read(folder)
	if err != nil {
		return err
	}
	pushed, err := image.Push(ctx, repository, index, version)
	if err != nil {
		return err
	}
	progress("pushed %s, and read it back: it is valid", repository.Tag(version))
	fmt.Println(pushed)
	return nil
}
