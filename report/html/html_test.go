package html_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

func write(t testing.TB, v view.View) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, html.Write(&b, &v, first()))
	return b.String()
}

// pages are reports of every kind, and those that have little to show.
func pages() map[string]view.View {
	change := func(f func(*view.View)) view.View {
		v := threeZones()
		f(&v)
		return v
	}
	return map[string]view.View{
		"small": threeZones(), "run": executed(), "large": large(1500, 710, 420),
		"empty":      {},
		"no moves":   change(func(v *view.View) { v.Plan.Moves, v.Plan.After = nil, v.Plan.Before }),
		"no version": change(func(v *view.View) { v.Plan.Cluster.Version = "" }),
		"one zone":   change(func(v *view.View) { inZones(&v.Plan, "zone-1") }),
		"no zone":    change(func(v *view.View) { inZones(&v.Plan, "") }),
		"unknown use": change(func(v *view.View) {
			v.Targets = []view.Target{{Resource: "cpu", Basis: plan.BasisLoad, Limit: .8}}
			v.Plan.Before.Nodes[0].Used, v.Plan.After.Nodes[0].Used = map[string]float64{"cpu": 1.07}, map[string]float64{"cpu": .75}
		}),
		"stored": change(func(v *view.View) {
			v.Name, v.Omitted = "evenkeel-1", view.Omitted{Moves: 3, Goals: 4, Nodes: 5, Workloads: 6}
		}),
		"proposals": change(func(v *view.View) {
			sub := v.Plan
			v.Plan.Proposals = []plan.Proposal{{Mode: plan.Approve, Plan: sub}, {Mode: plan.ShowOnly, Plan: sub}}
			v.Plan.Moves = nil
		}),
		"hostile": change(hostile),
	}
}

// inZones puts all nodes and pods into one zone.
func inZones(p *plan.Plan, zone string) {
	for _, s := range []*plan.State{&p.Before, &p.After} {
		for i := range s.Nodes {
			s.Nodes[i].Zone = zone
		}
		for i := range s.Workloads {
			s.Workloads[i].Zones, s.Workloads[i].FailureCategory = map[string]int{zone: 2}, 1
		}
	}
}

const attack = "<script>alert(1)</script>\"'\n\u202e"

// hostile gives every object a name that is HTML, or that is long.
func hostile(v *view.View) {
	p, long := &v.Plan, strings.Repeat("z", 253)
	for _, s := range []*plan.State{&p.Before, &p.After} {
		for i := range s.Nodes {
			s.Nodes[i].Name, s.Nodes[i].Zone = attack+s.Nodes[i].Name, long+s.Nodes[i].Zone
		}
		for i := range s.Workloads {
			s.Workloads[i].Name, s.Workloads[i].Kind = attack+s.Workloads[i].Name, attack
			s.Workloads[i].Zones = map[string]int{long + "zone-1": 1, attack: 2}
		}
	}
	for i := range p.Moves {
		m := &p.Moves[i]
		m.Pod.Name, m.From, m.To, m.Strategy, m.Reason.Message = attack, attack+m.From, attack+m.To, attack, attack
	}
	p.Rejections = plan.Rejections{Counts: map[plan.Code]int{attack: 1}, Samples: []plan.Rejection{{Pod: plan.PodRef{Name: attack}, Reason: plan.Reason{Code: attack, Message: attack}}}}
	p.ID, p.ConfigHash, p.Cluster.Version, v.Config, v.Name = attack, attack, attack, attack, attack
	p.Strategies[0].Name, p.Strategies[0].NoData = attack, attack
	p.Inputs[0].Source, p.Inputs[0].Problems = attack, []string{attack}
	p.Schedulers = []plan.SchedulerState{{Name: attack, Reason: attack}}
	p.Pressure = []plan.PressureHint{{Node: attack, Rule: attack}}
}

var (
	ids      = regexp.MustCompile(` id="([^"]*)"`)
	links    = regexp.MustCompile(` (?:href="#|aria-labelledby="|for=")([^"]*)"`)
	tables   = regexp.MustCompile(`(?s)<table[^>]*>(.{9})`)
	headings = regexp.MustCompile(`<th[ >][^>]*`)
	// pictures are the outermost SVG elements. Those inside have a position.
	pictures = regexp.MustCompile(`<svg (?:[^x>][^>]*)?>`)
	outside  = regexp.MustCompile(`(?i)(https?:|//[a-z]|src=|url\(|@import| style=| on[a-z]+=)`)
	tags     = regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*?(/?)>`)
)

// TestStructure checks what browsers and screen readers need, in every kind of report.
func TestStructure(t *testing.T) {
	for name, v := range pages() {
		t.Run(name, func(t *testing.T) { checkStructure(t, write(t, v)) })
	}
}

func checkStructure(t *testing.T, text string) {
	t.Helper()
	if n := strings.Count(text, "<h1>"); n != 1 {
		t.Errorf("%d headings h1, want 1", n)
	}
	has := map[string]int{}
	for _, m := range ids.FindAllStringSubmatch(text, -1) {
		if has[m[1]]++; has[m[1]] > 1 {
			t.Errorf("id %q is not unique", m[1])
		}
	}
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		if has[m[1]] == 0 {
			t.Errorf("a link leads to #%s, which does not exist", m[1])
		}
	}
	for _, m := range tables.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "<caption") {
			t.Errorf("a table has no caption: %s", m[0])
		}
	}
	for _, th := range headings.FindAllString(text, -1) {
		if !strings.Contains(th, "scope=") {
			t.Errorf("a heading has no scope: %s", th)
		}
	}
	for _, svg := range pictures.FindAllString(text, -1) {
		if !strings.Contains(svg, `aria-hidden="true"`) && !(strings.Contains(svg, `role="img"`) && strings.Contains(svg, `aria-label="`)) {
			t.Errorf("a picture has neither a label nor aria-hidden: %s", svg)
		}
	}
	body := strings.Replace(strings.Replace(text, html.Script, "", 1), html.Style, "", 1)
	if found := outside.FindString(body); found != "" && !strings.Contains(text, "alert(1)") {
		t.Errorf("the page has %q", found)
	}
	checkBalance(t, body)
	for tag, content := range map[string]string{"style": html.Style, "script": html.Script} {
		if !strings.Contains(text, "<"+tag+">"+content+"</"+tag+">") || !strings.Contains(text, tag+"-src "+html.Hash(content)) {
			t.Errorf("the policy does not permit the %s", tag)
		}
	}
	if !strings.Contains(text, `content="default-src 'none'; `) {
		t.Error("the policy permits network requests")
	}
}

// checkBalance checks that every element ends.
func checkBalance(t *testing.T, body string) {
	t.Helper()
	void := []string{"meta", "input", "br"}
	var open []string
	for _, m := range tags.FindAllStringSubmatch(body, -1) {
		switch n := len(open); {
		case m[3] == "/" || slices.Contains(void, m[2]):
		case m[1] == "":
			open = append(open, m[2])
		case n == 0 || open[n-1] != m[2]:
			t.Fatalf("</%s> ends %v", m[2], open)
		default:
			open = open[:n-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v never end", open)
	}
}

// TestPill checks the label of a plan: one of a configuration that evicts is no dry run.
func TestPill(t *testing.T) {
	for want, change := range map[string]func(*view.View){
		"Dry run": func(v *view.View) {}, "Plan": func(v *view.View) { v.Evicts = true },
		"Stored plan": func(v *view.View) { v.Name, v.Evicts = "p", true },
	} {
		v := threeZones()
		v.Evicts = false
		change(&v)
		if text := write(t, v); !strings.Contains(text, `<span class="pill">`+want+"</span>") {
			t.Errorf("no label %q", want)
		}
	}
}

// TestHostileNames checks that names are shown, and are neither HTML nor able to change the direction of text.
func TestHostileNames(t *testing.T) {
	text := write(t, pages()["hostile"])
	if strings.Contains(text, "<script>alert") || strings.Contains(text, "\u202e") || strings.Contains(text, "ZgotmplZ") {
		t.Error("a name is not escaped")
	}
	if !strings.Contains(text, `&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;\n\u202e`) {
		t.Error("a name is not shown")
	}
}

// TestWords compares what reports say, without their markup, with testdata.
func TestWords(t *testing.T) {
	all := pages()
	for _, name := range []string{"run", "stored", "no zone", "unknown use"} {
		text := words(write(t, all[name]))
		golden.Equal(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt"), []byte(text))
	}
}

var (
	lineEnds = regexp.MustCompile(`</(h1|h2|p|dd|tr|caption|summary|figcaption|pre)>`)
	markup   = regexp.MustCompile(`<[^>]*>`)
	spaces   = regexp.MustCompile(`[ \n]*\n[ \n]*| {2,}`)
)

// words returns the text of the sections of a report. Cells are separated by |, and labels of pictures stand in
// brackets.
func words(text string) string {
	_, text, _ = strings.Cut(text, "</nav>")
	text, _, _ = strings.Cut(text, "<footer>")
	text = regexp.MustCompile(`\n`).ReplaceAllString(text, " ")
	text = regexp.MustCompile(`<svg [^>]*aria-label="([^"]*)"[^>]*>`).ReplaceAllString(text, "[$1]")
	text = regexp.MustCompile(`</(td|th)>`).ReplaceAllString(text, " | ")
	text = markup.ReplaceAllString(lineEnds.ReplaceAllString(text, "\n"), "")
	return strings.TrimSpace(spaces.ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s, "\n") {
			return "\n"
		}
		return " "
	})) + "\n"
}

const (
	maxBytes = 5 << 20
	maxTime  = 2 * time.Second
)

// TestSize checks the size of a report of 5,000 nodes, 100,000 pods, 20,000 workloads and 5,000 moves.
func TestSize(t *testing.T) {
	text := write(t, large(5000, 5000, 20000))
	if len(text) > maxBytes {
		t.Errorf("the report has %d bytes, want at most %d", len(text), maxBytes)
	}
	if more := write(t, large(5000, 9000, 20000)); len(more) > maxBytes || !strings.Contains(more, "The 1,000 most useful of 9,000 moves") {
		t.Errorf("a report of 9,000 moves has %d bytes", len(more))
	}
}

func BenchmarkWrite(b *testing.B) {
	v, begun := large(5000, 5000, 20000), time.Now()
	for b.Loop() {
		write(b, v)
	}
	if each := time.Since(begun) / time.Duration(b.N); each > maxTime {
		b.Errorf("a report took %v, want at most %v", each, maxTime)
	}
}
