package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// waitingPackages are the packages that wait for something. The others compute.
var waitingPackages = []string{"cmd/evenkeel", "cmd/evenkeel/connection", "cmd/evenkeel/installed", "cmd/evenkeel/names", "cmd/evenkeel/releasecommand",
	"controller", "controller/cleanup", "controller/leader", "controller/notify",
	"controller/records", "controller/release", "controller/state", "controller/waiting", "evictor", "hints/reconciler", "hints/writer", "internal/reload",
	"internal/progress", "internal/retry", "internal/wait", "metrics", "objects", "observe",
	"ui", "usage/fetch", "usage/loadwatcher", "usage/metricsserver", "usage/monitor", "usage/prometheus", "web", "web/access"}

// notWaits are durations for which nothing waits.
var notWaits = map[string]string{
	"controller/waiting.maxForeignWait": "the age from which a plan of somebody else has expired",
	"controller.maxRequestAge":          "the age from which a request is not carried out",
	"controller.maxRequestAgeForJob":    "the same for a single pass",
	"controller.requestRetention":       "the age from which an ended request is deleted",
	"evictor.DefaultMaxGracePeriod":     "a default of guards.maxGracePeriod",
	"evictor.snapshotFreshness":         "the age of a snapshot, which sets the size of a batch",
	"observe.denialLifetime":            "the age of an answer",
	"observe.maxVersionAge":             "the age of an answer",
	"ui.maxAge":                         "the age of what a page shows",
	"ui.rightLifetime":                  "the age of an answer",
	"ui.week":                           "the age of evictions that a page counts",
	"usage/monitor.resultLifetime":      "the age of a result",
	"web/access.allowedTTL":             "the age of an answer",
	"web/access.deniedTTL":              "the age of an answer",
	"web/access.knownTTL":               "the age of an answer",
	"web/access.warningInterval":        "the time between two log lines",
}

// waitRow is a row of the table of waits in docs/reference/running.md: what waits, the bound, and the constant.
var waitRow = regexp.MustCompile("(?m)^\\| .+ \\| ([0-9hmsµ.]+) \\| `([\\w/]+\\.\\w+)` \\|$")

// TestEveryWaitIsDocumented compares the durations in the code with the table of waits.
func TestEveryWaitIsDocumented(t *testing.T) {
	documented := map[string]time.Duration{}
	for _, m := range waitRow.FindAllStringSubmatch(readText(t, "docs/reference/running.md"), -1) {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			t.Errorf("the bound of %s: %v", m[2], err)
		}
		documented[m[2]] = d
	}
	found := map[string]bool{}
	for _, dir := range waitingPackages {
		for name, d := range durationsOf(t, dir) {
			id := dir + "." + name
			found[id] = true
			if bound, listed := documented[id]; notWaits[id] == "" && !listed {
				t.Errorf("docs/reference/running.md has no row for the wait %s (%s)", id, d)
			} else if listed && bound != d {
				t.Errorf("docs/reference/running.md says that %s is %s; it is %s", id, bound, d)
			}
		}
	}
	for id := range documented {
		if !found[id] {
			t.Errorf("docs/reference/running.md has the wait %s, which the code does not have", id)
		}
	}
	for id := range notWaits {
		if !found[id] {
			t.Errorf("%s is listed as no wait, but the code does not have it", id)
		}
	}
}

// TestWaitsHaveNames checks that no call waits for a literal duration, and that only the listed packages wait.
func TestWaitsHaveNames(t *testing.T) {
	must.Succeed(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (slices.Contains([]string{"lab", "tools", "verify", "bin", ".git"}, path)) {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if !isWait(x) {
					return true
				}
				if !slices.Contains(waitingPackages, filepath.ToSlash(filepath.Dir(path))) {
					t.Errorf("%s waits, but its package is not in waitingPackages", set.Position(x.Pos()))
				}
				for _, arg := range x.Args {
					checkNamed(t, set, arg)
				}
			case *ast.KeyValueExpr:
				if key, ok := x.Key.(*ast.Ident); ok && strings.HasSuffix(key.Name, "Timeout") && !strings.HasPrefix(path, "planner") {
					checkNamed(t, set, x.Value)
				}
			}
			return true
		})
		return nil
	}))
}

// isWait reports whether a call waits, or bounds a wait.
func isWait(c *ast.CallExpr) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"WithTimeout", "WithDeadline", "NewTimer", "NewTicker", "Sleep", "AfterFunc", "Tick"}, f.Sel.Name) ||
		ok && f.Sel.Name == "After" && isPackage(f.X, "time")
}

func isPackage(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// checkNamed reports a unit of package time, because it means a duration without a name.
func checkNamed(t *testing.T, set *token.FileSet, x ast.Expr) {
	t.Helper()
	ast.Inspect(x, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && isPackage(s.X, "time") && timeUnits[s.Sel.Name] > 0 {
			t.Errorf("%s: give this wait a name, and list it in docs/reference/running.md", set.Position(n.Pos()))
		}
		return true
	})
}

var timeUnits = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// durationsOf returns the package-level duration constants of a folder.
func durationsOf(t *testing.T, dir string) map[string]time.Duration {
	t.Helper()
	values := map[string]ast.Expr{}
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						values[name.Name] = v.Values[i]
					}
				}
			}
		}
	}
	out := map[string]time.Duration{}
	for name, x := range values {
		if d, isDuration := evalDuration(x, values); isDuration {
			out[name] = d
		}
	}
	return out
}

// evalDuration computes a constant. It reports whether the constant is a duration, which has a unit of package time.
func evalDuration(x ast.Expr, values map[string]ast.Expr) (d time.Duration, isDuration bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		n, _ := strconv.ParseInt(x.Value, 0, 64)
		return time.Duration(n), false
	case *ast.ParenExpr:
		return evalDuration(x.X, values)
	case *ast.Ident:
		if v := values[x.Name]; v != nil {
			return evalDuration(v, values)
		}
	case *ast.SelectorExpr:
		if isPackage(x.X, "time") {
			return timeUnits[x.Sel.Name], timeUnits[x.Sel.Name] > 0
		}
		if isPackage(x.X, "evictor") {
			d := map[string]time.Duration{"ShutdownTimeout": evictor.ShutdownTimeout, "LongestCall": evictor.LongestCall}[x.Sel.Name]
			return d, d > 0
		}
	case *ast.BinaryExpr:
		a, aIs := evalDuration(x.X, values)
		b, bIs := evalDuration(x.Y, values)
		switch x.Op {
		case token.MUL:
			a *= b
		case token.ADD:
			a += b
		case token.SUB:
			a -= b
		case token.QUO:
			if b != 0 {
				a /= b
			}
		}
		return a, aIs || bIs
	}
	return 0, false
}
