package controlplane

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// CopyEtcdData ends the components like Stop, and copies etcd's data to a folder from which another lab can start
// (Options.Etcd). The folder must not exist. The caller must still call Stop.
func (c *Cluster) CopyEtcdData(folder string) error {
	c.cancel()
	select {
	case <-c.etcdEnded: // the other components end more slowly but write nothing without etcd
	case <-time.After(time.Minute):
		return errors.New("etcd did not end within a minute, so its data was not copied")
	}
	if err := os.CopyFS(folder, os.DirFS(c.filePath("etcd"))); err != nil {
		return fmt.Errorf("copying the data of etcd: %w", err)
	}
	return nil
}
