package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/evenkeel-project/evenkeel/tools/release/archives"
	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// placeholder is the image in the folder deploy. The test of that folder has the same name.
const placeholder = "registry.example.invalid/evenkeel"

func runManifests(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("manifests", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	image := f.String("image", "", "REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG")
	folder := f.String("o", "", "folder for the manifests")
	if err := parse(f, args); err != nil {
		return err
	}
	if *folder == "" || *image == "" {
		return errors.New("manifests: -image and -o are required")
	}
	if _, err := name.ParseReference(*image, name.StrictValidation); err != nil {
		return fmt.Errorf("-image: %w (want REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG)", err)
	}
	if err := copyManifests(filepath.Join(*root, "deploy"), *folder, *image); err != nil {
		return err
	}
	if err := licenses.CopyOwn(*root, filepath.Join(*folder, "kustomize")); err != nil {
		return err
	}
	s, err := source.Read(ctx, *root, "")
	if err != nil {
		return err
	}
	data, err := archives.OfFolder(*folder, "kustomize", s.Time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(*folder, "kustomize.tar.gz"), data, 0o644)
}

// copyManifests copies a folder of manifests and replaces the image in them. A file that names the placeholder
// elsewhere is an error.
func copyManifests(from, to, image string) error {
	replaced := 0
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, n := replaceImage(string(data), image)
		replaced += n
		if strings.Contains(text, placeholder) {
			return fmt.Errorf("%s still names %s, in a line that does not begin with image:", path, placeholder)
		}
		target := filepath.Join(to, relative)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, []byte(text), 0o644)
	})
	if err == nil && replaced == 0 {
		err = fmt.Errorf("%s names the image %s nowhere", from, placeholder)
	}
	return err
}

// replaceImage replaces the placeholder, with its tag, in the lines that name an image.
func replaceImage(text, image string) (out string, replaced int) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		key, value, found := strings.Cut(line, "image: ")
		if found && strings.HasPrefix(strings.Trim(value, "\"\n"), placeholder) {
			lines[i] = key + "image: " + image + "\n"
			replaced++
		}
	}
	return strings.Join(lines, ""), replaced
}
