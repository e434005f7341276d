package annotation

import "slices"

// GroupProgram is a program that admits or schedules pods in groups, by the name that guards.groups uses.
type GroupProgram string

// The programs whose groups Evenkeel knows.
const (
	Kueue           GroupProgram = "Kueue"
	Volcano         GroupProgram = "Volcano"
	Coscheduling    GroupProgram = "Coscheduling"
	LeaderWorkerSet GroupProgram = "LeaderWorkerSet"
	JobSet          GroupProgram = "JobSet"
)

// GroupPrograms returns all programs, in the order of the documentation.
func GroupPrograms() []GroupProgram {
	return []GroupProgram{Kueue, Volcano, Coscheduling, LeaderWorkerSet, JobSet}
}

// Group is a pod's membership in a group.
type Group struct {
	Source
	Program GroupProgram
}

// groupKeys lists the labels and annotations with which the programs mark the members of groups. A
// program may mark only the owner: a Job names its Kueue queue, and its pods do not.
var groupKeys = []struct {
	program GroupProgram
	keys    []string
}{
	// Kueue marks the pods of a Deployment like a group of one: each pod waits for quota.
	{Kueue, []string{"kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/managed", "kueue.x-k8s.io/podset",
		"kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/cluster-queue-name"}},
	// Volcano's controller gives every pod of its scheduler a PodGroup, and other projects reuse the first key.
	{Volcano, []string{"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "volcano.sh/job-name"}},
	// The plugin Coscheduling has renamed its label twice. Koordinator reads the second one.
	{Coscheduling, []string{"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"}},
	{LeaderWorkerSet, []string{"leaderworkerset.sigs.k8s.io/name"}},
	{JobSet, []string{"jobset.sigs.k8s.io/jobset-name"}},
}

// allGroupKeys returns the keys of all programs.
func allGroupKeys() []string {
	var out []string
	for _, g := range groupKeys {
		out = append(out, g.keys...)
	}
	return out
}

// readGroups adds one group for each program with a key on the object, unless the program is known already.
func (r *Pod) readGroups(o object) {
	for _, g := range groupKeys {
		if slices.ContainsFunc(r.Groups, func(known Group) bool { return known.Program == g.program }) {
			continue
		}
		for _, key := range g.keys {
			if found := o.requestValues(key); len(found) > 0 {
				r.Groups = append(r.Groups, Group{found[0].truncated(), g.program})
				break
			}
		}
	}
}
