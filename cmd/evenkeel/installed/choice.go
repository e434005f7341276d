package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// Choice is the configuration of a command, and where it comes from.
type Choice struct {
	*config.Config
	// Known reports whether the configuration is that of a file or of the release.
	Known bool
	// podFiles lists the files that the source of usage and of alerts needs, if the configuration is that of a release.
	// They are in the pods of the release. A file with the same path on this machine is another file: to read it would
	// send its content to a server that whoever wrote the configuration chose.
	podFiles []string
	// unknown says why the configuration of the release is not known, if the built-in one replaces it.
	unknown error
	// note says where the configuration comes from, if the command line does not.
	note string
}

// setConfig is the remedy if the configuration of the release cannot be used.
const setConfig = "; set --config to a file, or to builtin for the configuration of this program"

// Choose returns the configuration of a command that reads the cluster: the file, or else that of the release, or else
// the built-in one. It connects only without a file. The error asks for a choice if there are several releases.
func (l *Lookup) Choose(ctx context.Context, file, leaseNamespace string) (Choice, error) {
	if file != "" {
		conf, err := Load(file)
		return Choice{Config: conf, Known: file != Builtin}, err
	}
	of, namespace, err := l.ofRelease(ctx, leaseNamespace)
	if err == nil {
		c := Choice{Config: of.config, Known: true, podFiles: of.config.UsageFiles(),
			note: fmt.Sprintf("configuration of the release in namespace %s (ConfigMap %s)", namespace, of.configMap)}
		if len(c.podFiles) > 0 {
			c.note += "; no usage is measured, because only the pods of the release have " + strings.Join(c.podFiles, ", ") +
				"; to measure it, set --config to a local copy of the configuration, which names local files"
		}
		return c, nil
	}
	note := fmt.Sprintf("warning: the built-in configuration is used, not that of a release: %v%s", err, setConfig)
	switch {
	case errors.As(err, new(SeveralError)):
		return Choice{}, err
	case errors.Is(err, ErrNoRelease):
		note = "" // a warning says that there is no release
	case namespace != "" && !isUnreadable(err):
		return Choice{}, fmt.Errorf("the configuration of the release in namespace %s cannot be used: %w%s", namespace, err, setConfig)
	}
	conf, loadErr := Load(Builtin)
	return Choice{Config: conf, unknown: err, note: note}, loadErr
}

// isUnreadable reports whether the cluster has no readable configuration of a release. Then the built-in
// configuration is used. Any other error is about a configuration that the release has.
func isUnreadable(err error) bool {
	return errors.Is(err, errNotFound) || apierrors.ReasonForError(err) != "" || errors.Is(err, context.DeadlineExceeded)
}

// ofRelease returns the configuration of the release, and its namespace if there is a release.
func (l *Lookup) ofRelease(ctx context.Context, leaseNamespace string) (*found, string, error) {
	client, _, err := l.Connect()
	if err != nil {
		return nil, "", err
	}
	namespace, err := l.Namespace(ctx, client, leaseNamespace)
	if err != nil {
		return nil, "", err
	}
	l.Progress.Start("reading the configuration of the release in namespace %s", namespace)
	defer l.Progress.Stop()
	ctx, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	of, err := read(ctx, client, namespace)
	return of, cmp.Or(namespace, leaseNamespace), err
}

// Measured returns the configuration of the source of usage, or nil if usage cannot be measured.
func (c *Choice) Measured() *config.Config {
	if len(c.podFiles) > 0 {
		return nil
	}
	return c.Config
}

// CheckExecutable returns an error if this process cannot execute a plan with the configuration: it would not heed the
// windows and limits of the release, or could not read its usage and alerts.
func (c *Choice) CheckExecutable() error {
	switch {
	case c.unknown != nil:
		return fmt.Errorf("the configuration of the release is not known, so its windows and limits are not: %w%s", c.unknown, setConfig)
	case len(c.podFiles) > 0:
		return fmt.Errorf("only the pods of the release have files that its configuration needs: %s; "+
			"set --config to a local copy of the configuration, which names local files", strings.Join(c.podFiles, ", "))
	}
	return nil
}

// Tell prints where the configuration comes from. A command calls it after it has reached the cluster, because a
// cluster that cannot be reached is the more important message.
func (c *Choice) Tell(out io.Writer) {
	if c.note != "" {
		fmt.Fprintln(out, "evenkeel:", terminal.Escape(c.note))
	}
}
