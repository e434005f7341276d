package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
)

func newCapture(g *globalFlags) *cobra.Command {
	var output, configFile, namespace string
	var redact bool
	c := &cobra.Command{
		Use: "capture", Short: "Write a snapshot of the cluster", Args: commandline.NoArguments, Annotations: map[string]string{commandline.NamespaceOf: commandline.OfNothing},
		Long: "Write a snapshot of the cluster, for `evenkeel plan -f FILE` and similar commands. A snapshot\n" +
			"contains Evenkeel's saved state and the objects that Evenkeel reads, but omits container settings\n" +
			"such as environment variables. With --redact, the snapshot also omits image names, addresses, and\n" +
			"all annotations that Evenkeel does not read.",
		Example: "  # Write a snapshot for later planning\n  evenkeel capture -o snapshot.json\n\n  # Write a snapshot that you can share\n  evenkeel capture --redact -o snapshot.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.logger(cmd)
			client, conf, err := g.client()
			if err != nil {
				return err
			}
			if namespace != "" {
				if err := installed.CheckNamespace(namespace); err != nil {
					return err
				}
			}
			chosen, err := g.lookup(cmd).Choose(cmd.Context(), configFile, namespace)
			if err != nil {
				return err
			}
			o, _, err := g.readClusterAndState(cmd, client, conf, chosen.Measured(), namespace)
			if err != nil {
				return err
			}
			chosen.Tell(cmd.ErrOrStderr())
			if redact {
				o = cluster.Redact(o)
			}
			format := cluster.JSON
			if strings.HasSuffix(output, ".yaml") || strings.HasSuffix(output, ".yml") {
				format = cluster.YAML
			}
			if output == "" || output == "-" {
				return cluster.Write(cmd.OutOrStdout(), o, format)
			}
			return saveSnapshot(output, o, format)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "-", "file to write; the command writes YAML if the name ends in .yaml or .yml, and JSON otherwise (default: standard output)")
	c.Flags().StringVar(&configFile, "config", "",
		installed.ConfigFlagHelp+"; the snapshot contains usage from the source that the configuration names")
	installed.AddNamespaceFlag(c.Flags(), &namespace)
	c.Flags().BoolVar(&redact, "redact", false, "omit data that Evenkeel does not read and that may be confidential")
	return c
}

// saveSnapshot writes the snapshot atomically: a reader of path never sees an incomplete file.
func saveSnapshot(path string, o *cluster.Objects, format cluster.Format) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".evenkeel-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, unwrapPathError(err))
	}
	defer os.Remove(tmp.Name())
	if err := errors.Join(cluster.Write(tmp, o, format), tmp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("writing %s: it is a directory", path)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, unwrapPathError(err))
	}
	return nil
}

// unwrapPathError removes the file name from an error, because it is the name of a temporary file.
func unwrapPathError(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
