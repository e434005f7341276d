package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const (
	// minRows is the least number of rows that the catalogue must have.
	minRows = 120
	// rowDeadline bounds how long the program may run for one row.
	rowDeadline = 20 * time.Second
)

// badInput is one row of the catalogue: an invalid input, and the message that the program prints.
type badInput struct {
	// input describes the mistake. text contains the invalid part of the input; the document shows text if it is
	// short.
	input, text string
	// args is the command line. Two single quotes ('') mean an empty argument.
	args string
	// files are written to the working directory of the program.
	files map[string]string
	stdin string
	// edit lists replacements in the example. The edited example is written to snapshot.yaml.
	edit []string
	// server describes how the API server misbehaves.
	server *serverFault
	// want is the whole message on stderr if exit is not 0. If exit is 0, want is a part of the plan on stdout, and
	// moves is the number of planned moves.
	want  string
	exit  int
	moves int
}

type inputKind struct {
	title, about string
	rows         func(t *testing.T) []badInput
}

// inputKinds lists the chapters of the document, in order.
var inputKinds = []inputKind{
	{"Flags and arguments", aboutFlags, flagRows},
	{"Configuration", aboutConfig, configRows},
	{"Settings without effect", aboutWarnings, warningRows},
	{"Snapshots", aboutSnapshots, snapshotRows},
	{"Inconsistent objects", aboutInconsistentObjects, inconsistentObjectRows},
	{"Annotations", aboutAnnotations, annotationRows},
	{"Kubeconfig", aboutKubeconfig, kubeconfigRows},
	{"Answers of the API server", aboutAPI, apiRows},
}

// TestBadInput runs the program for every row. Rows with a server run in parallel, because they mostly wait.
func TestBadInput(t *testing.T) {
	isolateFromCluster(t)
	for _, e := range inputKinds {
		for _, r := range e.rows(t) {
			t.Run(e.title+"/"+r.input, func(t *testing.T) {
				if r.server != nil {
					t.Parallel()
				}
				r.check(t)
			})
		}
	}
}

// isolateFromCluster hides the kubeconfig of the user and the account of the pod.
func isolateFromCluster(t *testing.T) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "POD_NAMESPACE", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"} {
		t.Setenv(name, "")
	}
}

func (r *badInput) check(t *testing.T) {
	dir := r.prepare(t)
	requests := r.serve(t, dir)
	got := invoke(t, syncTimeouts[0], r.commandLine(dir), r.stdin)
	for _, p := range syncTimeouts[1:] {
		if r.server != nil && got.stableMessage(dir) != r.want {
			got = invoke(t, p, r.commandLine(dir), r.stdin)
		}
	}
	if got.exit != r.exit {
		t.Errorf("exit code %d, want %d", got.exit, r.exit)
	}
	if evictions := requests.evictions(); len(evictions) > 0 {
		t.Errorf("evicted: %v", evictions)
	}
	if r.exit == 0 {
		r.checkReported(t, dir, got)
		return
	}
	if d := cmp.Diff(r.want, got.stableMessage(dir)); d != "" {
		t.Errorf("message (-want +got):\n%s", d)
	}
	// The program writes a report for every pass that began, even if the pass stopped early.
	if got.stdout != "" && !strings.Contains(got.stdout, "Run: could judge nothing: ") && !strings.Contains(got.stdout, `"nothingJudged":[`) {
		t.Errorf("the command failed but wrote to stdout:\n%s", got.stdout)
	}
}

// prepare writes the files of the row to a new directory.
func (r *badInput) prepare(t *testing.T) (dir string) {
	t.Helper()
	example := readExample()
	dir = t.TempDir()
	files := map[string]string{"three-zones.yaml": example}
	if r.edit != nil {
		files["snapshot.yaml"] = editExample(t, example, r.edit)
	}
	maps.Copy(files, r.files)
	for name, text := range files {
		name = filepath.Join(dir, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	}
	if r.server == nil {
		t.Chdir(dir)
	}
	return dir
}

// commandLine returns the arguments of the row. Parallel rows share a working directory, so commandLine makes the
// names of their files absolute.
func (r *badInput) commandLine(dir string) []string {
	args := strings.Fields(r.args)
	for i, a := range args {
		switch {
		case a == "''":
			args[i] = ""
		case r.server != nil && strings.HasSuffix(a, ".yaml"):
			args[i] = filepath.Join(dir, a)
		}
	}
	return args
}

var readExample = sync.OnceValue(func() string {
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../examples/three-zones.yaml"))
	if err != nil {
		panic(err)
	}
	return string(text)
})

// editExample applies pairs of old and new strings to the text. Only the first occurrence is replaced, unless the old
// string has the prefix "all:".
func editExample(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		old, all := strings.CutPrefix(pairs[i], "all:")
		if !strings.Contains(text, old) {
			t.Fatalf("the example has no %q", old)
		}
		n := 1
		if all {
			n = -1
		}
		text = strings.Replace(text, old, pairs[i+1], n)
	}
	return text
}

// programResult is the output and the exit code of the program.
type programResult struct {
	exit           int
	stdout, stderr string
}

// unstableTexts matches the parts of messages that differ between runs.
var unstableTexts = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+->`), ""},
	{regexp.MustCompile(`127\.0\.0\.1:\d{2,}`), "SERVER"},
	{regexp.MustCompile(` \(Client\.Timeout exceeded while awaiting headers\)|\?timeout=4s`), ""}, // of two bounds, one ends a call
	{regexp.MustCompile(`net/http: request canceled`), "context deadline exceeded"},
	{regexp.MustCompile(`current time \S+ is after [^\s;]+`), "current time NOW is after THEN"},
}

// stableMessage returns stderr without log lines and without the directory. Fixed words replace the parts that differ
// between runs.
func (a programResult) stableMessage(dir string) string {
	var lines []string
	for line := range strings.Lines(a.stderr) {
		if !strings.HasPrefix(line, "time=") {
			lines = append(lines, line)
		}
	}
	m := strings.TrimSuffix(strings.Join(lines, ""), "\n")
	m = strings.ReplaceAll(m, dir+"/", "")
	for _, v := range unstableTexts {
		m = v.pattern.ReplaceAllString(m, v.instead)
	}
	return m
}

// invoke runs the program in this process.
func invoke(t *testing.T, patience time.Duration, args []string, stdin string) programResult {
	t.Helper()
	var stdout, stderr bytes.Buffer
	done := make(chan programResult, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- programResult{-1, "", fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
			}
		}()
		exit := (&globalFlags{syncTimeout: patience}).run(args, strings.NewReader(stdin), &stdout, &stderr)
		done <- programResult{exit, stdout.String(), stderr.String()}
	}()
	select {
	case a := <-done:
		return a
	case <-time.After(rowDeadline):
		stacks := make([]byte, 8<<10)
		t.Fatalf("no answer within %s\n%s", rowDeadline, stacks[:runtime.Stack(stacks, true)])
		return programResult{}
	}
}

// checkReported checks that the plan contains want, and that a second plan in JSON has the expected number of moves.
func (r *badInput) checkReported(t *testing.T, dir string, got programResult) {
	t.Helper()
	if !strings.Contains(got.stdout, r.want) {
		t.Errorf("the output does not contain %q:\n%s%s", r.want, got.stdout, got.stderr)
	}
	if strings.HasPrefix(r.args, "config check ") {
		return
	}
	got = invoke(t, syncTimeouts[0], append(r.commandLine(dir), "-o", "json"), r.stdin)
	var o v1alpha1.RebalancePlan
	if err := json.Unmarshal([]byte(got.stdout), &o); err != nil || o.Kind != "RebalancePlan" {
		t.Fatalf("no plan: %v\n%s%s", err, got.stdout, got.stderr)
	}
	if n := len(o.Spec.Moves); n != r.moves {
		t.Errorf("%d moves are planned, want %d", n, r.moves)
	}
}

// TestCatalogueIsLargeAndUnique checks that each row has an input and a message, and that no two rows are
// equal.
func TestCatalogueIsLargeAndUnique(t *testing.T) {
	inputs, cases := map[string]bool{}, map[string]string{}
	for _, e := range inputKinds {
		for _, r := range e.rows(t) {
			name := e.title + ": " + r.input + ": " + r.text
			if r.input == "" || r.want == "" {
				t.Errorf("%s: the row has no input or no message", name)
			}
			if inputs[name] {
				t.Errorf("%s occurs twice", name)
			}
			inputs[name] = true
			if r.server != nil {
				continue // servers cannot be compared; the rows differ in their names
			}
			given := fmt.Sprintf("%s\x00%s\x00%v\x00%v", r.args, r.stdin, r.edit, r.files)
			if other := cases[given]; other != "" {
				t.Errorf("%s is the same as %s", name, other)
			}
			cases[given] = name
		}
	}
	if len(inputs) < minRows {
		t.Errorf("%d rows, want %d or more", len(inputs), minRows)
	}
}

// TestReliabilityDocument checks that testdata/bad_input.md matches the rows. The flag -update rewrites the file.
func TestReliabilityDocument(t *testing.T) {
	var b bytes.Buffer
	writeReliabilityDocument(t, &b)
	golden.Equal(t, "testdata/bad_input.md", b.Bytes())
}

func writeReliabilityDocument(t *testing.T, w io.Writer) {
	fmt.Fprint(w, aboutAll)
	for _, e := range inputKinds {
		fmt.Fprintf(w, "\n## %s\n\n%s\n| input | message | exit code |\n|---|---|---|\n", e.title, e.about)
		for _, r := range e.rows(t) {
			input := r.input
			if r.text != "" {
				input += ": " + markdownCode(r.text)
			}
			fmt.Fprintf(w, "| %s | %s | %d |\n", escapeTableCell(input), markdownCode(firstLine(r.want)), r.exit)
		}
	}
}

// firstLine returns the first line of a message, shortened to 240 characters.
func firstLine(message string) string {
	first, more, _ := strings.Cut(strings.TrimPrefix(message, "evenkeel: "), "\n")
	const most = 240
	if r := []rune(first); len(r) > most {
		return string(r[:most]) + "..."
	}
	if more != "" {
		first += " ..."
	}
	return first
}

// markdownCode formats text as inline code, with a longer fence if the text contains back quotes.
func markdownCode(s string) string {
	fence := "`"
	if strings.Contains(s, "`") {
		fence, s = "``", s+" "
	}
	return fence + escapeTableCell(s) + fence
}

// escapeTableCell escapes text for a cell of a Markdown table.
func escapeTableCell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }

const aboutAll = `# Bad input

This page lists invalid inputs and the messages that Evenkeel prints for them. None of these inputs
evicts a pod, crashes the program, or makes it hang. The program either refuses the input with one
message on stderr and exit code 1, or ignores the invalid part and reports it in the plan. Exit code 2
is reserved for ` + "`--detailed-exitcode`" + ` (moves are planned), so no error uses it.

The page omits the prefix ` + "`evenkeel:`" + ` of all messages. If a message has several lines, the page shows only
the first one, followed by ` + "`...`" + `. SERVER stands for an address.

The test of these inputs generates this page.
`
