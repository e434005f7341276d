package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/evenkeel-project/evenkeel/tools/release/archives"
	"github.com/evenkeel-project/evenkeel/tools/release/chart"
	"github.com/evenkeel-project/evenkeel/tools/release/image"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

const chartName = "evenkeel"

// runChart packs a copy of the chart by `helm package`, and packs its files again with the time of the commit. helm
// writes the times of files, or its own.
func runChart(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("chart", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the repository")
	helm := f.String("helm", "", "path of helm")
	version := f.String("version", "", "version and appVersion (default: those of the chart)")
	image := f.String("image", "", "REGISTRY/NAME@sha256:..., the default image of the package (default: none; users must name one)")
	folder := f.String("o", "", "folder for the package")
	if err := parse(f, args); err != nil {
		return err
	}
	if *helm == "" || *folder == "" {
		return errors.New("chart: -helm and -o are required")
	}
	s, err := source.Read(ctx, *root, *version)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "evenkeel-chart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files := filepath.Join(dir, "chart", chartName)
	if err := chart.Copy(s.Root, files, *image); err != nil {
		return err
	}
	arguments := []string{"package", files, "--destination", dir}
	if *version != "" {
		arguments = append(arguments, "--version", s.Version, "--app-version", s.Version)
	}
	if out, err := exec.CommandContext(ctx, *helm, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("helm package: %w: %s", err, bytes.TrimSpace(out))
	}
	packed, err := filepath.Glob(filepath.Join(dir, chartName+"-*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("helm package wrote %v, want one package (%v)", packed, err)
	}
	data, err := os.ReadFile(packed[0])
	if err != nil {
		return err
	}
	if data, err = archives.Repack(data, s.Time); err != nil {
		return fmt.Errorf("reading the package of helm: %w", err)
	}
	out := filepath.Join(*folder, filepath.Base(packed[0]))
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return err
	}
	fmt.Println(out)
	// `helm push` records the time of the file.
	return os.Chtimes(out, s.Time, s.Time)
}

// runPushChart pushes the package by `helm push`, and prints its name with the digest. A package that the registry has
// already is not pushed again.
func runPushChart(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("push-chart", flag.ContinueOnError)
	helm := f.String("helm", "", "path of helm")
	file := f.String("chart", "", "package of the command chart")
	push := f.String("push", "", "push the package to this REGISTRY/FOLDER")
	replace := f.Bool("replace", false, "push even if the registry has another package of this version")
	if err := parse(f, args); err != nil {
		return err
	}
	version, isPackage := packageVersion(*file)
	if *helm == "" || !isPackage {
		return errors.New("push-chart: want -helm FILE and -chart " + chartName + "-VERSION.tgz")
	}
	folder, err := image.Repository(*push)
	if err != nil {
		return fmt.Errorf("-push: set PUSH=REGISTRY/FOLDER: %w", err)
	}
	tag := folder.Registry.Repo(folder.RepositoryStr(), chartName).Tag(version)
	if !*replace {
		digest, err := publishedChart(ctx, tag, *file)
		if err != nil {
			return err
		}
		if digest != "" {
			progress("the registry has this package already")
			fmt.Println(tag.Context().Digest(digest))
			return nil
		}
	}
	digest, err := pushByHelm(ctx, *helm, *file, *push)
	if err != nil {
		return err
	}
	fmt.Println(tag.Context().Digest(digest))
	return nil
}

// publishedChart returns the digest of the tag if it names the package, and nothing if there is no such tag. A tag of
// another package is an error.
func publishedChart(ctx context.Context, tag name.Tag, file string) (digest string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	before, err := image.Published(ctx, tag)
	if err != nil || before == nil {
		return "", err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(before.Manifest))
	if err != nil {
		return "", fmt.Errorf("reading the manifest of %s: %w", tag, err)
	}
	sum := sha256.Sum256(data)
	if len(manifest.Layers) == 1 && manifest.Layers[0].Digest.Hex == hex.EncodeToString(sum[:]) {
		return before.Digest.String(), nil
	}
	return "", fmt.Errorf("%s exists and is another package, %s; push another version, or replace that package with REPLACE=yes",
		tag, before.Digest)
}

// helmDigest matches the digest that `helm push` prints.
var helmDigest = regexp.MustCompile(`(?m)^Digest: (sha256:[0-9a-f]{64})$`)

func pushByHelm(ctx context.Context, helm, file, folder string) (digest string, err error) {
	arguments := []string{"push", file, "oci://" + folder}
	if strings.HasPrefix(folder, "localhost:") || strings.HasPrefix(folder, "127.0.0.1:") {
		arguments = append(arguments, "--plain-http")
	}
	out, err := exec.CommandContext(ctx, helm, arguments...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("helm push: %w: %s", err, bytes.TrimSpace(out))
	}
	match := helmDigest.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("helm push printed no digest: %s", out)
	}
	return string(match[1]), nil
}

// packageVersion returns the version in the name of a package.
func packageVersion(file string) (version string, ok bool) {
	version, ok1 := strings.CutPrefix(filepath.Base(file), chartName+"-")
	version, ok2 := strings.CutSuffix(version, ".tgz")
	return version, ok1 && ok2
}
