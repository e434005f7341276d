package answers

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	planCommand    = "evenkeel plan"
	saveCommand    = "evenkeel plan -o yaml > plan.yaml"
	applyCommand   = "evenkeel apply plan.yaml"
	statusCommand  = "evenkeel status"
	configCommand  = "evenkeel config check config.yaml"
	captureCommand = "evenkeel capture -o snapshot.json"
	againCommand   = "evenkeel plan -f snapshot.json"
	kindsCommand   = "evenkeel crds | kubectl apply --server-side -f -"
)

// next says what a person does next.
func (f *facts) next() Next {
	for _, n := range []func() (Next, bool){f.nextUnjudged, f.nextUntrusted, f.nextBlocked, f.nextOfRun, f.nextOfNoMoves, f.nextDecision} {
		if next, applies := n(); applies {
			return complete(f, next, f.Snapshot)
		}
	}
	return complete(f, f.nextApply(), false)
}

// complete adds the flags of the command that prints the report to the next commands. snapshot tells whether these
// read the files of that command.
func complete(f *facts, next Next, snapshot bool) Next {
	if f.Repeat != nil {
		next.Commands = slices.Clone(next.Commands)
		for i, c := range next.Commands {
			next.Commands[i] = f.Repeat(c, snapshot)
		}
	}
	return next
}

// unjudgedRemedies say what helps if nothing could be judged.
var unjudgedRemedies = map[plan.Code]Next{
	plan.NoStrategy:             {Words: Words("Enable a strategy in the configuration, check it, and plan again:"), Commands: []string{configCommand}},
	plan.NothingInScope:         {Words: Words("Correct the selector in the configuration, check it, and plan again:"), Commands: []string{configCommand}},
	plan.NoUsageData:            {Words: Words("Check the source of usage data, and its settings:"), Commands: []string{configCommand}},
	plan.UntrustedServerVersion: trustNext,
	plan.UntrustedScheduler:     trustNext,
	plan.PermissionMissing:      {Words: Words("Grant the permission, and plan again:"), Commands: []string{planCommand}},
}

// trustNext is what makes predictions trusted.
var trustNext = Next{Words: Words("Let ", CodeOf("evenkeel run"), " watch bindings until enough predictions were correct. To see how many were:"),
	Commands: []string{planCommand + " -o wide"}}

// versionNext is what helps if the version of Kubernetes is unknown.
var versionNext = Next{Words: Words("Do not execute this plan. Plan again from a snapshot that states the Kubernetes version."),
	Commands: []string{captureCommand, againCommand},
	Note:     Words(CodeOf("evenkeel capture"), " records the version.")}

func (f *facts) nextUnjudged() (Next, bool) {
	if !f.judged.nothing() {
		return Next{}, false
	}
	for _, r := range f.Plan.NothingJudged {
		if r.Code == plan.UntrustedServerVersion && f.Plan.Cluster.Version == "" {
			return versionNext, true
		}
		if next, known := unjudgedRemedies[r.Code]; known {
			return next, true
		}
	}
	return Next{Words: Words("Find out what is wrong:"), Commands: []string{statusCommand}}, true
}

func (f *facts) nextUntrusted() (Next, bool) {
	if len(f.judged.untrusted) == 0 || f.results != nil {
		return Next{}, false
	}
	if f.Plan.Cluster.Version == "" {
		return versionNext, true
	}
	next := trustNext
	next.Words = Words("Do not execute this plan. ", trustNext.Words)
	return next, true
}

func (f *facts) nextBlocked() (Next, bool) {
	if len(f.Plan.Blocks) == 0 || f.results != nil {
		return Next{}, false
	}
	b := f.Plan.Blocks[0]
	message := ""
	for _, of := range f.Plan.Blocks {
		message += Sentence(of.Reason.Message) + ". "
	}
	switch b.Reason.Code {
	case plan.Paused:
		if !b.Since.IsZero() && f.Plan.TakenAt.After(b.Since) {
			message += "The pause is " + plan.AgeText(f.Plan.TakenAt.Sub(b.Since)) + " old. "
		}
		return Next{Words: Words(message + "To end the pause:"), Commands: []string{"evenkeel resume"}}, true
	case plan.BreakerOpen:
		return Next{Words: Words(message + "To see why, and until when:"), Commands: []string{statusCommand}}, true
	}
	return Next{Words: Words(message + "To see what blocks evictions:"), Commands: []string{statusCommand}}, true
}

func (f *facts) nextOfRun() (Next, bool) {
	switch r := f.results; {
	case r == nil:
		return Next{}, false
	case f.running:
		return Next{Words: Words("Wait. To stop after the evictions in progress:"), Commands: []string{"evenkeel pause"}}, true
	case r.first != nil:
		return Next{Words: Words("See why, and plan again:"), Commands: []string{"evenkeel history pod " + Quote(r.first.Pod.String()), planCommand}}, true
	}
	return Next{Words: Words("Look again after the next change:"), Commands: []string{planCommand}}, true
}

func (f *facts) nextOfNoMoves() (Next, bool) {
	if f.moves > 0 {
		return Next{}, false
	}
	if len(f.judged.noData()) > 0 {
		return unjudgedRemedies[plan.NoUsageData], true
	}
	if f.left > 0 {
		cause, _ := mainCause(f.plan)
		samples := f.plan.Rejections.Samples
		if i := slices.IndexFunc(samples, func(r plan.Rejection) bool { return r.Reason.Code == cause }); i >= 0 {
			return Next{Words: Words("Nothing to execute. To see why one of these pods stays:"),
				Commands: []string{"evenkeel explain pod " + Quote(samples[i].Pod.String())}}, true
		}
		return Next{Words: Words("Nothing to execute. Plan again later:"), Commands: []string{planCommand}}, true
	}
	return Next{Words: Words("Nothing to do. Look again after the next change:"), Commands: []string{planCommand}}, true
}

// nextDecision is for moves about which a person decides, or nobody, and for those that no command can have executed.
func (f *facts) nextDecision() (Next, bool) {
	switch {
	case f.OtherConfig:
		return Next{Words: Words("The release executes only plans with its own configuration, and this plan has another one. Plan without ", CodeOf("--config"),
			", or change that of the release (", CodeOf("helm upgrade"), "). Check it first:"), Commands: []string{configCommand}}, true
	case f.Snapshot || f.mode == plan.Automatic || f.mode == "":
		return Next{}, false
	case f.mode == plan.Approve && f.Name != "":
		return Next{Words: Words("If you agree, approve these steps before " + Moment(f.Plan.Expires) + ":"), Commands: []string{"evenkeel approve " + Quote(f.Name)},
			Note: Words(CodeOf("--steps"), " approves some of them. Evenkeel checks every move again first.")}, true
	case f.mode == plan.Approve && f.Evicts:
		return Next{Words: Words("The release proposes its moves in its next pass, and they wait. To see them, and to approve them:"),
			Commands: []string{"evenkeel approve", "evenkeel approve PLAN"}}, true
	case f.mode == plan.ShowOnly && f.Evicts:
		return Next{Words: Words("If you agree, let the strategy act: change its ", CodeOf("mode"), " to approve or automatic, and check the configuration:"),
			Commands: []string{configCommand}}, true
	}
	return Next{}, false
}

// nextApply is for moves that a person may have executed.
func (f *facts) nextApply() Next {
	next := Next{Commands: []string{saveCommand, applyCommand}, Words: Words("This plan is about a saved snapshot; no cluster can execute it. Plan on your cluster, read that plan, then execute it:"),
		Note: Words(CodeOf("apply"), " evicts pods even if the configuration says ", CodeOf("dryRun: true"), ". It checks every move again first.")}
	switch {
	case f.Snapshot:
	case f.Name != "":
		next.Words = Words("If you agree, plan again, read that plan, then execute it:")
	case f.Evicts:
		next.Words = Words(CodeOf("evenkeel run"), " plans again and evicts in its next pass. To execute a plan now, save it, read it, then execute it:")
	case f.NoRelease:
		next.Words = Words("If you agree, install the kinds of objects that record a plan, save the plan, read it, then execute it. The one shown here is valid until " +
			Moment(f.Plan.Expires) + ":")
		next.Commands = append([]string{kindsCommand}, next.Commands...)
	default:
		next.Words = Words("If you agree, save the plan, read it, then execute it. The one shown here is valid until " + Moment(f.Plan.Expires) + ":")
	}
	return next
}

// Quote returns a name as one word of a shell.
func Quote(name string) string {
	if name == "" {
		return "''"
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '/' || r == '_' || r == ':' || r == ',' || r == '=') {
			return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
	}
	return name
}
