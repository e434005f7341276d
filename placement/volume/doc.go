// Package volume decides on which nodes a pod can use its volumes. It models the plugins
// VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits. It never reads CPU or memory
// and never binds a volume.
package volume
