package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// leaderChange is how long another process may need to take a Lease that its holder does not renew.
const leaderChange = time.Minute

// minPeriod is the least time between two passes for which a late pass counts as overdue: a pass may take this long.
const minPeriod = 5 * time.Minute

// findings returns what a person must know, the worst first. There is at least one.
func (r *Release) findings() (out []finding) {
	for _, f := range []func() *finding{r.withoutObject, r.withoutLeader, r.overdue, r.failed, r.breakerOpen, r.paused, r.otherBlock, r.usageMissing,
		r.nothingJudged, r.untrusted, r.otherDeschedulers, r.approvalWaits, r.executionWaits, r.onlyCommands, r.dryRun} {
		if found := f(); found != nil {
			out = append(out, *found)
		}
	}
	running := r.running()
	switch {
	case len(out) == 0 && running == nil:
		out = []finding{r.allWell()}
	case running != nil:
		out = append(out, *running)
	}
	if found := r.besideTrial(); found != nil {
		out = append(out, *found)
	}
	return out
}

// kubectl returns a kubectl command in the namespace of the release.
func (r *Release) kubectl(args string) string {
	return "kubectl -n " + escape(r.Namespace) + " " + args
}

// pods are the workloads and pods of a release.
const pods = "get deployments,cronjobs,jobs,pods"

func (r *Release) withoutObject() *finding {
	leads := r.Lease != nil && r.Lease.Holder != ""
	switch {
	case r.Object != nil && r.Object.Status.LastPass != nil, r.pause() != nil:
		return nil
	case r.KindsMissing:
		return &finding{head: "its state is unknown", what: "The cluster lacks the CustomResourceDefinitions of Evenkeel, so passes keep no record, and evict no pod.",
			wrong: "Evenkeel cannot say what it does and did.", todo: []string{"Install the definitions:", "evenkeel crds | kubectl apply --server-side -f -"}}
	case !r.NoObject && r.Object == nil:
		return &finding{head: "its state is unknown", what: "The state of the release (Rebalancer evenkeel) could not be read.", todo: []string{"Ask somebody with the permission that is named below, or get it."}}
	case leads:
		return &finding{head: "no pass yet", what: "Evenkeel runs, and has no record of a pass: its first pass has not ended yet, or its Rebalancer was deleted.",
			todo: []string{"Nothing yet: look again after the next pass."}}
	}
	return &finding{head: "it never ran", what: "The release has made no pass, and no process of it runs now.", wrong: "Nothing balances this cluster.",
		todo: []string{"See whether its pods start (a CronJob starts one at its next time):", r.kubectl(pods)}}
}

func (r *Release) withoutLeader() *finding {
	if r.Lease == nil || r.Lease.Holder != "" || r.Object == nil || r.Object.Status.LastPass == nil || r.Object.Status.Schedule == "CronJob" || byCommand(r) {
		return nil
	}
	since := "no process has held the Lease so far"
	if !r.Lease.Renewed.IsZero() {
		since = "the last one stopped " + r.ago(r.Lease.Renewed)
	}
	f := &finding{head: "no process leads", what: "No process of Evenkeel is in charge: " + since + ". No pass runs, and no pod is evicted."}
	if r.Now.Sub(r.Lease.Renewed) < leaderChange {
		f.todo = []string{"Nothing yet: another replica takes over within a minute. Then look again."}
		return f
	}
	f.wrong = "Nothing balances this cluster. The pods of the cluster itself are not affected."
	f.todo = []string{"See why its pods do not run:", r.kubectl(pods)}
	return f
}

// overdue finds the strategy whose pass is late by more than the time between two passes.
func (r *Release) overdue() *finding {
	if r.Object == nil || r.Running != nil || r.Object.Status.LastPass == nil {
		return nil
	}
	s := &r.Object.Status
	var late *v1alpha1.StrategyStatus
	for i := range s.Strategies {
		st := &s.Strategies[i]
		if st.NextPass == nil {
			continue
		}
		last := cmp.Or(timeOf(st.LastPass), timeOf(s.LastPass.Started))
		period := max(minPeriod, st.NextPass.Sub(last))
		if r.Now.Sub(st.NextPass.Time) > period && (late == nil || st.NextPass.Before(late.NextPass)) {
			late = st
		}
	}
	if late == nil {
		return nil
	}
	f := &finding{head: "passes are overdue", what: fmt.Sprintf("The next pass of strategy %s was due %s and did not end. What is shown here is old: the last pass ended %s.",
		escape(late.Name), r.ago(late.NextPass.Time), r.ago(timeOf(s.LastPass.Finished))), wrong: "The state is stale, because passes do not run when they should."}
	if s.Schedule == "CronJob" {
		f.todo = []string{"See whether the CronJobs are suspended or their jobs fail:", r.kubectl(pods)}
		return f
	}
	f.todo = []string{"See what the process that leads waits for:", "evenkeel logs --tail 50"}
	return f
}

func (r *Release) failed() *finding {
	ready := r.condition(v1alpha1.ConditionReady)
	if ready.Status != "False" {
		return nil
	}
	what := "The last pass could not make a plan (" + escape(ready.Reason) + "; the row Error has the message). No pod was evicted."
	if p := r.Object.Status.LastPass; p != nil && p.Moves > 0 {
		what = fmt.Sprintf("The last pass failed after it had evicted %s (%s; the row Error has the message).", plural.Count(int(p.Evicted), "pod"), escape(ready.Reason))
	}
	return &finding{head: "the last pass failed", what: what,
		wrong: "Passes have failed for " + span(r.Now.Sub(ready.LastTransitionTime.Time)) + ".", todo: []string{"See what the reason means and what helps:", "evenkeel explain reason " + escape(ready.Reason)}}
}

// endPause is what to do about a pause.
const endPause = "Nothing, unless the pause is no longer needed. Then ask the person who paused, and end it:"

// pause returns the pause of evictions that holds now, or nil.
func (r *Release) pause() *v1alpha1.Pause {
	if r.Object == nil || r.Object.Spec.Pause == nil || r.Object.Spec.Pause.Until != nil && !r.Now.Before(r.Object.Spec.Pause.Until.Time) {
		return nil
	}
	return r.Object.Spec.Pause
}

func (r *Release) paused() *finding {
	p := r.pause()
	if p == nil {
		return nil
	}
	what := "All evictions are paused"
	if p.Since != nil {
		what = "All evictions have been paused for " + span(r.Now.Sub(p.Since.Time)) + " (since " + p.Since.UTC().Format(time.RFC3339) + ")"
	}
	what += " by " + cmp.Or(escape(p.By), "somebody")
	if p.Reason != "" {
		what += `, with the reason "` + escape(p.Reason) + `"`
	}
	if p.Until == nil {
		what += ". The pause has no end: somebody has to end it."
	} else {
		what += fmt.Sprintf(". The pause ends by itself %s (%s).", r.until(p.Until.Time), p.Until.UTC().Format(time.RFC3339))
	}
	return &finding{head: "evictions are paused", what: what + " Meanwhile passes still plan, and evict no pod.", todo: []string{endPause, "evenkeel resume"}}
}

// otherBlock says what else stopped the evictions of the last pass.
func (r *Release) otherBlock() *finding {
	c := r.condition(v1alpha1.ConditionEvicting)
	if c.Status != "False" || slices.Contains([]string{string(plan.Paused), string(plan.BreakerOpen), "DryRun", r.condition(v1alpha1.ConditionReady).Reason}, c.Reason) {
		return nil
	}
	return &finding{head: "the last pass was stopped", what: "The last pass ended early: " + escape(c.Message) + ".", wrong: "Moves that were planned were not made.",
		todo: []string{"See what the reason means and what helps:", "evenkeel explain reason " + escape(c.Reason)}}
}

// usageSources are the sources of measured usage, and how to see whether they answer.
var usageSources = []struct{ source, name, look, command string }{
	{"prometheus", "Prometheus", "See whether Prometheus runs, and answers at load.prometheus.url of the configuration:",
		"kubectl get pods --all-namespaces | grep -i prometheus"},
	{"metricsServer", "metrics-server", "See whether metrics-server answers:", "kubectl top nodes"},
	{"loadWatcher", "load-watcher", "See whether load-watcher runs, and answers at load.loadWatcher.url of the configuration:",
		"kubectl get pods --all-namespaces | grep -i load-watcher"},
}

// sourceOfUsage returns the source of measured usage of an input, or nil.
func sourceOfUsage(input string) *struct{ source, name, look, command string } {
	for i := range usageSources {
		if usageSources[i].source == input {
			return &usageSources[i]
		}
	}
	return nil
}

// withoutUsage returns the strategies that lack measured usage.
func (r *Release) withoutUsage() (out []string) {
	for _, n := range r.Object.Status.Notices {
		if n.Code == string(plan.NoUsageData) && n.Strategy != "" {
			out = append(out, escape(n.Strategy))
		}
	}
	return out
}

// usageMissing names the strategies that do nothing because measured usage is missing.
func (r *Release) usageMissing() *finding {
	if r.Object == nil {
		return nil
	}
	idle, why, hints := r.withoutUsage(), "", ""
	for _, n := range r.Object.Status.Notices {
		switch {
		case n.Code == string(plan.NoUsageData) && n.Strategy != "":
			why = escape(n.Message)
		case n.Code == "HintsWithoutData":
			why, hints = escape(n.Message), "hints"
		}
	}
	if why == "" {
		return nil
	}
	who := hints
	if len(idle) > 0 {
		who = plural.Choose(len(idle), "strategy ", "strategies ") + strings.Join(idle, ", ")
		if hints != "" {
			who += " and hints"
		}
	}
	f := &finding{}
	head, fact, remedy := "measured usage is missing", "Evenkeel lacks measured usage", "it has this data"
	for _, in := range r.Object.Status.Inputs {
		source := sourceOfUsage(in.Source)
		if source == nil {
			continue
		}
		if len(in.Problems) > 0 {
			why = source.name + " does not answer as it should; the row Error has the message"
			if since, silent := strings.CutPrefix(in.Problems[0], "no answer since "); silent {
				since, _, _ = strings.Cut(since, " ")
				head, fact, why, remedy = source.name+" does not answer", source.name+" has not answered since "+escape(since), "the row Error has the message", "it answers"
			}
		}
		f.todo = append(f.todo, source.look, source.command)
	}
	some := len(idle)
	f.head = head + ", so " + who + " " + plural.Choose(some, "does", "do") + " nothing"
	f.what = fmt.Sprintf("%s (%s). So %s %s no pod. Other strategies go on.", fact, why, who, plural.Choose(some, "moves", "move"))
	f.wrong = fmt.Sprintf("%s. Until %s, %s %s.", fact, remedy, who, plural.Choose(some, "waits", "wait"))
	f.todo = append(f.todo, "Evenkeel goes on by itself when the source answers again.")
	return f
}

// nothingJudged says why the last pass could judge nothing, if missing usage is not the reason.
func (r *Release) nothingJudged() *finding {
	c := r.condition(v1alpha1.ConditionJudging)
	if c.Status != "False" || c.Reason == string(plan.NoUsageData) || r.condition(v1alpha1.ConditionReady).Reason == c.Reason {
		return nil
	}
	return &finding{head: "the last pass could judge nothing", what: "The last pass could not tell whether the cluster is balanced: " + escape(c.Message) + ".",
		wrong: "Nothing is moved until passes can judge again.", todo: []string{"See what the reason means and what helps:", "evenkeel explain reason " + escape(c.Reason)}}
}

// untrusted names the schedulers whose pods are not moved.
func (r *Release) untrusted() *finding {
	if r.Object == nil {
		return nil
	}
	var why []string
	for _, n := range r.Object.Status.Notices {
		if n.Code == string(plan.UntrustedScheduler) {
			why = append(why, escape(n.Message))
		}
	}
	if why == nil {
		return nil
	}
	return &finding{head: "predictions are not trusted", what: "Evenkeel does not move pods of a scheduler whose choice of nodes it cannot predict. " + strings.Join(why, "; ") + ".",
		wrong: "Pods of this scheduler are not moved.", todo: []string{"See what the reason means and what helps:", "evenkeel explain reason " + string(plan.UntrustedScheduler)}}
}

// approvalWaits says what waits for the decision of a person.
func (r *Release) approvalWaits() *finding {
	var what, todo []string
	steps := 0
	for _, w := range r.Waiting {
		if w.Steps == 0 {
			continue
		}
		steps += w.Steps
		strategies, namespaces := map[string]bool{}, map[string]bool{}
		for _, m := range w.Moves {
			strategies[escape(m.Strategy)], namespaces[escape(m.Pod.Namespace)] = true, true
		}
		text := plural.Count(w.Steps, "pod")
		if len(w.Moves) > 0 {
			text += fmt.Sprintf(" of %s %s, for %s %s", plural.Noun(len(namespaces), "namespace"), someOf(namespaces),
				plural.Choose(len(strategies), "strategy", "strategies"), someOf(strategies))
		}
		what = append(what, fmt.Sprintf("%s (plan %s, which expires %s, at %s)", text, escape(w.ID), r.until(w.Expires), w.Expires.UTC().Format(time.RFC3339)))
		id := escape(w.ID)
		todo = append(todo, "evenkeel approve "+id+"   # lets Evenkeel evict the pods", "evenkeel discard "+id+"   # refuses; nothing is evicted")
	}
	if what == nil {
		return nil
	}
	first := "Decide, or let the plan expire:"
	if r.pause() != nil {
		first = "After the pause, decide, or let the plan expire:"
	}
	todo = append([]string{first, "evenkeel approve   # shows which pods would move, and where; changes nothing"}, todo...)
	if r.dryRun() != nil {
		todo = []string{"This dry run refuses an approval. To approve, first set dryRun: false; or let the plan expire."}
	}
	return &finding{head: plural.Choose(len(what), "a plan waits", "plans wait") + " for approval: " + plural.Count(steps, "step"), what: "To balance the cluster, Evenkeel wants to evict " +
		strings.Join(what, ", and ") + ". It asks first, and evicts none of them until a person approves.",
		todo: todo}
}

// executionWaits says when approved steps are executed.
func (r *Release) executionWaits() *finding {
	n := 0
	for _, w := range r.Waiting {
		n += w.Approved
	}
	if n == 0 || r.Running != nil {
		return nil
	}
	by := "the process that leads executes them within a minute, unless a pass runs"
	switch {
	case r.Lease == nil:
		by = "the next process that leads executes them"
	case r.Lease.Holder == "" && r.Object != nil && r.Object.Status.Schedule == "CronJob":
		by = "the next job executes them"
	case r.Lease.Holder == "":
		by = "the next process that leads executes them, or finds that they were executed"
	}
	return &finding{head: "approved evictions wait", what: plural.Count(n, "approved eviction") + " " + plural.Choose(n, "has", "have") + " not been made yet: " + by + "."}
}

// someOf lists names, at most three.
func someOf(names map[string]bool) string {
	all := sortedKeys(names)
	if len(all) > 3 {
		all = append(all[:3], fmt.Sprintf("%d more", len(all)-3))
	}
	return strings.Join(all, ", ")
}

func (r *Release) dryRun() *finding {
	if (r.Lease == nil || !r.Lease.DryRun) && (r.Object == nil || r.Object.Status.Mode != "DryRun") {
		return nil
	}
	return &finding{head: "a dry run, which evicts nothing", what: "Evenkeel is configured to show what it would do, and to evict nothing (dryRun: true).",
		todo: []string{nothingToDo + " To see what it would move now:", "evenkeel plan"}}
}

func (r *Release) allWell() finding {
	has := map[v1alpha1.Mode]bool{}
	for _, st := range r.Object.Status.Strategies {
		has[st.Mode] = true
	}
	what := "Evenkeel works. In regular passes, it evicts pods so that their replacements start on better nodes, to keep the cluster balanced."
	switch {
	case has[v1alpha1.ModeAutomatic] || has[""]:
	case has[v1alpha1.ModeApprove]:
		what = "Evenkeel works. In regular passes, it plans evictions that keep the cluster balanced. It evicts only after a person approves (mode: approve)."
	case has[v1alpha1.ModeDryRun]:
		what = "Evenkeel works. In regular passes, it plans evictions. It evicts nothing, because each strategy is a dry run (mode: dryRun)."
	}
	var next *v1alpha1.StrategyStatus
	for i := range r.Object.Status.Strategies {
		if st := &r.Object.Status.Strategies[i]; st.NextPass != nil && (next == nil || st.NextPass.Before(next.NextPass)) {
			next = st
		}
	}
	if next != nil {
		what += fmt.Sprintf(" The next pass is %s (strategy %s).", strings.Replace(r.until(next.NextPass.Time), "was due", "due since", 1), escape(next.Name))
	}
	f := finding{head: "all is well", what: what}
	if len(r.Unknown) > 0 {
		f.head = "all is well, as far as this account may see"
	}
	if s := &r.Object.Status; s.LastPass.Moves == 0 && s.LastPass.Proposed == 0 && s.UnmetGoals > 0 {
		n := int(s.UnmetGoals)
		f.what += fmt.Sprintf(" The last pass planned no move, although %s %s not met.", plural.Count(n, "goal"), plural.Choose(n, "was", "were"))
		f.todo = []string{nothingToDo + " To see why the pods stay:", "evenkeel plan"}
	}
	return f
}
