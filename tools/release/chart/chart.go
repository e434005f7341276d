// Package chart copies the chart of the source tree for a package.
//
// The copy has the license texts, because people get it without the repository. The copy for a release names the image
// of the release, which the source tree cannot know. The package decides nothing else: templates stay as they are.
package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
)

// Copy copies the chart of the repository in root to a new folder. An image, REGISTRY/NAME@sha256:..., becomes the
// default of the chart's values; with the empty image, users must name one.
func Copy(root, folder, image string) error {
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "charts", "evenkeel"))); err != nil {
		return err
	}
	if err := licenses.CopyOwn(root, folder); err != nil {
		return err
	}
	if image == "" {
		return nil
	}
	digest, err := name.NewDigest(image, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("image %s: %w (want REGISTRY/NAME@sha256:...)", image, err)
	}
	for _, r := range replacements(digest) {
		if err := r.apply(folder); err != nil {
			return err
		}
	}
	return nil
}

// replacement replaces a text that a file contains once.
type replacement struct{ file, old, new string }

// replacements name the image in the values and their documentation, and for Artifact Hub. The templates take the
// digest from an annotation, so that it does not hold for an image that a user names.
func replacements(image name.Digest) []replacement {
	registry, repository := image.Context().RegistryStr(), image.Context().RepositoryStr()
	return []replacement{
		{"values.yaml", "\n  registry: \"\"\n", fmt.Sprintf("\n  registry: %q\n", registry)},
		{"values.yaml", "\n  repository: \"\"\n", fmt.Sprintf("\n  repository: %q\n", repository)},
		{"README.md", "| `image.registry` | `\"\"` |", fmt.Sprintf("| `image.registry` | `%q` |", registry)},
		{"README.md", "| `image.repository` | `\"\"` |", fmt.Sprintf("| `image.repository` | `%q` |", repository)},
		{"README.md", " charts/evenkeel --namespace evenkeel --create-namespace --set image.repository=$IMAGE\n",
			" CHART --namespace evenkeel --create-namespace\n"},
		{"Chart.yaml", "  # A release adds artifacthub.io/images.\n", fmt.Sprintf(
			"  evenkeel.io/image: %s\n  artifacthub.io/images: |\n    - name: evenkeel\n      image: %[1]s\n", image)},
	}
}

func (r replacement) apply(folder string) error {
	path := filepath.Join(folder, r.file)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(data), r.old); n != 1 {
		return fmt.Errorf("%s contains %q %d times, want once", path, r.old, n)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), r.old, r.new, 1)), 0o644)
}
