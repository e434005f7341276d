package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// neverRepeated are flags about the connection that a printed command lacks: two are secret, and not every command has
// a use for --namespace, whose value --lease-namespace gets.
var neverRepeated = []string{"token", "password", "namespace"}

// repeatedFlags are the flags of a command that the commands in its report repeat, so that they read the same cluster,
// release, configuration and snapshot.
type repeatedFlags struct {
	root                          *cobra.Command
	connection, planning, reading []repeatedFlag
	// release is the namespace that apply needs if the cluster has no release, and config the file that it needs.
	release, config string
}

// repeatedFlag is a flag of the command line, as the shell reads it.
type repeatedFlag struct{ name, words string }

// newRepeatedFlags returns the flags of a command line. The command calls it before it changes their values.
func newRepeatedFlags(cmd *cobra.Command) *repeatedFlags {
	r := &repeatedFlags{root: cmd.Root()}
	ofConnection := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(connection.Flags).Add(ofConnection)
	cmd.Flags().VisitAll(func(fl *pflag.Flag) {
		into := map[string]*[]repeatedFlag{"config": &r.planning, "lease-namespace": &r.planning, "strategy": &r.planning, "save-input": &r.planning,
			"filename": &r.reading, "kubernetes-version": &r.reading}[fl.Name]
		if ofConnection.Lookup(fl.Name) != nil && !slices.Contains(neverRepeated, fl.Name) {
			into = &r.connection
		}
		if into == nil || fl.Value.String() == fl.DefValue {
			return
		}
		values := []string{fl.Value.String()}
		if list, is := fl.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		between := " "
		if fl.NoOptDefVal != "" {
			between = "=" // the next word would not be its value
		}
		for _, v := range values {
			if u, err := url.Parse(v); into == &r.connection && err == nil && u.User != nil {
				continue // it may contain a password
			}
			*into = append(*into, repeatedFlag{fl.Name, "--" + fl.Name + between + answers.Quote(v)})
		}
		if fl.Name == "config" && values[0] != installed.Builtin {
			r.config = values[0]
		}
	})
	return r
}

// withoutRelease makes apply work in a cluster that has no release: it needs a namespace for the objects of the plan,
// and a configuration.
func (r *repeatedFlags) withoutRelease() {
	r.release = corev1.NamespaceDefault
	r.addDefault("config", installed.Builtin)
}

// addDefault adds a flag that the command line lacks.
func (r *repeatedFlags) addDefault(name, value string) {
	if !slices.ContainsFunc(r.planning, func(f repeatedFlag) bool { return f.name == name }) {
		r.planning = append(r.planning, repeatedFlag{name, "--" + name + " " + answers.Quote(value)})
	}
}

// addTo returns a command of a report with those flags that it accepts and lacks. snapshot tells whether it reads the
// files of this command. In a pipe, the flags about the connection are those of kubectl, which ends it.
func (r *repeatedFlags) addTo(command string, snapshot bool) string {
	words := strings.Fields(command)
	switch {
	case len(words) > 3 && words[1] == "config" && words[2] == "check" && r.config != "":
		return strings.Join(append(words[:3], answers.Quote(r.config)), " ")
	case len(words) < 2 || words[0] != "evenkeel":
		return command
	}
	to, _, err := r.root.Find(words[1:])
	if err != nil || to == r.root {
		return command
	}
	add := slices.Concat(r.connection, r.planning)
	if snapshot && len(r.reading) > 0 {
		add = slices.Concat(r.planning, r.reading)
	}
	if to.Name() == "apply" && r.release != "" {
		add = append(add, repeatedFlag{"lease-namespace", "--lease-namespace " + answers.Quote(r.release)})
	}
	var flags string
	for _, f := range add {
		of := to.Flag(f.name)
		if of != nil && !slices.Contains(words, "--"+f.name) && (of.Shorthand == "" || !slices.Contains(words, "-"+of.Shorthand)) {
			flags += " " + f.words
		}
	}
	if at := strings.LastIndex(command, " > "); at >= 0 && !strings.Contains(command[at:], "'") {
		return command[:at] + flags + command[at:]
	}
	return command + flags
}
