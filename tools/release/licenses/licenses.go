// Package licenses collects the license texts and notices of everything that is linked into the program. It copies
// texts and does not interpret them.
package licenses

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
)

// File is a text for the folder of licenses.
type File struct {
	Path string // relative, with slashes, such as k8s.io/api/LICENSE
	Data []byte
}

// Module is a linked module with its texts.
type Module struct {
	Path, Version string
	Files         []File // paths are relative to the folder of the module
}

// textName matches the names of files that a copy of the code must be accompanied by.
var textName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|authors)([.-].*)?$`)

// goListPackage is the part of the output of go list that matters here.
type goListPackage struct {
	Dir      string
	Standard bool
	Module   *struct{ Path, Version, Dir string }
}

// OfProgram returns the modules that are linked into the program on at least one of the platforms, the
// program's own module first. A module may contain code of others in subfolders; the texts beside linked
// packages belong to it, too.
func OfProgram(ctx context.Context, root string, platforms []gobuild.Platform) ([]Module, error) {
	modules, dirs := map[string]Module{}, map[string]string{}
	folders := map[string]map[string]bool{} // of linked packages and their parents, per module
	own := ""
	for _, p := range platforms {
		packages, err := listPackages(ctx, root, p)
		if err != nil {
			return nil, err
		}
		for _, pkg := range packages {
			if pkg.Standard || pkg.Module == nil {
				continue
			}
			m := pkg.Module
			modules[m.Path], dirs[m.Path] = Module{Path: m.Path, Version: m.Version}, m.Dir
			if folders[m.Path] == nil {
				folders[m.Path] = map[string]bool{}
			}
			addParents(folders[m.Path], pkg.Dir, m.Dir)
			if m.Version == "" {
				own = m.Path
			}
		}
	}
	var out []Module
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		for folder := range folders[name] {
			files, err := readTexts(dirs[name], folder)
			if err != nil {
				return nil, err
			}
			m.Files = append(m.Files, files...)
		}
		slices.SortFunc(m.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b Module) int { return cmp.Compare(rank(a.Path, own), rank(b.Path, own)) })
	return out, checkAll(out)
}

func rank(name, own string) int {
	if name == own {
		return 0
	}
	return 1
}

// OfModule returns the texts in the main folder of one module that the module in a folder requires.
func OfModule(ctx context.Context, dir, name string) (Module, error) {
	out, err := goCommand(ctx, dir, nil, "list", "-m", "-json", name)
	if err != nil {
		return Module{}, err
	}
	var m struct{ Path, Version, Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return Module{}, err
	}
	files, err := readTexts(m.Dir, m.Dir)
	if err != nil {
		return Module{}, err
	}
	module := Module{Path: m.Path, Version: m.Version, Files: files}
	return module, checkAll([]Module{module})
}

// OfGo returns the texts of the Go distribution, whose standard library is part of the program.
func OfGo(ctx context.Context, root string) (Module, error) {
	out, err := goCommand(ctx, root, nil, "env", "-json", "GOROOT", "GOVERSION")
	if err != nil {
		return Module{}, err
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal(out, &env); err != nil {
		return Module{}, err
	}
	files, err := readTexts(env.GOROOT, env.GOROOT)
	if err != nil {
		return Module{}, err
	}
	module := Module{Path: "go", Version: env.GOVERSION, Files: files}
	return module, checkAll([]Module{module})
}

// checkAll returns an error that names the modules without a license text.
func checkAll(modules []Module) error {
	var errs []error
	for _, m := range modules {
		if !slices.ContainsFunc(m.Files, func(f File) bool { return isLicense(f.Path) }) {
			errs = append(errs, fmt.Errorf("module %s %s has no license text in its main folder; it must not be distributed without one", m.Path, m.Version))
		}
	}
	return errors.Join(errs...)
}

// isLicense reports whether a path names a license text in the main folder of a module.
func isLicense(name string) bool {
	lower := strings.ToLower(name)
	return !strings.Contains(name, "/") && (strings.HasPrefix(lower, "licen") || strings.HasPrefix(lower, "copying"))
}

// Folder returns the content of the folder of licenses: the texts of each module in a folder of its name, and
// the file MODULES, which lists the modules with their versions.
func Folder(modules []Module) []File {
	var out []File
	var list bytes.Buffer
	list.WriteString("The program contains code of these modules, and this folder has their licenses and notices.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&list, "%s\n", strings.TrimSpace(m.Path+" "+m.Version))
		for _, f := range m.Files {
			out = append(out, File{Path: path.Join(m.Path, f.Path), Data: f.Data})
		}
	}
	out = append(out, File{Path: "MODULES", Data: list.Bytes()})
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// addParents adds a folder and its parents up to the main folder of the module.
func addParents(to map[string]bool, folder, main string) {
	for to[main] = true; strings.HasPrefix(folder, main+string(filepath.Separator)); folder = filepath.Dir(folder) {
		to[folder] = true
	}
}

// readTexts returns the licenses and notices that a folder of a module contains itself.
func readTexts(module, folder string) ([]File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, e := range entries {
		if e.IsDir() || !textName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		file := filepath.Join(folder, e.Name())
		data, err1 := os.ReadFile(file)
		name, err2 := filepath.Rel(module, file)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		out = append(out, File{Path: filepath.ToSlash(name), Data: data})
	}
	return out, nil
}

func listPackages(ctx context.Context, root string, p gobuild.Platform) ([]goListPackage, error) {
	env := []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch, "CGO_ENABLED=0"}
	out, err := goCommand(ctx, root, env, "list", "-deps", "-json=Dir,Standard,Module", gobuild.Package)
	if err != nil {
		return nil, err
	}
	var packages []goListPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg goListPackage
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		packages = append(packages, pkg)
	}
}

func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off"), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// CopyOwn copies the license and the notice of Evenkeel itself from the repository in root to a folder.
func CopyOwn(root, folder string) error {
	for _, name := range []string{"LICENSE", "NOTICE"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
