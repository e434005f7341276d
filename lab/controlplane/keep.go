package controlplane

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Keep ends the components as Stop does, and leaves the data of etcd in a folder
// from which other labs can start (Options.Etcd). The folder must not exist yet.
// Stop is still to be called.
func (c *Cluster) Keep(folder string) error {
	c.cancel()
	select {
	case <-c.etcdEnded: // the others linger without it, and write nothing
	case <-time.After(time.Minute):
		return errors.New("etcd does not end; its data is not kept")
	}
	if err := os.CopyFS(folder, os.DirFS(c.path("etcd"))); err != nil {
		return fmt.Errorf("keeping the data of etcd: %w", err)
	}
	return nil
}
