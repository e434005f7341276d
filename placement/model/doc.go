// Package model holds a snapshot in which pods can be moved, and keeps every count
// that filters and scores read: requests per node, pods per equivalence class and
// topology domain, affinity terms, host ports, disks and volumes. It decides which
// pods the scheduler cannot tell apart. It never filters, scores or predicts.
package model
