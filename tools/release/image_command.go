package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

func runImage(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	version := f.String("version", "", "version and tag (default: the chart's appVersion)")
	folder := f.String("o", "", "folder for the image, as an OCI image layout")
	push := f.String("push", "", "push the image to this REGISTRY/NAME, under the version as its tag")
	untagged := f.Bool("untagged", false, "push without a tag; the command tag sets it later")
	replace := f.Bool("replace", false, "push even if the tag is that of another image")
	imageName := f.String("name", "", "name that containerd gives the image if it imports the layout (default: that of -push)")
	if err := parse(f, args); err != nil {
		return err
	}
	if *folder == "" {
		return fmt.Errorf("image: -o is required")
	}
	if given(f, "push") {
		if *push == "" {
			return errors.New("-push is empty: set PUSH=REGISTRY/NAME (if you wrote PUSH=$IMAGE, your shell has no variable IMAGE)")
		}
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
	return pushImage(ctx, *folder, pushTo{repository: *push, version: s.Version, untagged: *untagged, replace: *replace})
}

// pushTo says where an image is pushed to.
type pushTo struct {
	repository, version string
	untagged, replace   bool
}

// pushImage pushes the image in a folder and prints its name with the digest.
func pushImage(ctx context.Context, folder string, to pushTo) error {
	repository, err := image.Repository(to.repository)
	if err != nil {
		return err
	}
	index, err := image.Read(folder)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if !to.untagged && !to.replace {
		if err := image.CheckTag(ctx, repository.Digest(digest.String()), to.version); err != nil {
			return err
		}
	}
	pushed, err := image.Push(ctx, repository, index)
	if err != nil {
		return err
	}
	if !to.untagged {
		if err := image.Tag(ctx, pushed, to.version); err != nil {
			return err
		}
	}
	progress("pushed %s, and read it back: it is valid", pushed)
	fmt.Println(pushed)
	return nil
}

// runTag sets the tag of an image that was pushed without one.
func runTag(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("tag", flag.ContinueOnError)
	imageName := f.String("image", "", "image (REGISTRY/NAME@sha256:...), which was pushed before")
	version := f.String("version", "", "version, which becomes the tag")
	replace := f.Bool("replace", false, "set the tag even if it is that of another image")
	if err := parse(f, args); err != nil {
		return err
	}
	digest, err := name.NewDigest(*imageName, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("-image: want REGISTRY/NAME@sha256:...: %w", err)
	}
	if *version == "" {
		return errors.New("tag: -version is required")
	}
	if !*replace {
		if err := image.CheckTag(ctx, digest, *version); err != nil {
			return err
		}
	}
	return image.Tag(ctx, digest, *version)
}
