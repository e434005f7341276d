package main

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

const aboutConfig = `Evenkeel parses the configuration strictly and reports all mistakes at once. Messages begin with the
file and the line. They are the same for ` + "`plan --config`, `run --config`" + ` and ` + "`config check`" + `. The file
of each row is config.yaml. If a row shows only a part of a configuration, the lines with apiVersion
and kind precede it.
`

// configHead is the first two lines of every configuration.
const configHead = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"

func configRows(t *testing.T) []badInput {
	rows := append(wholeConfigRows(), configMistakes(t)...)
	for i := range rows {
		rows[i].args, rows[i].exit = "plan -f three-zones.yaml --config config.yaml", 1
	}
	return rows
}

const aboutWarnings = `These configurations are valid, but a setting has no effect or selects nothing. ` + "`evenkeel config check`" + `
prints a warning, and the exit code is 0.
`

// warningRows are settings that are valid but probably mistakes.
func warningRows(*testing.T) []badInput {
	strategy := func(rules string) string {
		return "strategies: {z: {type: ZoneSpread, schedule: \"@hourly\", " + rules + "}}\n"
	}
	rows := []badInput{
		{input: "a limit of a strategy above the global one", text: strategy("limits: {perPass: 100}"), want: "strategies.z.limits.perPass: 100 has no effect, because limits.perPass: 50 also holds (want less, or leave the key out)"},
		{input: "an unlimited strategy", text: strategy("limits: {perHour: {cluster: unlimited}}"), want: "strategies.z.limits.perHour.cluster: unlimited has no effect, because limits.perHour.cluster: 300 also holds (want less, or leave the key out)"},
		{input: "a limit of a window above the global one", text: "windows: {allow: [{schedule: \"0 * * * *\", duration: 30m, limits: {perPass: 99}}]}\nstrategies: {}\n", want: "windows.allow[0].limits.perPass: 99 has no effect, because limits.perPass: 50 also holds (want less, or leave the key out)"},
		{input: "a strategy without moves", text: strategy("limits: {perPass: 0}"), want: "strategies.z.limits.perPass: 0: no pod would move for this strategy"},
		{input: "a namespace of a strategy that is excluded anyway", text: strategy("namespaces: {exclude: [kube-system]}"), want: "strategies.z.namespaces.exclude[0]: kube-system has no effect, because the global namespaces.exclude lists it too"},
		{input: "a namespace of a strategy out of the global scope", text: "namespaces: {include: [shop]}\n" + strategy("namespaces: {exclude: [bank]}"), want: "strategies.z.namespaces.exclude[0]: bank has no effect, because it is out of the global scope: namespaces.include is [shop]"},
		{input: "a node selector against the global one", text: "nodeSelector: pool=a\n" + strategy("nodeSelector: pool=b"), want: `strategies.z.nodeSelector: "pool=b" and the global nodeSelector "pool=a" require different values of pool: the scope of strategy z is empty`},
		{input: "a pod selector against that of the guards", text: "guards: {podSelector: tier=web}\n" + strategy("podSelector: tier=db"), want: `strategies.z.podSelector: "tier=db" and guards.podSelector "tier=web" require different values of tier: the scope of strategy z is empty`},
		{input: "limits that permit nothing", text: "limits: {perPass: 0}\nstrategies: {}\n", want: "limits.perPass: 0: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true"},
	}
	for i := range rows {
		r := &rows[i]
		r.args, r.files, r.want = "config check config.yaml", map[string]string{"config.yaml": configHead + r.text}, "Warning: "+r.want
		if r.text = strings.TrimSpace(r.text); strings.Contains(r.text, "\n") {
			r.text = strings.ReplaceAll(r.text, "\n", ", ")
		}
	}
	return rows
}

// wholeConfigRows are files that are not configurations at all.
func wholeConfigRows() []badInput {
	rows := []badInput{
		{input: "an empty file", stdin: "", want: "evenkeel: config.yaml: the file is empty; `evenkeel config default` prints a commented one"},
		{input: "only comments", stdin: "# nothing\n", want: "evenkeel: config.yaml: the file is empty; `evenkeel config default` prints a commented one"},
		{input: "a list", stdin: "- a\n", want: "evenkeel: config.yaml:1: apiVersion: want evenkeel.io/v1alpha1\nconfig.yaml:1: kind: want RebalanceConfig\nconfig.yaml:1: want keys and values, found a list"},
		{input: "a word", stdin: "hello\n", want: "evenkeel: config.yaml:1: apiVersion: want evenkeel.io/v1alpha1\nconfig.yaml:1: kind: want RebalanceConfig\nconfig.yaml:1: want keys and values, found \"hello\""},
		{input: "broken YAML", stdin: "a: [\n", want: "evenkeel: config.yaml: broken YAML: line 1: did not find expected node content"},
		{input: "a tab as indentation", stdin: configHead + "limits:\n\tperPass: 1\n", want: "evenkeel: config.yaml: broken YAML: line 4: found character that cannot start any token"},
		{input: "a NUL byte", stdin: configHead + "timeZone: \x00\n", want: "evenkeel: config.yaml: broken YAML: control characters are not allowed; is this a text file?"},
		{input: "text that is not UTF-8", stdin: configHead + "timeZone: \xc3\x28\n", want: "evenkeel: config.yaml: broken YAML: invalid trailing UTF-8 octet; is this a text file?"},
		{input: "a file of random bytes", stdin: "\x7fELF\x02\x01\x01\x00", want: "evenkeel: config.yaml: broken YAML: control characters are not allowed; is this a text file?"},
		{input: "two documents", stdin: configHead + "---\n" + configHead, want: "evenkeel: config.yaml: more than one document; want one"},
		{input: "an alias", stdin: configHead + "limits: &l {perPass: 1}\nwindows: *l\n", want: "evenkeel: config.yaml:4: aliases are not supported; write the value out"},
		{input: "an alias that contains itself", stdin: configHead + "limits: &l {perPass: *l}\n", want: "evenkeel: config.yaml:3: aliases are not supported; write the value out"},
		{input: "lists in lists, 20,000 deep", stdin: configHead + "strategies: " + strings.Repeat("[", 20000), want: "evenkeel: config.yaml: broken YAML: line 3: exceeded max depth of 10000"},
		{input: "more than a mebibyte", stdin: configHead + strings.Repeat("# padding\n", 200000), want: "evenkeel: config.yaml: larger than 1048576 bytes"},
		{input: "another apiVersion", stdin: "apiVersion: evenkeel.io/v2\nkind: RebalanceConfig\n", want: "evenkeel: config.yaml:1: apiVersion: want evenkeel.io/v1alpha1"},
		{input: "another kind", stdin: "apiVersion: evenkeel.io/v1alpha1\nkind: Plan\n", want: "evenkeel: config.yaml:2: kind: want RebalanceConfig"},
		{input: "a descheduler policy", stdin: "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n", want: "evenkeel: config.yaml: this is a DeschedulerPolicy; `evenkeel config convert` converts it"},
		{input: "neither apiVersion nor kind", stdin: "dryRun: true\n", want: "evenkeel: config.yaml:1: apiVersion: want evenkeel.io/v1alpha1\nconfig.yaml:1: kind: want RebalanceConfig"},
		{input: "a list as a key", stdin: configHead + "? [a]\n: b\n", want: "evenkeel: config.yaml:3: unknown key"},
	}
	for i := range rows {
		rows[i].files, rows[i].stdin = map[string]string{"config.yaml": rows[i].stdin}, ""
	}
	return rows
}

// configMistakes returns the mistakes in the test data of package config.
func configMistakes(t *testing.T) []badInput {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	a := must.Get(txtar.ParseFile(filepath.Join(filepath.Dir(here), "../../config/testdata/mistakes.txtar")))(t)
	var rows []badInput
	for i := 0; i+1 < len(a.Files); i += 2 {
		text := string(a.Files[i].Data)
		r := badInput{input: a.Files[i].Name, files: map[string]string{"config.yaml": configHead + text},
			want: "evenkeel: " + strings.TrimSpace(string(a.Files[i+1].Data))}
		if one := strings.TrimSpace(text); !strings.Contains(one, "\n") {
			r.text = one
		} else if rest, ok := strings.CutPrefix(one, "strategies:\n- "); ok && !strings.Contains(rest, "\n") {
			r.text = rest
		}
		rows = append(rows, r)
	}
	return rows
}

// TestAllCommandsRejectInvalidConfiguration checks that all commands with a configuration reject each invalid one
// with the same message.
func TestAllCommandsRejectInvalidConfiguration(t *testing.T) {
	isolateFromCluster(t)
	for _, r := range configRows(t) {
		for _, args := range []string{"config check config.yaml", "run --once --config config.yaml"} {
			t.Run(r.input+"/"+args, func(t *testing.T) {
				r.args = args
				r.check(t)
			})
		}
	}
}
