package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxKinds is the number of kinds and reasons that one answer names.
const maxKinds = 3

// good answers whether the goals are met, by kind.
func (f *facts) good() (Answer, bool) {
	a := Answer{Question: "Is it good now?"}
	is, are := "is", "are"
	if f.results != nil && !f.running {
		a.Question, is, are = "Was it good before?", "was", "were"
	}
	switch {
	case f.judged.nothing():
		a.Statement, a.Detail, a.Section, a.Link = Words("Unknown."), Words(Sentence(f.judged.messages())), "inputs", "See the inputs"
	case f.unmet == 0 && f.total == 0 && f.toEmpty > 0:
		a.Statement, a.Detail = Words("Yes."), Words(fmt.Sprintf("No goal is violated. %s %s few requests.", Count(f.toEmpty, "node"), plural.Choose(f.toEmpty, "has", "have")))
	case f.unmet == 0 && f.total == 0 && !f.judged.noViolation():
		return a, f.moves > 0 && (f.results == nil || f.running) && f.notStated(&a)
	case f.unmet == 0:
		a.Statement, a.Detail = Words("Yes."), Words(f.allMet(is, are))
	default:
		a.Statement = Words("No.")
		if f.unmet*10 <= f.total {
			a.Statement = Words("Mostly.")
		}
		a.Detail = Words(f.unmetWords(is, are) + ": " + Join(f.kinds()) + ".")
	}
	if no := f.judged.missing(); len(no) > 0 && !f.judged.nothing() {
		a.Detail, a.Section, a.Link = Words(a.Detail, " Not judged: "+strings.Join(no, "; ")+"."), "inputs", "See the inputs"
	}
	return a, true
}

// notStated is the answer of a plan with moves and without goals, such as steps that a person approved.
func (f *facts) notStated(a *Answer) bool {
	a.Statement, a.Detail = Words("Unknown."), Words("This plan does not count its goals.")
	return true
}

func (f *facts) allMet(is, are string) string {
	switch {
	case f.total == 0:
		return "No strategy found a violation."
	case f.total == 1:
		return "The only goal " + is + " met."
	}
	return fmt.Sprintf("All %s %s met.", Count(f.total, "goal"), are)
}

// kinds counts the unmet goals by kind, and those of strategies that are not due.
func (f *facts) kinds() (out []string) {
	type kind struct {
		kind     plan.GoalKind
		basis    plan.Basis
		resource string
	}
	counts, limits, order := map[kind]int{}, map[kind][]float64{}, []kind{}
	add := func(k kind, n int) {
		if counts[k] == 0 && n > 0 {
			order = append(order, k)
		}
		counts[k] += n
	}
	for _, g := range f.goals {
		k := kind{g.Kind, g.Basis, g.Resource}
		add(k, 1)
		if !slices.Contains(limits[k], g.Limit) {
			limits[k] = append(limits[k], g.Limit)
		}
	}
	rest := f.unmet - len(f.goals)
	for _, p := range f.plans() {
		unlisted, _ := p.UnlistedGoals()
		for _, c := range p.OmittedGoals {
			unlisted -= c.Unmet
		}
		add(kind{kind: plan.PodAway}, unlisted)
		rest -= unlisted
	}
	slices.SortStableFunc(order, func(a, b kind) int { return cmp.Compare(counts[b], counts[a]) })
	for i, k := range order {
		n := counts[k]
		words, known := goalWords[k.kind]
		switch {
		case i >= maxKinds:
			rest += n
		case k.kind == plan.NodeBelow && len(limits[k]) == 1:
			out = append(out, Count(n, "node")+" above "+percent.Of(limits[k][0])+" of "+usedWord(k.basis)+ResourceWord(k.resource))
		case k.kind == plan.NodeBelow:
			out = append(out, Count(n, "node")+" above "+plural.Choose(n, "its", "their")+" target of "+usedWord(k.basis)+ResourceWord(k.resource))
		case known:
			out = append(out, Number(n)+" "+plural.Choose(n, words[0], words[1]))
		default:
			rest += n
		}
	}
	for _, st := range f.Plan.Strategies {
		if n := st.Unmet - st.NodesToEmpty; !st.Due && n > 0 && n <= rest {
			out, rest = append(out, Count(n, "goal")+" of strategy "+st.Name+" (not due)"), rest-n
		}
	}
	if rest > 0 {
		out = append(out, Count(rest, "other goal"))
	}
	return out
}

func usedWord(b plan.Basis) string {
	if b == plan.BasisLoad {
		return "used "
	}
	return ""
}

// what answers what would happen, or what happened.
func (f *facts) what() (Answer, bool) {
	a := Answer{Question: "What would happen?"}
	if r := f.results; r != nil {
		f.happened(&a, r)
		return a, true
	}
	if f.moves == 0 {
		a.Statement, a.Detail = Words("Nothing."), Words("The plan has no evictions.")
		if f.judged.nothing() && f.Plan.ConfigHash == "" {
			a.Detail = Words("There is no plan.")
		}
		return a, true
	}
	waves := ""
	if f.waves > 0 && f.Omitted.Moves == 0 {
		waves = ", in " + Count(f.waves, "wave")
	}
	a.Statement, a.Section, a.Link = Words(Count(f.moves, "pod")+" would be evicted"+waves+"."), "moves", "See the moves"
	a.Detail = Words(f.afterwards()+" ", f.effect(), f.moreMoves())
	return a, true
}

// afterwards says how many goals are met after the moves.
func (f *facts) afterwards() string {
	var then []string
	switch {
	case f.total == 1:
		then = append(then, "the only goal is "+plural.Choose(f.left, "not met", "met"))
	case f.total > 1:
		then = append(then, fmt.Sprintf("%s of %s are met", Number(f.total-f.left), Count(f.total, "goal")))
	}
	if f.toEmpty > 0 {
		then = append(then, fmt.Sprintf("%s of %s with few requests %s empty", Number(f.emptied), Count(f.toEmpty, "node"), plural.Choose(f.emptied, "is", "are")))
	}
	if len(then) == 0 {
		return ""
	}
	return "Then " + Join(then) + "."
}

// effect says that nothing has happened, and who decides.
func (f *facts) effect() any {
	_, blocked := f.judged.block()
	switch {
	case f.Snapshot:
		return "This plan is about a saved snapshot: nothing has been evicted."
	case len(f.judged.untrusted) > 0:
		return "Nothing is evicted, because the predictions are not trusted."
	case blocked:
		return "Nothing is evicted while evictions are blocked."
	case f.mode == plan.ShowOnly:
		return Words("Nobody evicts these pods: the strategy has ", CodeOf("mode: dryRun"), ".")
	case f.mode == plan.Approve && f.Name != "":
		return "The moves wait until a person approves them; nothing has been evicted."
	case f.mode == plan.Approve:
		return "A person must approve the moves first; nothing has been evicted."
	case f.Evicts:
		return Words("Nothing has been evicted yet; with this configuration, ", CodeOf("evenkeel run"), " evicts.")
	}
	return "This is a dry run: nothing has been evicted."
}

// moreMoves counts the moves of proposals beside those of the plan.
func (f *facts) moreMoves() string {
	out := ""
	for _, of := range f.Plan.Proposals {
		n := len(of.Plan.Moves)
		if &of.Plan == f.plan || n == 0 || f.plan != &f.Plan {
			continue
		}
		what := plural.Choose(n, "needs", "need") + " approval"
		if of.Mode == plan.ShowOnly {
			what = plural.Choose(n, "is", "are") + " only shown"
		}
		out += fmt.Sprintf(" %s %s.", Count(n, "more eviction"), what)
	}
	return out
}

// happened answers for a pass that evicts.
func (f *facts) happened(a *Answer, r *results) {
	a.Question, a.Section, a.Link = "What happened?", "moves", "See the moves"
	words := fmt.Sprintf("%s of %s %s evicted", Number(r.evicted), Count(r.planned, "pod"), plural.Choose(r.evicted, "was", "were"))
	if f.running {
		a.Question, words = "What happens now?", fmt.Sprintf("%s of %s %s evicted, %s left", Number(r.evicted), Count(r.planned, "pod"),
			plural.Choose(r.evicted, "is", "are"), Number(r.remaining)+" "+plural.Choose(r.remaining, "is", "are"))
	}
	a.Statement = Words(words + ".")
	var detail []any
	if f.total > 0 && !f.running {
		if r.asPredicted() {
			detail = append(detail, fmt.Sprintf("As predicted, %s of %s are met now.", Number(f.total-f.left), Count(f.total, "goal")))
		} else {
			detail = append(detail, fmt.Sprintf("The plan predicted %s of %s met; the next plan counts again.", Number(f.total-f.left), Count(f.total, "goal")))
		}
	}
	if s := f.Run.Stopped; s != nil && !f.running {
		detail = append(detail, " The pass ended early: "+s.Message+".")
	}
	if by := f.Run.ApprovedBy; by != "" {
		detail = append(detail, " Approved by ", NameOf(by), ".")
	}
	a.Detail = Words(detail...)
}

// why counts the moves by reason.
func (f *facts) why() (Answer, bool) {
	if len(f.plan.Moves) == 0 {
		return Answer{}, false
	}
	counts, order := map[plan.Code]int{}, []plan.Code{}
	for i := range f.plan.Moves {
		c := f.plan.Moves[i].Reason.Code
		if counts[c]++; counts[c] == 1 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b plan.Code) int { return cmp.Compare(counts[b], counts[a]) })
	one, many := "leaves", "leave"
	switch r := f.results; {
	case r == nil || f.running:
	case r.evicted < r.planned:
		one, many = "was to leave", "were to leave"
	default:
		one, many = "left", "left"
	}
	var parts []string
	rest := 0
	for i, c := range order {
		n := counts[c]
		words, known := moveWords[c]
		if i >= maxKinds || !known {
			rest += n
			continue
		}
		parts = append(parts, Count(n, "pod")+" "+plural.Choose(n, one, many)+" "+plural.Choose(n, words[0], words[1]))
	}
	if rest > 0 {
		parts = append(parts, Count(rest, "pod")+" "+plural.Choose(rest, one, many)+" for other reasons")
	}
	a := Answer{Question: "Why?", Statement: Words(strings.Join(parts, "; ") + ".")}
	also, strategies := helpOthers(f.plan)
	switch {
	case also > 0:
		a.Detail = Words(Count(also, "move") + " also " + plural.Choose(also, "helps", "help") + " to meet goals of " + Join(strategies) + ".")
	case len(order) == 1 && f.unmet == 1:
		a.Detail = Words(ReasonOf(&f.plan.Moves[0]) + ".")
	case counts[plan.NodeOverUtilized] > 0 && len(f.Targets) > 0:
		var targets []string
		for _, t := range f.Targets {
			targets = append(targets, percent.Of(t.Limit)+" of "+usedWord(t.Basis)+ResourceWord(t.Resource))
		}
		a.Detail = Words("The target is " + Join(targets) + ".")
	}
	return a, true
}

// helpOthers counts the moves that also serve goals of other strategies than their own, and names these strategies.
func helpOthers(p *plan.Plan) (moves int, strategies []string) {
	of := make(map[string]string, len(p.Goals))
	for i := range p.Goals {
		of[p.Goals[i].ID] = p.Goals[i].Strategy
	}
	for i := range p.Moves {
		m, helps := &p.Moves[i], false
		for _, id := range m.Goals {
			if st := of[id]; st != "" && st != m.Strategy {
				helps = true
				if name := "strategy " + st; !slices.Contains(strategies, name) {
					strategies = append(strategies, name)
				}
			}
		}
		if helps {
			moves++
		}
	}
	slices.Sort(strategies)
	return moves, strategies
}

// differs answers what did not go as planned.
func (f *facts) differs() (Answer, bool) {
	r := f.results
	if r == nil || f.running && r.first == nil {
		return Answer{}, false
	}
	a := Answer{Question: "What went differently?", Statement: Words("Nothing."), Detail: Words("Every move ended as the plan predicted.")}
	if r.first == nil && r.remaining == 0 {
		return a, true
	}
	a.Section, a.Link = "moves", "See the moves"
	n := r.planned - r.predicted
	if f.running {
		n -= r.remaining
	}
	a.Statement = Words(fmt.Sprintf("%s of %s.", Number(n), Count(r.planned, "move")))
	if o := r.first; o != nil {
		detail := []any{"The first: ", NameOf(o.Pod.String())}
		switch {
		case o.Landed != "" && !o.LandedAsPredicted && r.move != nil && r.move.To != "":
			detail = append(detail, " landed on ", NameOf(o.Landed), " instead of ", NameOf(r.move.To))
		case o.Landed != "" && !o.LandedAsPredicted:
			detail = append(detail, " landed on ", NameOf(o.Landed))
		case o.Reason.Message != "":
			detail = append(detail, ": "+o.Reason.Message)
		default:
			detail = append(detail, ": "+string(o.Outcome))
		}
		a.Detail = Words(append(detail, ".")...)
	}
	if r.first == nil {
		a.Detail = Words(Count(r.remaining, "move") + " " + plural.Choose(r.remaining, "was", "were") + " not begun.")
	}
	return a, true
}
