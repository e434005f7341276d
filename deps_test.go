package evenkeel_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

const module = "github.com/evenkeel-project/evenkeel"

// purePackages must depend only on their input: a saved snapshot must give the same plan on every machine at any time.
var purePackages = []string{"api", "cluster", "plan", "placement", "strategies", "planner", "impact", "report", "record", "hints", "usage",
	"controller/notify/message", "controller/schedule",
	"internal/cron", "internal/percent", "internal/plural", "internal/strict", "internal/suggest", "internal/terminal"}

// impurePackages lists the subpackages of pure packages that may call an API.
var impurePackages = []string{"hints/writer", "hints/reconciler", "usage/fetch", "usage/loadwatcher", "usage/metricsserver",
	"usage/monitor", "usage/prometheus", "usage/promql"}

func isPurePackage(pkg string) bool {
	in := func(p string) bool { return hasPathPrefix(pkg, p) }
	return slices.ContainsFunc(purePackages, in) && !slices.ContainsFunc(impurePackages, in)
}

// allowedLibraries are the libraries that pure packages may import, besides the standard library
// and other pure packages.
var allowedLibraries = []string{
	"k8s.io/api", "k8s.io/apimachinery",
	// These packages are listed one by one, because other packages of component-helpers import
	// client-go.
	"k8s.io/component-helpers/resource", "k8s.io/component-helpers/scheduling/corev1",
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity",
	"k8s.io/component-helpers/nodedeclaredfeatures",
	"k8s.io/metrics/pkg/apis/metrics", // NodeMetrics as metrics-server serves them
	// The checks of Pod Security, which read the pod and nothing else. Other packages of this module import apiserver.
	"k8s.io/pod-security-admission/api", "k8s.io/pod-security-admission/policy",
	"k8s.io/utils/ptr",          // ptr.Deref and ptr.To only
	"github.com/go-logr/logr",   // only logr.Discard, which component-helpers require
	"sigs.k8s.io/yaml",          // snapshots and reports in YAML
	"go.yaml.in/yaml/v3",        // reports in field order
	"golang.org/x/text/width",   // how many columns a character takes
	"github.com/robfig/cron/v3", // internal/cron uses its parser
}

// importBans lists the forbidden imports, each with the reason.
var importBans = []struct {
	from   string // path prefix inside the module; "" is everything
	banned string
	except []string
	why    string
}{
	{"", "k8s.io/kubernetes", nil, "the program stays small and free of server code; only lab/ uses it"},
	{"", "sigs.k8s.io/controller-runtime", nil, "it adds 267 packages that the program does not need"},
	{"", module + "/config", []string{"cmd", "config"}, "packages get options; only config knows the keys"},
	{"hints", module + "/plan", nil, "hints do not depend on plans"},
	{"hints", module + "/cluster", []string{"hints/pressure", "hints/reconciler"}, "a steering hint depends only on its node"},
	{"cluster", module + "/plan", nil, "cluster is the lowest layer"},
	{"cluster/annotation", module + "/plan", nil, "annotations do not depend on plans"},
	{"plan", module + "/planner", nil, "plans are data"},
	{"placement", module + "/planner", nil, "placement predicts where a pod lands, not whether it moves"},
	{"placement", module + "/strategies", nil, "placement predicts where a pod lands, not why"},
	{"strategies", module + "/planner", nil, "strategies state goals and select no pods"},
	{"evictor", module + "/planner", nil, "the evictor executes; the controller rechecks"},
	{"report", module + "/planner", nil, "a report depends only on the plan"},
	{"observe", module + "/plan", nil, "observe only reads the cluster"},
	{"usage", module + "/plan", nil, "a source measures usage and does not judge it"},
	{"usage", module + "/hints", nil, "as above"},
	{"usage", module + "/strategies", nil, "as above"},
	{"usage/promql", "net/http", nil, "parsing a query needs no network"},
	{"", "github.com/prometheus/prometheus", []string{"usage/promql"}, "only one package needs its parser"},
	{"verify/planverifier", module + "/planner", nil, "the plan verifier must not share code with the planner"},
	{"verify/planverifier", module + "/placement", nil, "as above"},
	{"verify/goalverifier", module + "/planner", nil, "the verifier of goals must not share code with the planner"},
	{"verify/goalverifier", module + "/placement", nil, "as above"},
	{"verify/goalverifier", module + "/strategies", nil, "as above"},
	{"verify/modeverifier", module + "/planner", nil, "the verifier of modes must not share code with the planner"},
	{"verify/modeverifier", module + "/placement", nil, "as above"},
	{"verify/modeverifier", module + "/strategies", nil, "as above"},
	{"verify/planverifier", module + "/strategies", nil, "as above"},
	{"verify/planverifier", module + "/cluster/annotation", nil, "as above"},
	{"planner", "math/rand", nil, "the same input must give the same plan"},
	{"placement", "math/rand", nil, "the same input must give the same plan"},
}

func TestImports(t *testing.T) {
	forEachImport(t, func(file, from, imported string) {
		for _, b := range importBans {
			exempt := slices.ContainsFunc(b.except, func(e string) bool { return hasPathPrefix(from, e) })
			if hasPathPrefix(from, b.from) && hasPathPrefix(imported, b.banned) && !exempt {
				t.Errorf("%s imports %s: %s", file, imported, b.why)
			}
		}
		if !isPurePackage(from) {
			return
		}
		if own, ok := strings.CutPrefix(imported, module+"/"); ok {
			if !isPurePackage(own) {
				t.Errorf("%s imports %s: a pure package may use pure packages only", file, imported)
			}
			return
		}
		library := strings.Contains(strings.Split(imported, "/")[0], ".")
		if library && !slices.ContainsFunc(allowedLibraries, func(p string) bool { return hasPathPrefix(imported, p) }) {
			t.Errorf("%s imports %s, which pure packages must not use (no client, no clock, no log)", file, imported)
		}
		if imported == "log" || imported == "log/slog" {
			t.Errorf("%s imports %s: pure packages return messages instead of logging them", file, imported)
		}
	})
}

// TestImportedModulesAreDirect checks that go.mod marks no module as indirect that the code imports.
func TestImportedModulesAreDirect(t *testing.T) {
	text := must.Get(os.ReadFile("go.mod"))(t)
	var indirect []string
	for line := range strings.Lines(string(text)) {
		if required, ok := strings.CutSuffix(line, " // indirect\n"); ok {
			indirect = append(indirect, strings.Fields(required)[0])
		}
	}
	if len(indirect) == 0 {
		t.Error("go.mod has no indirect module; the test does not read it")
	}
	forEachImport(t, func(file, _, imported string) {
		if slices.ContainsFunc(indirect, func(m string) bool { return hasPathPrefix(imported, m) }) {
			t.Errorf("%s imports %s, but go.mod marks its module as indirect", file, imported)
		}
	})
}

// TestTheProgramKnowsTimeZones checks that the program embeds the time zone database, because container images often
// lack it.
func TestTheProgramKnowsTimeZones(t *testing.T) {
	found := false
	forEachImport(t, func(_, from, imported string) { found = found || from == "cmd/evenkeel" && imported == "time/tzdata" })
	if !found {
		t.Error("cmd/evenkeel does not import time/tzdata: time zones would depend on the image")
	}
}

// TestPurePackagesReadNoClock checks that pure packages get the time as a parameter.
func TestPurePackagesReadNoClock(t *testing.T) {
	forEachFile(t, func(file, from string, source []byte) {
		if isPurePackage(from) {
			for _, call := range []string{"time.Now(", "time.Since(", "time.Until(", "metav1.Now("} {
				if strings.Contains(string(source), call) {
					t.Errorf("%s calls %s), but pure packages get the time as a parameter", file, call)
				}
			}
		}
	})
}

func TestEveryPackageSaysWhatItDecides(t *testing.T) {
	documented := map[string]bool{}
	forEachFile(t, func(file, from string, source []byte) {
		f := must.Get(parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments|parser.PackageClauseOnly))(t)
		documented[from] = documented[from] || f.Doc != nil
	})
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %q has no comment", pkg)
		}
	}
}

func hasPathPrefix(path, prefix string) bool {
	return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

func forEachFile(t *testing.T, f func(file, from string, source []byte)) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"lab", "verify/simulation", "tools"}, path) || d.Name() == "testdata" ||
			strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f(path, filepath.ToSlash(filepath.Dir(path)), source)
		return nil
	}))
}

func forEachImport(t *testing.T, f func(file, from, imported string)) {
	t.Helper()
	forEachFile(t, func(file, from string, source []byte) {
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly))(t)
		for _, i := range parsed.Imports {
			imported := must.Get(strconv.Unquote(i.Path.Value))(t)
			f(file, from, imported)
		}
	})
}
