package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
	"github.com/evenkeel-project/evenkeel/tools/release/sbom"
)

// runSBOM writes the SBOM of an image: of its program and its certificate authorities, and attaches it to the
// image in a registry.
func runSBOM(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("sbom", flag.ContinueOnError)
	folder := f.String("image", "", "folder of the image")
	tool := f.String("tool", "", "path of cyclonedx-gomod")
	out := f.String("o", "", "file for the SBOM")
	attach := f.String("attach", "", "attach the SBOM to this image (REGISTRY/NAME@sha256:...), which was pushed before")
	if err := parse(f, args); err != nil {
		return err
	}
	if *folder == "" || *tool == "" || *out == "" {
		return errors.New("sbom: -image, -tool and -o are required")
	}
	attachTo, err := pushedImage(*attach, *folder)
	if err != nil {
		return err
	}
	document, err := sbomOfImage(ctx, *tool, *folder)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, document, 0o644); err != nil {
		return err
	}
	fmt.Println(*out)
	if *attach == "" {
		return nil
	}
	attached, err := image.Attach(ctx, attachTo, sbom.MediaType, document)
	if err != nil {
		return err
	}
	fmt.Println(attached)
	return nil
}

// pushedImage parses the name of the pushed image, which may be empty. An image with another digest than that in the
// folder is an error, because the SBOM would be that of another program.
func pushedImage(text, folder string) (name.Digest, error) {
	if text == "" {
		return name.Digest{}, nil
	}
	pushed, err := name.NewDigest(text, name.StrictValidation)
	if err != nil {
		return name.Digest{}, fmt.Errorf("-attach: want REGISTRY/NAME@sha256:...: %w", err)
	}
	index, err := image.Read(folder)
	if err != nil {
		return name.Digest{}, err
	}
	local, err := index.Digest()
	if err != nil {
		return name.Digest{}, err
	}
	if pushed.DigestStr() != local.String() {
		return name.Digest{}, fmt.Errorf("-attach: %s is not the image in %s, whose digest is %s", pushed, folder, local)
	}
	return pushed, nil
}

// sbomOfImage returns one SBOM for all platforms of the image, with the module of the certificate authorities. It
// is an error if their programs link other modules.
func sbomOfImage(ctx context.Context, tool, folder string) ([]byte, error) {
	first, about, err := image.Program(folder, image.Platforms[0])
	if err != nil {
		return nil, err
	}
	for _, p := range image.Platforms[1:] {
		other, _, err := image.Program(folder, p)
		if err != nil {
			return nil, err
		}
		if err := sbom.CheckSameModules(first, other); err != nil {
			return nil, fmt.Errorf("the SBOM of %s does not fit %s: %w", image.Platforms[0], p, err)
		}
	}
	const prefix = "org.opencontainers.image."
	created, err := time.Parse(time.RFC3339, about[prefix+"created"])
	if err != nil {
		return nil, fmt.Errorf("the time of the image: %w", err)
	}
	version, err := image.AuthoritiesVersion(folder, image.Platforms[0])
	if err != nil {
		return nil, err
	}
	return sbom.Of(ctx, tool, first, about[prefix+"version"], created, sbom.Module{Path: image.AuthoritiesModule, Version: version,
		Description: "certificate authorities in /etc/ssl/certs of the image, which are not linked into the program"})
}
