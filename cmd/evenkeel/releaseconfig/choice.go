package releaseconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// Choice is the configuration of a command, and where it comes from.
type Choice struct {
	*config.Config
	// Known reports whether the configuration is that of a file or of the release.
	Known bool
	// missing lists the files of the source of usage that only the pods of the release have. Usage cannot be measured
	// without them.
	missing []string
	// note says where the configuration comes from, if the command line does not.
	note string
}

// Choose returns the configuration of a command that reads the cluster: the file, or else that of the release, or else
// the built-in one. It connects only without a file. The error asks for a choice if there are several releases.
func Choose(ctx context.Context, connect func() (kubernetes.Interface, *rest.Config, error), file, leaseNamespace string) (Choice, error) {
	if file != "" {
		conf, err := Load(file)
		return Choice{Config: conf, Known: file != Builtin}, err
	}
	of, namespace, err := ofRelease(ctx, connect, leaseNamespace)
	if err == nil {
		c := Choice{Config: of.config, Known: true, missing: of.config.MissingUsageFiles(),
			note: fmt.Sprintf("configuration of the release in namespace %s (ConfigMap %s)", namespace, of.configMap)}
		if len(c.missing) > 0 {
			c.note += "; no usage is measured, because this machine lacks files of its pods: " + strings.Join(c.missing, ", ")
		}
		return c, nil
	}
	const remedy = "; set --config to a file, or to builtin for the configuration of this program"
	note := fmt.Sprintf("warning: the built-in configuration is used, not that of a release: %v%s", err, remedy)
	switch {
	case errors.As(err, new(SeveralError)):
		return Choice{}, err
	case errors.Is(err, ErrNoRelease):
		note = "" // a warning says that there is no release
	case namespace != "" && !isUnreadable(err):
		return Choice{}, fmt.Errorf("the configuration of the release in namespace %s cannot be used: %w%s", namespace, err, remedy)
	}
	conf, err := Load(Builtin)
	return Choice{Config: conf, note: note}, err
}

// isUnreadable reports whether the cluster has no readable configuration of a release. Then the built-in
// configuration is used. Any other error is about a configuration that the release has.
func isUnreadable(err error) bool {
	return errors.Is(err, errNotFound) || apierrors.ReasonForError(err) != "" || errors.Is(err, context.DeadlineExceeded)
}

// ofRelease returns the configuration of the release, and its namespace if there is a release.
func ofRelease(ctx context.Context, connect func() (kubernetes.Interface, *rest.Config, error),
	leaseNamespace string) (*found, string, error) {
	client, _, err := connect()
	if err != nil {
		return nil, "", err
	}
	namespace, err := Namespace(ctx, client, leaseNamespace)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	of, err := read(ctx, client, namespace)
	return of, cmp.Or(namespace, leaseNamespace), err
}

// Measured returns the configuration of the source of usage, or nil if usage cannot be measured.
func (c *Choice) Measured() *config.Config {
	if len(c.missing) > 0 {
		return nil
	}
	return c.Config
}

// Tell prints where the configuration comes from. A command calls it after it has reached the cluster, because a
// cluster that cannot be reached is the more important message.
func (c *Choice) Tell(out io.Writer) {
	if c.note != "" {
		fmt.Fprintln(out, "evenkeel:", terminal.Escape(c.note))
	}
}
