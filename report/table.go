package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// maxLines bounds the sections that grow with the cluster; Wide has them whole.
const maxLines = 20

// table gathers the lines of a report.
type table struct {
	wide, color bool
	lines       []string
}

func newTable(format Format, opts []Options) *table {
	t := &table{wide: format == Wide}
	if len(opts) > 0 {
		t.color = opts[0].Color
	}
	return t
}

func (t *table) flush(w io.Writer) error {
	return write(w, []byte(strings.Join(t.lines, "\n")+"\n"))
}

func (t *table) line(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// Escape sequences, used only when colours are asked for.
const (
	bold   = "\x1b[1m"
	green  = "\x1b[1;32m"
	yellow = "\x1b[1;33m"
	plain  = "\x1b[0m"
)

func (t *table) paint(color, s string) string {
	if !t.color {
		return s
	}
	return color + s + plain
}

// section writes a titled grid, cut after limit rows unless limit is 0 or the
// table is wide. Nothing is written for a grid without rows.
func (t *table) section(title string, g *grid, limit int) {
	if len(g.rows) == 0 {
		return
	}
	hidden := 0
	if !t.wide && limit > 0 && len(g.rows) > limit {
		hidden = len(g.rows) - limit
		g.rows = g.rows[:limit]
	}
	t.line("")
	t.line("%s", t.paint(bold, title))
	t.lines = append(t.lines, g.lines()...)
	if hidden > 0 {
		t.line("  ... and %d more (-o wide shows all)", hidden)
	}
}

// plan writes a whole plan under its verdict.
func (t *table) plan(p plan.Plan, subject, effect string) {
	t.verdict(p, subject, effect)
	t.holds(p.Blocks)
	t.origin(p)
	t.goals(p)
	t.nodes(p)
	t.zones(p)
	t.workloads(p)
	t.pressure(p)
	t.moves(p)
	t.rejections(p)
	t.bound(p)
	t.schedulers(p)
	t.inputs(p)
}

const timeLayout = "2006-01-02 15:04:05 MST"

func (t *table) origin(p plan.Plan) {
	guessed := ""
	if p.TakenAtEstimated {
		guessed = " (newest time in the snapshot; it does not say when it was taken)"
	}
	t.line("State of %s%s, Kubernetes %s; plan %s valid until %s.", p.TakenAt.UTC().Format(timeLayout), guessed,
		orUnknown(safe(p.Cluster.Version)), shortID(p.ID), p.Expires.UTC().Format(timeLayout))
}

func orUnknown(s string) string {
	if s == "" {
		return "of unknown version"
	}
	return s
}

// shortID keeps as much of a content hash as people compare.
func shortID(id string) string {
	const keep = 12
	if len(id) > keep {
		id = id[:keep]
	}
	return orDash(safe(id))
}

func (t *table) goals(p plan.Plan) {
	g := columns("GOAL", "STRATEGY", "WANTED", ">NOW", ">AFTER")
	for _, goal := range p.Goals {
		g.row(safe(goal.ID), safe(goal.Strategy), goalText(goal), excess(goal, goal.Excess), excess(goal, p.After.Excess[goal.ID]))
	}
	t.section("Goals not met now", g, maxLines)
}

func (t *table) moves(p plan.Plan) {
	heads := []string{">STEP", ">WAVE", "POD", "FROM", "TO", ">CONFIDENCE", "STRATEGY", "REASON"}
	if t.wide {
		heads = append(heads, "OWNER", "GOALS", ">GOOD NODES", ">COMES BACK", ">STAYS PENDING", "STEERED BY", ">BENEFIT", ">COST")
	}
	g := columns(heads...)
	for _, m := range p.Moves {
		cells := []string{strconv.Itoa(m.Step), strconv.Itoa(m.Wave), safe(m.Pod.String()), safe(m.From), destination(m),
			percent(m.Confidence), safe(m.Strategy), reasonText(m.Reason)}
		if t.wide {
			cells = append(cells, safe(m.Owner.String()), safe(strings.Join(m.Goals, ",")), strconv.Itoa(m.Acceptable.Nodes),
				percent(m.ReturnProbability), percent(m.PendingProbability), orDash(safe(m.Steer)), number(m.Benefit), number(m.Cost))
		}
		g.row(cells...)
	}
	t.section("Moves, in order (a wave starts when the replacements of the wave before are ready)", g, 0)
	t.legend(p.Moves)
	t.hints(p)
}

// destination is the likeliest node, and how many others would serve as well.
func destination(m plan.Move) string {
	to := orDash(safe(m.To))
	if others := m.Acceptable.Nodes - 1; m.To != "" && others > 0 {
		to += fmt.Sprintf(" (+%d)", others)
	}
	return to
}

// legend explains what the columns of moves do not say, with the names that the
// figures have in JSON where there is room.
func (t *table) legend(moves []plan.Move) {
	if t.wide && len(moves) > 0 {
		t.line("  CONFIDENCE (confidence in JSON): how likely the replacement lands on one of GOOD NODES (acceptable.nodes), where the goals are still served; TO is the likeliest of them.")
		t.line("  COMES BACK (returnProbability): on the same node again. STAYS PENDING (pendingProbability): on none. BENEFIT and COST: normalised excess removed, and disruption, where 1 is an ordinary pod.")
		return
	}
	if slices.ContainsFunc(moves, func(m plan.Move) bool { return m.To != "" && m.Acceptable.Nodes > 1 }) {
		t.line("  (+n): the goals are served as well on so many other nodes")
	}
}

// hints lists the nodes that are hinted while a wave is carried out.
func (t *table) hints(p plan.Plan) {
	g := columns(">WAVE", "HINT", "NODES")
	for _, h := range p.Hints {
		nodes := make([]string, len(h.Nodes))
		for i, n := range h.Nodes {
			nodes[i] = safe(n)
		}
		if hidden := len(nodes) - maxLines; hidden > 0 && !t.wide {
			nodes = append(nodes[:maxLines], fmt.Sprintf("... and %d more (-o wide shows all)", hidden))
		}
		g.row(strconv.Itoa(h.Wave), safe(h.Kind), strings.Join(nodes, ", "))
	}
	t.section("Hints that keep replacements off nodes while a wave runs (evictor.steer)", g, 0)
}

// rejections writes one line per code, or every sample when wide.
func (t *table) rejections(p plan.Plan) {
	byCode := map[plan.Code][]plan.Rejection{}
	for _, r := range p.Rejections.Samples {
		byCode[r.Reason.Code] = append(byCode[r.Reason.Code], r)
	}
	g := columns(">PODS", "WHY", "FOR EXAMPLE")
	for _, code := range sortedKeys(p.Rejections.Counts) {
		example := "-"
		if s := byCode[code]; len(s) > 0 {
			example = sample(s[0])
		}
		g.row(strconv.Itoa(p.Rejections.Counts[code]), safe(string(code)), example)
	}
	t.section("Left where they are (pods that were considered, by reason)", g, 0)
	if !t.wide {
		return
	}
	g = columns("WHY", "POD", "NODE", "STRATEGY", "MESSAGE")
	for _, code := range sortedKeys(byCode) {
		for _, r := range byCode[code] {
			g.row(safe(string(code)), safe(r.Pod.String()), orDash(safe(r.Node)), orDash(safe(r.Strategy)), safe(r.Reason.Message))
		}
	}
	t.section("Left where they are, pod by pod (the first of each reason)", g, 0)
}

func sample(r plan.Rejection) string {
	where := safe(r.Pod.String())
	if r.Node != "" {
		where += " on " + safe(r.Node)
	}
	if r.Reason.Message == "" {
		return where
	}
	return where + ": " + safe(r.Reason.Message)
}

// inputs names the sources with problems, all of them when wide.
func (t *table) inputs(p plan.Plan) {
	g := columns("SOURCE", ">AGE", ">NODES COVERED", "PROBLEMS")
	for _, in := range p.Inputs {
		if len(in.Problems) == 0 && !t.wide {
			continue
		}
		problems := "none"
		if len(in.Problems) > 0 {
			problems = safe(strings.Join(in.Problems, "; "))
		}
		source := safe(in.Source)
		if in.Statistic != "" {
			source += " (" + safe(in.Statistic) + ")"
		}
		g.row(source, orDash(safe(in.Age)), percent(in.Coverage), problems)
	}
	title := "Inputs with problems (what they do not say counts as unknown, and moves nothing)"
	if t.wide {
		title = "Inputs"
	}
	t.section(title, g, maxLines)
	t.notEnforced(p.NotEnforced)
}

// notEnforced says that the configuration promises more than this version
// keeps. The list is the same in every report, so that only wide has it.
func (t *table) notEnforced(limits []string) {
	if len(limits) == 0 {
		return
	}
	be := "are"
	if len(limits) == 1 {
		be = "is"
	}
	t.line("")
	if !t.wide {
		t.line("%s of the configuration %s not enforced yet by this version (-o wide or `evenkeel config check` lists them).", count(len(limits), "limit"), be)
		return
	}
	t.line("%s", t.paint(bold, "Limits of the configuration that this version does not enforce yet"))
	for _, limit := range limits {
		t.line("  %s", safe(limit))
	}
}
