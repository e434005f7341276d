// Package volume decides on which nodes a pod can use its volumes. The package models the plugins
// VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits. The package never reads CPU
// or memory and never binds a volume.
package volume
